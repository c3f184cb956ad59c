//! Commands that read or write the archive: list, show, search, export, import, reindex. `models`
//! is here, too.
use super::args::{
    ExportArgs, ExportFormat, ImportArgs, JsonArg, ListArgs, ModelsArgs, SearchArgs, ShowArgs,
};
use super::exit::{CliError, Exit};
use super::output::{
    ImportOutput, ListOutput, ListedDebate, ModelsOutput, PromptOutput, ReindexOutput,
    SearchOutput, ShowOutput,
};
use super::resume::STATUS_LINE_CHARS;
use super::screen::{BOLD, DIM, Screen};
use super::workspace;
use crate::app::import::ImportOutcome;
use crate::app::list::{FoundDebate, ListRequest};
use crate::app::recovery::RecoveryReport;
use crate::app::{App, AppError, Cast};
use crate::config::Config;
use crate::debate::{Setup, prompt};
use crate::engine::{DebateCard, DebateQuery, ProviderInfo, StoredDebate};
use crate::report::sanitize::strip_control_chars;
use crate::report::short_status::short_status;
use crate::report::{
    iso_timestamp, record::render_record, summary::render_summary, view::debate_view,
};
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Handler of `debate list`.
pub(super) async fn list(
    list: &ListArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let workspace = workspace::current_workspace(config);
    let query = DebateQuery {
        root: (!list.all).then(|| workspace.root.clone()),
        status: list.status.map(Into::into),
        limit: Some(list.limit),
        ..DebateQuery::default()
    };
    let state_files = crate::clients::state_file_paths(config);
    let request = ListRequest { query, state_files, ..ListRequest::default() };
    let listed = app.list(&request, &workspace).await?;
    print_recovery(&listed.recovery, screen);
    let mut debates = vec![];
    for FoundDebate { card, .. } in listed.debates {
        let read = if list.state { app.read(&card.id).await.ok() } else { None };
        let state = read.map(|(_, debate, _)| short_status(&debate, STATUS_LINE_CHARS));
        debates.push(ListedDebate { card, state });
    }
    if list.json.json {
        screen.print_json(&ListOutput { v: 1, debates })?;
        return Ok(Exit::Ok);
    }
    if debates.is_empty() {
        let location =
            if list.all { String::new() } else { format!(" in `{}`", workspace.root.display()) };
        screen.note(&format!("No debates{location}. Try: debate demo"));
    }
    for ListedDebate { card, state } in debates {
        screen.print(&render_card(&card))?;
        for line in state.unwrap_or_default() {
            screen.print(&format!("    {}\n", strip_control_chars(&line)))?;
        }
    }
    Ok(Exit::Ok)
}

/// Prints what was recovered from state files, and what could be imported.
fn print_recovery(recovery: &RecoveryReport, screen: &mut Screen) {
    for line in &recovery.messages {
        screen.note(&format!("[INFO] {line}"));
    }
    for unsigned in &recovery.unsigned_files {
        screen.note(&format!(
            "[INFO] `{file}` holds a debate you have not signed: \"{}\", {} turns, said to be \
             by {}. `debate import {file}` imports it as a transcript.",
            unsigned.topic(),
            unsigned.transcript.turns.len(),
            unsigned.speakers(),
            file = unsigned.path.display()
        ));
    }
}

fn render_card(card: &DebateCard) -> String {
    let timestamp = iso_timestamp(card.updated_at).replace('T', " ");
    let mut suffix = String::new();
    if let Some(winner) = &card.winner {
        let _ = write!(suffix, " -> {winner}");
    }
    if !card.labels.is_empty() {
        let _ = write!(suffix, " [{}]", card.labels.join(", "));
    }
    format!(
        "{DIM}{}{DIM:#}  {:<11}  {DIM}{}{DIM:#}  {BOLD}{}{BOLD:#}{suffix}\n",
        card.id,
        card.status.as_str(),
        &timestamp[..16],
        strip_control_chars(&card.topic).replace('\n', " "),
    )
}

/// Handler of `debate show`.
pub(super) async fn show(
    show: &ShowArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let id = workspace::resolve_debate_id(show.id.as_deref(), config, app, screen).await?;
    let (stored, debate, flaw) = app.read(&id).await?;
    let flaw = flaw.map(|flaw| format!("event {}: {}", flaw.seq, flaw.message));
    if let Some(cue) = show.prompt {
        if !debate.has_cue(cue) {
            let turns: Vec<_> = debate.turns().map(|(cue, _)| cue.to_string()).collect();
            let hint = format!("its turns so far are {}", turns.join(", "));
            return Err(CliError::Usage(format!("there is no turn {cue}"), hint));
        }
        let prompt = prompt::render(&debate, cue);
        if show.json.json {
            let (turn, unmasked) = (cue.to_string(), prompt.unmasked);
            screen.print_json(&PromptOutput { v: 1, turn, prompt: prompt.text, unmasked })?;
        } else {
            screen.print(&(strip_control_chars(&prompt.text) + "\n"))?;
        }
        return Ok(Exit::Ok);
    }
    let live = app.archive().queries.live_texts(&id).await?;
    if show.json.json {
        screen.print_json(&ShowOutput {
            debate: debate_view(&debate),
            holder: stored.holder,
            live,
            record: stored.record_path.map(|path| path.display().to_string()),
            state_files: stored.state_files.iter().map(|(p, _)| p.display().to_string()).collect(),
            flaw,
        })?;
        return Ok(Exit::Ok);
    }
    let text = if show.summary { render_summary(&debate) } else { render_record(&debate) };
    screen.print(&strip_control_chars(&text))?;
    for turn in live {
        screen.print(&format!(
            "\n(speaking, turn {})\n\n{}\n",
            turn.turn,
            strip_control_chars(&turn.text)
        ))?;
    }
    if let Some(holder) = stored.holder {
        screen.note(&format!("[INFO] It is being run by {holder}."));
    }
    if let Some(flaw) = flaw {
        screen.warn(&format!("[WARN] This log can be read but not continued: {flaw}"));
    }
    Ok(Exit::Ok)
}

/// Handler of `debate search`.
pub(super) async fn search(
    search: &SearchArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let root = search.here.then(|| workspace::current_workspace(config).root);
    let query = DebateQuery { root, limit: Some(search.limit), ..DebateQuery::default() };
    let hits = app.archive().queries.search(&search.words.join(" "), &query).await?;
    if search.json.json {
        screen.print_json(&SearchOutput { v: 1, hits })?;
        return Ok(Exit::Ok);
    }
    if hits.is_empty() {
        screen.note("No matches.");
    }
    for hit in hits {
        let location = match (&hit.seat, hit.round) {
            (Some(seat), Some(0)) => seat.clone(),
            (Some(seat), Some(round)) => format!("round {round}, {seat}"),
            _ => "topic".into(),
        };
        let excerpt = strip_control_chars(&hit.excerpt).replace('\n', " ");
        screen.print(&format!("{DIM}{} ({location}){DIM:#}\n  {excerpt}\n", hit.id))?;
    }
    Ok(Exit::Ok)
}

/// Handler of `debate export`.
pub(super) async fn export(
    export: &ExportArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let id = workspace::resolve_debate_id(export.id.as_deref(), config, app, screen).await?;
    let (stored, debate, _) = app.read(&id).await?;
    let text = match export.form {
        ExportFormat::Markdown => render_record(&debate),
        ExportFormat::Json => to_pretty_json(&debate_view(&debate))? + "\n",
        ExportFormat::Events => render_event_log(&stored)?,
        ExportFormat::Html => render_html(&stored)?,
    };
    match &export.output {
        None if matches!(export.form, ExportFormat::Markdown | ExportFormat::Html) => {
            screen.print(&text)?;
        }
        None => text.lines().try_for_each(|line| screen.print_serialized(line))?,
        Some(path) => {
            fs::write(path, &text)
                .map_err(|error| CliError::File(path.display().to_string(), error))?;
            tracing::debug!(debate = %id, bytes = text.len(), "export written");
            screen.note(&format!("[INFO] Written: {}", path.display()));
        }
    }
    Ok(Exit::Ok)
}

fn to_pretty_json(value: &impl serde::Serialize) -> Result<String, CliError> {
    serde_json::to_string_pretty(value).map_err(|error| CliError::Other(error.to_string()))
}

/// Renders a self-contained HTML page.
fn render_html(stored: &StoredDebate) -> Result<String, CliError> {
    Ok(crate::web::export_html(stored).map_err(AppError::from)?)
}

/// Serializes the setup and then every event as JSON lines.
fn render_event_log(stored: &StoredDebate) -> Result<String, CliError> {
    let line = |value: serde_json::Result<String>| {
        value.map(|line| line + "\n").map_err(|error| CliError::Other(error.to_string()))
    };
    let mut text = line(serde_json::to_string::<Setup>(&stored.setup))?;
    for recorded in &stored.events {
        text += &line(serde_json::to_string(recorded))?;
    }
    Ok(text)
}

/// Handler of `debate import`.
pub(super) async fn import(
    import: &ImportArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let workspace = workspace::current_workspace(config);
    let text = read_input(&import.file)?;
    let (proposer, challenger) = (import.proposer.clone(), import.challenger.clone());
    let cast = Cast::new(proposer, challenger, import.judge.clone());
    let imported = app.import_file(&text, &cast, &workspace).await?;
    let (how, counts, message) = match imported.outcome {
        ImportOutcome::New => ("new", None, "Signed by this user: imported as it is.".to_owned()),
        ImportOutcome::AlreadyKnown => {
            ("known", None, "It is already in the archive; nothing changed.".into())
        }
        ImportOutcome::Extended(added) => {
            ("extended", None, format!("{added} events were added to the debate in the archive."))
        }
        ImportOutcome::Diverged => (
            "diverged",
            None,
            "It differs from the debate in the archive, so it is now a separate debate.".into(),
        ),
        ImportOutcome::Transcript { imported, turns } => (
            "transcript",
            Some((imported, turns)),
            format!(
                "Not signed by this user, so only the text was imported: {imported} of {turns} turns. \
                 Nothing runs until you continue with `debate resume`."
            ),
        ),
    };
    tracing::info!(debate = %imported.id, outcome = how, "debate imported");
    if import.json.json {
        let (taken_turns, turns) = counts.unzip();
        screen.print_json(&ImportOutput {
            v: 1,
            id: imported.id,
            how,
            taken: taken_turns,
            turns,
        })?;
    } else {
        screen.note(&message);
        screen.print(&format!("{}\n", imported.id))?;
    }
    Ok(Exit::Ok)
}

fn read_input(file: &Path) -> Result<String, CliError> {
    let mut bytes = vec![];
    let result = if file == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        fs::read(file).map(|read| bytes = read)
    };
    result.map_err(|error| CliError::File(file.display().to_string(), error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Handler of `debate reindex`.
pub(super) async fn reindex(
    json: JsonArg,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let reindexed = app.archive().reindex().await?;
    let exit = if reindexed.flawed.is_empty() { Exit::Ok } else { Exit::Failure };
    if json.json {
        screen.print_json(&ReindexOutput { v: 1, reindexed })?;
        return Ok(exit);
    }
    screen.print(&format!(
        "{} debates, {} events, {} turns\n",
        reindexed.debates, reindexed.events, reindexed.messages
    ))?;
    for flaw in &reindexed.flawed {
        screen.warn(&format!("[WARN] {flaw}"));
    }
    Ok(exit)
}

/// Handler of `debate models`.
pub(super) async fn models(
    models: ModelsArgs,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let listing = app.list_providers(models.probe).await?;
    if models.json {
        screen.print_json(&ModelsOutput { v: 1, models: listing })?;
        return Ok(Exit::Ok);
    }
    for provider in listing {
        let status = if provider.playable { "can play" } else { "cannot play" };
        screen.print(&format!(
            "{BOLD}{:<18}{BOLD:#}  {status:<11}  {}\n",
            provider.seat, provider.note
        ))?;
        for line in model_details(&provider) {
            screen.print(&format!("{:33}{DIM}{}{DIM:#}\n", "", strip_control_chars(&line)))?;
        }
    }
    Ok(Exit::Ok)
}

/// Details of a seat that can play, one line each.
fn model_details(provider: &ProviderInfo) -> Vec<String> {
    let mut parts: Vec<String> = vec![];
    parts.extend(provider.reached.clone());
    parts.extend(provider.version.as_ref().map(|version| format!("version {version}")));
    parts.extend(provider.login.clone());
    parts.extend(provider.price.clone());
    let mut lines = vec![parts.join("; ")];
    if !provider.models.is_empty() {
        lines.push(format!("models: {}", provider.models.join(", ")));
    }
    if !provider.efforts.is_empty() {
        lines.push(format!("effort: {}", provider.efforts.join(", ")));
    }
    lines.extend(provider.probe.as_ref().map(|probe| format!("asked: {probe}")));
    lines.retain(|line| provider.playable && !line.is_empty());
    lines
}
