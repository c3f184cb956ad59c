//! `debate formats`: lists the formats of the catalog, or shows one. Also lists format files with
//! errors. The entry point is the handler `formats`, called by `cli::run`.
use super::args::FormatsArgs;
use super::exit::{CliError, Exit};
use super::output;
use super::screen::Screen;
use crate::app::App;
use crate::debate::Role;
use crate::engine::format_catalog::{CatalogEntry, FormatSource, InvalidFormatFile};
use crate::report::format_description::describe_format;
use std::fmt::Write;

/// Handler of `debate formats`.
pub(super) fn formats(
    formats: &FormatsArgs,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let catalog = app.catalog();
    if let Some(name) = &formats.name {
        let entry = app.find_format(name)?;
        if formats.json.json {
            screen.print_json(&output::FormatOutput {
                v: 1,
                format: format_entry(entry, FormatDetail::Table),
            })?;
        } else {
            let (table, flags) = (describe_format(&entry.offer), describe_flags(entry));
            screen.print(&format!("{table}{}{flags}", describe_origin(entry)))?;
        }
        return Ok(Exit::Ok);
    }
    if formats.json.json {
        let entries =
            catalog.entries.iter().map(|it| format_entry(it, FormatDetail::Summary)).collect();
        let broken = catalog.invalid_files.iter().map(broken_format).collect();
        screen.print_json(&output::FormatsOutput { v: 1, formats: entries, broken })?;
        return Ok(Exit::Ok);
    }
    let width = catalog.entries.iter().map(|it| it.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for entry in &catalog.entries {
        let _ = writeln!(text, "{:width$}  {}", entry.name(), entry.offer.about);
    }
    screen.print(&text)?;
    for InvalidFormatFile { name, file, why } in &catalog.invalid_files {
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

fn format_entry(entry: &CatalogEntry, detail: FormatDetail) -> output::FormatEntry {
    let offer = &entry.offer;
    output::FormatEntry {
        name: entry.name().into(),
        about: offer.about.clone(),
        least: *offer.rounds.start(),
        most: *offer.rounds.end(),
        usual: offer.default_rounds,
        confirms: offer.confirm_plan,
        listeners: entry.audience_types().map(Into::into).collect(),
        from: match &entry.source {
            FormatSource::Builtin => "program".into(),
            FormatSource::BuiltinTemplate(base) => format!("template of {base}"),
            FormatSource::UserFile(file) => file.clone(),
        },
        table: (detail == FormatDetail::Table).then(|| offer.format.clone()),
    }
}

fn describe_origin(entry: &CatalogEntry) -> String {
    let listeners: Vec<&str> = entry.audience_types().collect();
    let listeners = if listeners.is_empty() {
        String::new()
    } else {
        format!("\nListeners: {}.\n", listeners.join(", "))
    };
    match &entry.source {
        FormatSource::Builtin => listeners,
        FormatSource::BuiltinTemplate(base) => {
            format!("{listeners}\nA template, based on `{base}`.\n")
        }
        FormatSource::UserFile(file) => format!("{listeners}\nFrom {file}\n"),
    }
}

/// The options of `debate run` that apply to this format.
fn describe_flags(entry: &CatalogEntry) -> String {
    let rows = [
        (
            Role::Advocate,
            "--role NAME=STANCE[@SEAT], --goal, --readers, --decision-type, --evidence-round, \
             --output",
        ),
        (
            Role::Partner,
            "--lead SEAT, --partner SEAT, --add-partner SEAT; during the debate say, deepen, steer, end",
        ),
        (
            Role::Pro,
            "--proposer SEAT, --challenger SEAT, --stance-proposer, --stance-challenger, \
             --style-proposer, --style-challenger, --sealed, --stop-when-settled",
        ),
        (Role::Judge, "--judge SEAT (several are a panel)"),
        (Role::Audience, "--listener TYPE[=SEAT][*WEIGHT], --judge-share, --audience-share"),
    ];
    let applicable = rows.into_iter().filter(|(role, _)| entry.offer.format.uses_role(*role));
    let lines: Vec<String> = applicable.map(|(_, flags)| format!("- {flags}\n")).collect();
    format!("\nFlags of `debate run`, besides those of every format:\n\n{}", lines.concat())
}

fn broken_format(broken: &InvalidFormatFile) -> output::BrokenFormatOutput {
    output::BrokenFormatOutput {
        name: broken.name.clone(),
        file: broken.file.clone(),
        why: broken.why.clone(),
    }
}
