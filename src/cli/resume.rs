//! `debate resume`: finds the debate, prints its status and what changed since, applies the flags
//! as commands, and continues.
use super::args::ResumeArgs;
use super::exit::{CliError, Exit};
use super::human_input::{self, HumanInput};
use super::limits::merge_budget;
use super::play::{DebatePlayer, print_result};
use super::screen::Screen;
use super::workspace;
use crate::app::cast::with_absolute_script;
use crate::app::unsigned_file::UnsignedFile;
use crate::app::{App, AppError, Cast};
use crate::config::Config;
use crate::debate::{Amendment, Debate, DebateOutcome, LogFlaw, Participant, Seat};
use crate::engine::{Command, LeaseMode, StoredDebate};
use crate::report::sanitize::strip_control_chars;
use crate::report::short_status::short_status;

/// Maximum characters of a status line.
pub(super) const STATUS_LINE_CHARS: usize = 200;

/// Handler of `debate resume`.
pub(super) async fn resume(
    resume: &ResumeArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let workspace = workspace::current_workspace(config);
    let id = resolve_or_import(resume, config, app, screen).await?;
    for line in
        app.recover_debate(&id, &workspace, &crate::clients::state_file_paths(config)).await?
    {
        screen.note(&format!("[INFO] {line}"));
    }
    let (stored, debate, flaw) = app.read(&id).await?;
    if let Some(LogFlaw { seq, message: why }) = flaw {
        return Err(AppError::CorruptLog { id, seq, why }.into());
    }
    let transfers = |(name, participant): &(String, Participant)| {
        (name.clone(), with_absolute_script(participant.clone(), &config.current_dir))
    };
    let transfers: Vec<_> = resume.seat.iter().map(transfers).collect();
    let (transfers, seats) = app.transfer_seats(&debate, &transfers)?;
    let commands = build_commands(resume, &debate, transfers)?;
    let already_ended = debate.outcome().is_some() && commands.is_empty();
    if already_ended {
        screen.note(&format!("{id} has ended already; this is its result"));
        app.archive().files.schedule_export(&id);
        return print_result(&debate, resume.display, screen);
    }
    app.check_remaining_seats(&debate, &seats).map_err(|error| {
        let hint = "hand the seat to someone else, as in `--seat proposer=human`";
        CliError::NoModel(error.to_string(), hint.into())
    })?;
    print_status(&stored, &debate, config, app, screen).await;
    note_host_seats(&seats, screen);
    let lease_mode = if resume.take_over { LeaseMode::TakeOver } else { LeaseMode::IfFree };
    let job = app.resume(&id, &workspace, lease_mode, commands).await?;
    if let Some(holder) = stored.holder.filter(|_| resume.take_over) {
        screen.note(&format!("[INFO] Taken over from {holder}, which stops."));
    }
    DebatePlayer {
        config,
        app,
        assume_yes: resume.yes,
        display: resume.display,
        print_summary: true,
        deadline: None,
        resume_hint: None,
    }
    .play(job, screen)
    .await
}

/// Resolves the debate id. A state file that is not signed by the user is imported only after an
/// explicit yes; `--yes` does not count.
async fn resolve_or_import(
    resume: &ResumeArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<String, CliError> {
    let unfinished = resume.id.is_none() && !resume.retry;
    let unsigned = match workspace::find_debate_id(
        resume.id.as_deref(),
        unfinished,
        config,
        app,
        screen,
    )
    .await
    {
        Err(AppError::OnlyUnsignedFile(unsigned)) => unsigned,
        result => return Ok(result?),
    };
    let UnsignedFile { path, transcript } = &*unsigned;
    let question = format!(
        "`{}` holds a debate you have not signed: \"{}\", {} turns, said to be by {}. Import it \
         as a transcript? [y/N] ",
        path.display(),
        unsigned.topic(),
        transcript.turns.len(),
        unsigned.speakers()
    );
    match human_input::ask_line(&strip_control_chars(&question), screen).await? {
        HumanInput::Text(answer) if ["y", "yes"].contains(&answer.to_lowercase().as_str()) => {
            let cast = Cast::solo(Participant::Human);
            let workspace = workspace::current_workspace(config);
            Ok(app.import_unsigned(&unsigned, &cast, &workspace).await?.id)
        }
        _ => Err(AppError::OnlyUnsignedFile(unsigned).into()),
    }
}

/// Prints the status of the debate, and what changed in the cited files.
async fn print_status(
    stored: &StoredDebate,
    debate: &Debate,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) {
    let id = &debate.setup().id;
    screen.note(&format!("[INFO] Resuming {id}:"));
    for line in short_status(debate, STATUS_LINE_CHARS) {
        screen.note(&format!("  {line}"));
    }
    let changes = app.changes_since(stored, debate, &workspace::current_workspace(config)).await;
    if let Some(changes) = changes.describe() {
        screen.note(&format!("[INFO] {changes}"));
        screen.note(&format!("[INFO] `debate recheck {id}` looks up again what was cited."));
    }
}

/// Notes which seats are played by a client's model, which is not available here.
fn note_host_seats(seats: &[Seat], screen: &mut Screen) {
    let hosted = seats.iter().filter(|seat| seat.voice == Participant::Host);
    let names: Vec<&str> = hosted.map(|seat| seat.name.as_str()).collect();
    if let Some(first) = names.first() {
        screen.note(&format!(
            "[INFO] Played by the model of a client, which is not here: {}. Hand a seat on with \
             `--seat {first}=claude`, or answer for it yourself with `--seat {first}=human`; the \
             record says so.",
            names.join(", ")
        ));
    }
}

/// Converts the flags to commands, in the order they must be applied.
fn build_commands(
    resume: &ResumeArgs,
    debate: &Debate,
    transfers: Vec<Command>,
) -> Result<Vec<Command>, CliError> {
    let mut commands = vec![];
    if resume.say.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(CliError::Usage(
            "the remark is empty".into(),
            "write a remark, or leave `--say` out".into(),
        ));
    }
    let changes_requested = resume.say.is_some()
        || resume.steer.is_some()
        || resume.deepen.is_some()
        || resume.conclude
        || merge_budget(resume.limits, debate.budget())? != debate.budget()
        || !resume.seat.is_empty();
    let ended = debate.outcome().is_some_and(|outcome| *outcome != DebateOutcome::Cancelled);
    if ended && changes_requested && !resume.retry {
        return Err(CliError::Usage(
            "this debate has ended".into(),
            "`--retry` retries a failed turn; `debate run` starts a new debate".into(),
        ));
    }
    if resume.retry || debate.outcome() == Some(&DebateOutcome::Cancelled) {
        let from = debate.reopen_cue().ok_or_else(|| {
            CliError::Usage(
                "no turn of this debate has failed".into(),
                "there is nothing to retry".into(),
            )
        })?;
        commands.push(Command::Reopen { from });
    }
    let budget = merge_budget(resume.limits, debate.budget())?;
    if budget != debate.budget() {
        if budget.is_exhausted(debate.spent()) {
            return Err(CliError::Usage(
                "more than that is spent already".into(),
                "raise the limit: `--max-cost X`, `--max-tokens N`, `--max-minutes M`".into(),
            ));
        }
        commands
            .push(Command::Amend { change: Amendment::Limit { budget }, because: String::new() });
    }
    commands.extend(transfers);
    if let Some(text) = &resume.say {
        commands.push(Command::Interject { text: text.clone() });
    }
    if let Some(topic) = &resume.steer {
        commands.extend(Command::steer(topic.clone()));
    }
    if let Some(about) = &resume.deepen {
        commands.push(Command::deepen(about));
    }
    if resume.conclude {
        commands.push(Command::Conclude { because: None });
    }
    Ok(commands)
}
