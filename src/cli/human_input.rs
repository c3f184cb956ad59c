//! Reads replies of a human participant, from their editor or from stdin. `DebatePlayer` (`play`)
//! calls `read_reply` when a turn of a person is due. `ask_line` asks the short questions of
//! `play::hold` and `resume`.
use super::exit::CliError;
use super::reply_form::{empty_form, input_hint, to_reply_json};
use super::screen::{Screen, is_interactive};
use crate::config::Config;
use crate::debate::{Cue, Debate, prompt};
use crate::engine::signals::wait_for_shutdown;
use crate::report::sanitize::strip_control_chars;
use std::fs;
use std::io::{BufRead, Write};
use std::process::Command;
use std::time::Instant;

/// Result of asking the user for input.
pub(super) enum HumanInput {
    Text(String),
    Unavailable,
    /// Ctrl-C
    Interrupted,
}

/// Reply that was rejected, with the error, so that the user can correct it.
#[derive(Default)]
pub(super) struct ReplyDraft {
    pub(super) text: String,
    pub(super) rejection: String,
    pub(super) attempts: u8,
}

/// Scissors line, as in Git: the editor's text below it is the prompt and is ignored.
const SCISSORS: &str = "# ------------------------ >8 ------------------------";

/// Shows the prompt of a turn and reads the reply, in the editor if there is one, else from stdin.
pub(super) async fn read_reply(
    debate: &Debate,
    cue: Cue,
    draft: &ReplyDraft,
    config: &Config,
    screen: &mut Screen,
) -> Result<HumanInput, CliError> {
    let seat = debate.seat(cue);
    let prompt_text = strip_control_chars(&prompt::render(debate, cue).text);
    let title = format!("{} ({}), round {}", seat.role.title(), seat.voice, cue.round);
    if is_interactive(&std::io::stdin())
        && let Some(editor) = &config.editor
    {
        screen.note(&format!("[INFO] It is your turn: {title}. Opening {editor} …"));
        let form = empty_form(debate, cue);
        let initial_text = if draft.text.is_empty() { &form } else { &draft.text };
        return edit_reply(editor, initial_text, &form, &draft.rejection, &title, &prompt_text);
    }
    screen.note(&format!("\n{prompt_text}\n"));
    let hint = input_hint(debate.setup().phase(cue).reply);
    screen.note(&format!("[INFO] It is your turn: {title}. {hint}; a line with only `.` ends it."));
    let input = read_interruptible(|| read_until_dot(&mut std::io::stdin().lock())).await?;
    Ok(match input {
        HumanInput::Text(text) => HumanInput::Text(to_reply_json(debate, cue, &text)),
        other => other,
    })
}

/// Reads from stdin on a separate thread, so that Ctrl-C still works.
async fn read_interruptible(
    work: impl FnOnce() -> Result<Option<String>, CliError> + Send + 'static,
) -> Result<HumanInput, CliError> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || sender.send(work()));
    tokio::select! {
        text = receiver => match text {
            Ok(text) => Ok(text?.map_or(HumanInput::Unavailable, HumanInput::Text)),
            Err(_) => Ok(HumanInput::Unavailable),
        },
        () = wait_for_shutdown() => Ok(HumanInput::Interrupted),
    }
}

/// Reads a speech, up to a line with a single dot or the end of the stream.
fn read_until_dot(input: &mut impl BufRead) -> Result<Option<String>, CliError> {
    let mut text = String::new();
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        if line.trim_end() == "." {
            break;
        }
        text.push_str(&line);
        line.clear();
    }
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// Opens the editor command, which may have arguments, without a shell.
fn edit_reply(
    editor: &str,
    initial_text: &str,
    form: &str,
    rejection: &str,
    title: &str,
    prompt_text: &str,
) -> Result<HumanInput, CliError> {
    let mut file = tempfile::Builder::new().prefix("debate-").suffix(".md").tempfile()?;
    write!(
        file,
        "{initial_text}\n{SCISSORS}\n# Write above this line. Empty means: not now.\n# {title}\n\
         # {rejection}\n\n{prompt_text}\n"
    )?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let started = Instant::now();
    let status = Command::new(program).args(words).arg(file.path()).status();
    let status = status.map_err(|error| CliError::File(program.into(), error))?;
    let elapsed_ms = started.elapsed().as_millis() as u64;
    tracing::debug!(status = %status, elapsed_ms, "editor exited");
    if !status.success() {
        return Ok(HumanInput::Unavailable);
    }
    let text = fs::read_to_string(file.path())?;
    let reply = text.split(SCISSORS).next().unwrap_or_default().trim().to_owned();
    Ok(if reply.is_empty() || reply == form.trim() {
        HumanInput::Unavailable
    } else {
        HumanInput::Text(reply)
    })
}

/// Asks a question with a one-line answer. Without a terminal nothing is asked.
pub(super) async fn ask_line(question: &str, screen: &mut Screen) -> Result<HumanInput, CliError> {
    if !is_interactive(&std::io::stdin()) {
        return Ok(HumanInput::Unavailable);
    }
    screen.write(super::screen::StdStream::Stderr, question)?;
    read_interruptible(|| {
        let mut line = String::new();
        let length = std::io::stdin().lock().read_line(&mut line)?;
        // Strip escape bytes of cursor keys.
        let answer: String = line.chars().filter(|c| !c.is_control()).collect();
        Ok((length > 0).then(|| answer.trim().to_owned()))
    })
    .await
}
