//! Commands that read or write the archive: list, show, search, export, import, reindex. `models`
//! is here, too.
use super::args::{Export, Form, Import, Json, List, Models, Search, Show};
use super::exit::{Exit, Failed};
use super::output::{Asked, Callable, Entry, Found, Imported, Listed, Rebuilt, Shown};
use super::place;
use super::resume::LINE;
use super::screen::{BOLD, DIM, Screen};
use crate::config::Config;
use crate::debate::{Setup, prompt};
use crate::engine::import::ImportOutcome;
use crate::engine::{
    App, AppError, DebateCard, DebateDraft, DebateQuery, ProviderInfo, StoredDebate,
};
use crate::report::gist::gist;
use crate::report::text::printable;
use crate::report::{iso, record::record, summary::summary, view::view};
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Handler of `debate list`.
pub(super) fn list(
    list: &List,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let place = place::here(config);
    let query = DebateQuery {
        root: (!list.all).then(|| place.root.clone()),
        status: list.status.map(Into::into),
        limit: Some(list.limit),
        ..DebateQuery::default()
    };
    let mut cards = desk.archive().list(&query)?;
    if cards.is_empty() && desk.resolve_debate(None, false, &place.root).is_err() {
        let found = desk.recover(&place, &crate::clients::state_files(config))?;
        for line in found.messages {
            screen.note(&format!("[INFO] {line}"));
        }
        for stranger in &found.unsigned_files {
            screen.note(&format!(
                "[INFO] `{file}` holds a debate you have not signed: \"{}\", {} turns, said to be by {}. \
                 `debate import {file}` takes in what was said.",
                stranger.topic(),
                stranger.transcript.turns.len(),
                stranger.speakers(),
                file = stranger.path.display()
            ));
        }
        cards = desk.archive().list(&query)?;
    }
    let debates: Vec<Entry> = cards
        .into_iter()
        .map(|card| {
            let read = list.state.then(|| desk.read(&card.id).ok()).flatten();
            Entry { state: read.map(|(_, debate, _)| gist(&debate, LINE)), card }
        })
        .collect();
    if list.json.json {
        screen.json(&Listed { v: 1, debates })?;
        return Ok(Exit::Ok);
    }
    if debates.is_empty() {
        let here = if list.all { String::new() } else { format!(" in `{}`", place.root.display()) };
        screen.note(&format!("No debates{here}. Try: debate demo"));
    }
    for Entry { card, state } in debates {
        screen.print(&line(&card))?;
        for line in state.unwrap_or_default() {
            screen.print(&format!("    {}\n", printable(&line)))?;
        }
    }
    Ok(Exit::Ok)
}

fn line(card: &DebateCard) -> String {
    let day = iso(card.updated_at).replace('T', " ");
    let mut tail = String::new();
    if let Some(winner) = &card.winner {
        let _ = write!(tail, " -> {winner}");
    }
    if !card.labels.is_empty() {
        let _ = write!(tail, " [{}]", card.labels.join(", "));
    }
    format!(
        "{DIM}{}{DIM:#}  {:<11}  {DIM}{}{DIM:#}  {BOLD}{}{BOLD:#}{tail}\n",
        card.id,
        card.status.as_str(),
        &day[..16],
        printable(&card.topic).replace('\n', " "),
    )
}

/// Handler of `debate show`.
pub(super) fn show(
    show: &Show,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let id = place::meant(show.id.as_deref(), config, desk, screen)?;
    let (stored, debate, flaw) = desk.read(&id)?;
    let flaw = flaw.map(|flaw| format!("event {}: {}", flaw.seq, flaw.message));
    if let Some(cue) = show.prompt {
        if !debate.has_cue(cue) {
            let turns: Vec<_> = debate.turns().map(|(cue, _)| cue.to_string()).collect();
            let hint = format!("its turns so far are {}", turns.join(", "));
            return Err(Failed::Usage(format!("there is no turn {cue}"), hint));
        }
        let prompt = prompt::render(&debate, cue);
        if show.json.json {
            let (turn, unmasked) = (cue.to_string(), prompt.unmasked);
            screen.json(&Asked { v: 1, turn, prompt: prompt.text, unmasked })?;
        } else {
            screen.print(&(printable(&prompt.text) + "\n"))?;
        }
        return Ok(Exit::Ok);
    }
    let live = desk.archive().live_texts(&id)?;
    if show.json.json {
        screen.json(&Shown {
            debate: view(&debate),
            holder: stored.holder,
            live,
            record: stored.record_path.map(|path| path.display().to_string()),
            state_files: stored.state_files.iter().map(|(p, _)| p.display().to_string()).collect(),
            flaw,
        })?;
        return Ok(Exit::Ok);
    }
    let text = if show.summary { summary(&debate) } else { record(&debate) };
    screen.print(&printable(&text))?;
    for turn in live {
        screen.print(&format!(
            "\n(speaking, turn {})\n\n{}\n",
            turn.turn,
            printable(&turn.text)
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
pub(super) fn search(
    search: &Search,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let root = search.here.then(|| place::here(config).root);
    let query = DebateQuery { root, limit: Some(search.limit), ..DebateQuery::default() };
    let hits = desk.archive().search(&search.words.join(" "), &query)?;
    if search.json.json {
        screen.json(&Found { v: 1, hits })?;
        return Ok(Exit::Ok);
    }
    if hits.is_empty() {
        screen.note("Nothing was said about that.");
    }
    for hit in hits {
        let place = match (&hit.seat, hit.round) {
            (Some(seat), Some(0)) => seat.clone(),
            (Some(seat), Some(round)) => format!("round {round}, {seat}"),
            _ => "topic".into(),
        };
        let excerpt = printable(&hit.excerpt).replace('\n', " ");
        screen.print(&format!("{DIM}{} ({place}){DIM:#}\n  {excerpt}\n", hit.id))?;
    }
    Ok(Exit::Ok)
}

/// Handler of `debate export`.
pub(super) fn export(
    export: &Export,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let id = place::meant(export.id.as_deref(), config, desk, screen)?;
    let (stored, debate, _) = desk.read(&id)?;
    let text = match export.form {
        Form::Markdown => record(&debate),
        Form::Json => json(&view(&debate))? + "\n",
        Form::Events => events(&stored)?,
        Form::Html => page(&stored)?,
    };
    match &export.output {
        None if matches!(export.form, Form::Markdown | Form::Html) => screen.print(&text)?,
        None => text.lines().try_for_each(|line| screen.data(line))?,
        Some(path) => {
            fs::write(path, text)
                .map_err(|error| Failed::File(path.display().to_string(), error))?;
            screen.note(&format!("[INFO] Written: {}", path.display()));
        }
    }
    Ok(Exit::Ok)
}

fn json(value: &impl serde::Serialize) -> Result<String, Failed> {
    serde_json::to_string_pretty(value).map_err(|error| Failed::Other(error.to_string()))
}

/// Renders a self-contained HTML page.
fn page(stored: &StoredDebate) -> Result<String, Failed> {
    Ok(crate::web::export(stored).map_err(AppError::from)?)
}

/// Serializes the setup and then every event as JSON lines.
fn events(stored: &StoredDebate) -> Result<String, Failed> {
    let line = |value: serde_json::Result<String>| {
        value.map(|line| line + "\n").map_err(|error| Failed::Other(error.to_string()))
    };
    let mut text = line(serde_json::to_string::<Setup>(&stored.setup))?;
    for recorded in &stored.events {
        text += &line(serde_json::to_string(recorded))?;
    }
    Ok(text)
}

/// Handler of `debate import`.
pub(super) fn import(
    import: &Import,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let place = place::here(config);
    let text = read(&import.file)?;
    let (proposer, challenger) = (import.proposer.clone(), import.challenger.clone());
    let opening = DebateDraft::new("", proposer, challenger, import.judge.clone());
    let taken = desk.import_file(&text, &opening, &place)?;
    let (how, counts, says) = match taken.outcome {
        ImportOutcome::New => {
            ("new", None, "It was signed by this user and is taken as it is.".to_owned())
        }
        ImportOutcome::AlreadyKnown => {
            ("known", None, "It was known already; nothing changed.".into())
        }
        ImportOutcome::Extended(by) => ("extended", None, format!("It went on by {by} events.")),
        ImportOutcome::Diverged => (
            "diverged",
            None,
            "It and the known one went different ways: it is its own now.".into(),
        ),
        ImportOutcome::Transcript { imported: taken, turns } => (
            "transcript",
            Some((taken, turns)),
            format!(
                "It was not signed by this user, so only what was said is taken: {taken} of {turns} \
                 turns. Nothing runs until you go on with `debate resume`."
            ),
        ),
    };
    if import.json.json {
        let (taken_turns, turns) = counts.unzip();
        screen.json(&Imported { v: 1, id: taken.id, how, taken: taken_turns, turns })?;
    } else {
        screen.note(&says);
        screen.print(&format!("{}\n", taken.id))?;
    }
    Ok(Exit::Ok)
}

fn read(file: &Path) -> Result<String, Failed> {
    let mut bytes = vec![];
    let done = if file == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        fs::read(file).map(|read| bytes = read)
    };
    done.map_err(|error| Failed::File(file.display().to_string(), error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Handler of `debate reindex`.
pub(super) fn reindex(json: Json, desk: &App, screen: &mut Screen) -> Result<Exit, Failed> {
    let reindexed = desk.archive().reindex()?;
    let exit = if reindexed.flawed.is_empty() { Exit::Ok } else { Exit::Failure };
    if json.json {
        screen.json(&Rebuilt { v: 1, reindexed })?;
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
    models: Models,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let listing = desk.list_providers(models.probe).await?;
    if models.json {
        screen.json(&Callable { v: 1, models: listing })?;
        return Ok(Exit::Ok);
    }
    for it in listing {
        let can = if it.playable { "can play" } else { "cannot play" };
        screen.print(&format!("{BOLD}{:<18}{BOLD:#}  {can:<11}  {}\n", it.seat, it.note))?;
        for line in told(&it) {
            screen.print(&format!("{:33}{DIM}{}{DIM:#}\n", "", printable(&line)))?;
        }
    }
    Ok(Exit::Ok)
}

/// Details of a seat that can play, one line each.
fn told(it: &ProviderInfo) -> Vec<String> {
    let mut first: Vec<String> = vec![];
    first.extend(it.reached.clone());
    first.extend(it.version.as_ref().map(|version| format!("version {version}")));
    first.extend(it.login.clone());
    first.extend(it.price.clone());
    let mut lines = vec![first.join("; ")];
    if !it.models.is_empty() {
        lines.push(format!("models: {}", it.models.join(", ")));
    }
    if !it.efforts.is_empty() {
        lines.push(format!("effort: {}", it.efforts.join(", ")));
    }
    lines.extend(it.probe.as_ref().map(|probe| format!("asked: {probe}")));
    lines.retain(|line| it.playable && !line.is_empty());
    lines
}
