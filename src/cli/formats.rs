//! `debate formats`: lists the formats of the catalog, or shows one.
use super::args::FormatsArgs;
use super::exit::{CliError, Exit};
use super::output;
use super::screen::Screen;
use crate::debate::Role;
use crate::engine::App;
use crate::engine::format_catalog::{CatalogEntry, FormatSource, InvalidFormatFile};
use crate::report::format_description::describe_format;
use std::fmt::Write;

/// Handler of `debate formats`.
pub(super) fn formats(
    formats: &FormatsArgs,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let catalogue = desk.catalog();
    if let Some(name) = &formats.name {
        let offering = catalogue.find(name)?;
        if formats.json.json {
            screen.print_json(&output::FormatOutput {
                v: 1,
                format: format_entry(offering, FormatDetail::Table),
            })?;
        } else {
            let (table, flags) = (describe_format(&offering.offer), describe_flags(offering));
            screen.print(&format!("{table}{}{flags}", describe_origin(offering)))?;
        }
        return Ok(Exit::Ok);
    }
    if formats.json.json {
        let entries =
            catalogue.entries.iter().map(|it| format_entry(it, FormatDetail::Summary)).collect();
        let broken = catalogue.invalid_files.iter().map(broken_format).collect();
        screen.print_json(&output::FormatsOutput { v: 1, formats: entries, broken })?;
        return Ok(Exit::Ok);
    }
    let width = catalogue.entries.iter().map(|it| it.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for offering in &catalogue.entries {
        let _ = writeln!(text, "{:width$}  {}", offering.name(), offering.offer.about);
    }
    screen.print(&text)?;
    for InvalidFormatFile { name, file, why } in &catalogue.invalid_files {
        screen.warn(&format!("[WARN] `{name}` cannot be played: {file}: {why}"));
    }
    Ok(Exit::Ok)
}

/// How much of a format to print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FormatDetail {
    Summary,
    Table,
}

fn format_entry(offering: &CatalogEntry, detail: FormatDetail) -> output::FormatEntry {
    let offer = &offering.offer;
    output::FormatEntry {
        name: offering.name().into(),
        about: offer.about.clone(),
        least: *offer.rounds.start(),
        most: *offer.rounds.end(),
        usual: offer.default_rounds,
        confirms: offer.confirm_plan,
        listeners: offering.audience_types().map(Into::into).collect(),
        from: match &offering.source {
            FormatSource::Builtin => "program".into(),
            FormatSource::BuiltinTemplate(base) => format!("template of {base}"),
            FormatSource::UserFile(file) => file.clone(),
        },
        table: (detail == FormatDetail::Table).then(|| offer.format.clone()),
    }
}

fn describe_origin(offering: &CatalogEntry) -> String {
    let listeners: Vec<&str> = offering.audience_types().collect();
    let listeners = if listeners.is_empty() {
        String::new()
    } else {
        format!("\nListeners: {}.\n", listeners.join(", "))
    };
    match &offering.source {
        FormatSource::Builtin => listeners,
        FormatSource::BuiltinTemplate(base) => {
            format!("{listeners}\nA template: `{base}` with an eye on this.\n")
        }
        FormatSource::UserFile(file) => format!("{listeners}\nFrom {file}\n"),
    }
}

/// The options of `debate run` that apply to this format.
fn describe_flags(offering: &CatalogEntry) -> String {
    let rows = [
        (
            Role::Advocate,
            "--role NAME=STANCE[@SEAT], --goal, --readers, --decision-type, --evidence-round, --output",
        ),
        (Role::Partner, "--lead SEAT, --partner SEAT; in the course of it say, deepen, steer, end"),
        (
            Role::Pro,
            "--proposer SEAT, --challenger SEAT, --stance-proposer, --stance-challenger, \
             --style-proposer, --style-challenger, --sealed, --stop-when-settled",
        ),
        (Role::Judge, "--judge SEAT (several are a panel)"),
        (Role::Audience, "--listener TYPE[=SEAT][*WEIGHT], --judge-share, --audience-share"),
    ];
    let own = rows.into_iter().filter(|(role, _)| offering.offer.format.uses_role(*role));
    let lines: Vec<String> = own.map(|(_, flags)| format!("- {flags}\n")).collect();
    format!("\nFlags of `debate run`, besides those of every format:\n\n{}", lines.concat())
}

fn broken_format(broken: &InvalidFormatFile) -> output::BrokenFormatOutput {
    output::BrokenFormatOutput {
        name: broken.name.clone(),
        file: broken.file.clone(),
        why: broken.why.clone(),
    }
}
