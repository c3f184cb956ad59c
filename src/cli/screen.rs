//! Terminal output: data on stdout, everything else on stderr, colours only on a terminal.
//! Untrusted text is sanitized: secrets are redacted, control characters and workflow commands of
//! GitHub Actions are escaped.
use super::args::Args;
use super::exit::{CliError, Exit};
use crate::app::App;
use crate::config::{CiHost, Config};
use crate::report::sanitize::strip_control_chars;
use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::CommandFactory;
use serde::Serialize;
use std::io::{IsTerminal, Stderr, Stdin, Stdout, Write};

/// Stdout and stderr of this process.
pub(super) struct Screen {
    out: AutoStream<Stdout>,
    raw: Stdout,
    err: AutoStream<Stderr>,
    quiet: bool,
    /// Redacts secrets in messages, which may contain user input or tool output.
    app: App,
    /// CI system that reads the log, if any.
    ci_host: Option<CiHost>,
    /// Incomplete lines of stdout and stderr. On GitHub only whole lines are written.
    partial_lines: [String; 2],
}

/// Stdout or stderr.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StdStream {
    Stdout,
    Stderr,
}

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

impl Screen {
    pub(super) fn new(quiet: bool, config: &Config, app: &App) -> Screen {
        let (out, err) = (anstream::stdout(), anstream::stderr());
        let ci_host = config.ci_host();
        Screen {
            out,
            raw: std::io::stdout(),
            err,
            quiet,
            app: app.clone(),
            ci_host,
            partial_lines: Default::default(),
        }
    }

    /// Redacts secrets and escapes control characters and workflow commands.
    fn sanitize(&self, text: &str) -> String {
        self.escape_workflow_commands(strip_control_chars(&self.app.redact(text)))
    }

    /// Escapes workflow commands, which GitHub Actions would execute from any line of the log.
    fn escape_workflow_commands(&self, text: String) -> String {
        if !self.in_github_actions() {
            return text;
        }
        let escape_line = |line: &str| {
            let line = line.replace("##[", "# #[");
            if line.trim_start().starts_with("::") { format!("| {line}") } else { line }
        };
        text.split('\n').map(escape_line).collect::<Vec<_>>().join("\n")
    }

    /// Whether the log is parsed for workflow commands.
    pub(super) fn in_github_actions(&self) -> bool {
        self.ci_host == Some(CiHost::Github)
    }

    /// Prints untrusted text to stdout, sanitized.
    pub(super) fn print_sanitized(&mut self, text: &str) -> Result<(), CliError> {
        let text = self.sanitize(text);
        self.print(&format!("{}\n", text.trim_end()))
    }

    /// Starts a collapsible group in the CI log.
    pub(super) fn start_group(&mut self, title: &str) {
        let start = match self.ci_host {
            Some(CiHost::Github) => format!("::group::{title}"),
            Some(CiHost::Gitlab) => gitlab_section("start", &format!("\r\u{1b}[0K{title}")),
            None => return,
        };
        self.write_marker(&start);
    }

    /// Ends the group.
    pub(super) fn end_group(&mut self) {
        match self.ci_host {
            Some(CiHost::Github) => self.write_marker("::endgroup::"),
            Some(CiHost::Gitlab) => self.write_marker(&gitlab_section("end", "\r\u{1b}[0K")),
            None => {}
        }
    }

    fn write_marker(&mut self, line: &str) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    /// Prints text to stdout.
    pub(super) fn print(&mut self, text: &str) -> Result<(), CliError> {
        let text = self.complete_lines(StdStream::Stdout, text);
        self.out.write_all(text.as_bytes())?;
        Ok(self.out.flush()?)
    }

    /// Buffers text and returns the complete lines, escaped. Outside of GitHub Actions, returns the
    /// text unchanged.
    fn complete_lines(&mut self, target: StdStream, text: &str) -> String {
        if !self.in_github_actions() {
            return text.to_owned();
        }
        let buffer = &mut self.partial_lines[target as usize];
        buffer.push_str(text);
        let end = buffer.rfind('\n').map_or(0, |index| index + 1);
        let rest = buffer.split_off(end);
        let lines = std::mem::replace(buffer, rest);
        self.escape_workflow_commands(lines)
    }

    /// Flushes incomplete lines.
    pub(super) fn flush_partial_lines(&mut self) {
        for target in [StdStream::Stdout, StdStream::Stderr] {
            if !self.partial_lines[target as usize].is_empty() {
                let _ = self.write(target, "\n");
            }
        }
    }

    /// Stdout for raw bytes.
    pub(super) fn raw_stdout(&self) -> impl Write {
        self.raw.lock()
    }

    /// Prints JSON, indented on a terminal and otherwise on one line.
    pub(super) fn print_json(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let text = if std::io::stdout().is_terminal() {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        let text = text.map_err(|error| CliError::Other(error.to_string()))?;
        self.print_serialized(&text)
    }

    /// Prints JSON on one line.
    pub(super) fn print_json_line(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let text =
            serde_json::to_string(value).map_err(|error| CliError::Other(error.to_string()))?;
        self.print_serialized(&text)
    }

    /// Prints serialized JSON. Control characters are escaped, so that no terminal obeys them.
    pub(super) fn print_serialized(&mut self, json: &str) -> Result<(), CliError> {
        let mut line = String::with_capacity(json.len() + 1);
        // Escape GitHub workflow commands, too. The parsed JSON value stays the same.
        for c in json.replace("##[", "#\\u0023[").chars() {
            match c {
                '\u{7f}'..='\u{9f}' => {
                    let _ =
                        std::fmt::Write::write_fmt(&mut line, format_args!("\\u{:04x}", c as u32));
                }
                c => line.push(c),
            }
        }
        line.push('\n');
        let mut out = self.raw.lock();
        out.write_all(line.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Prints an informational line on stderr, unless quiet.
    pub(super) fn note(&mut self, text: &str) {
        if !self.quiet {
            let text = self.sanitize(text);
            let _ = writeln!(self.err, "{text}");
        }
    }

    /// Prints a warning on stderr, unless quiet.
    pub(super) fn warn(&mut self, text: &str) {
        if self.quiet {
            return;
        }
        let text = self.sanitize(text);
        let _ = writeln!(self.err, "{YELLOW}{text}{YELLOW:#}");
    }

    /// Writes text to stdout or stderr.
    pub(super) fn write(&mut self, target: StdStream, text: &str) -> Result<(), CliError> {
        match target {
            StdStream::Stdout => self.print(text),
            StdStream::Stderr if self.quiet => Ok(()),
            StdStream::Stderr => {
                let text = self.complete_lines(StdStream::Stderr, text);
                let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
                Ok(())
            }
        }
    }

    /// Prints an error and its hint.
    pub(super) fn error(&mut self, error: &CliError) {
        let message = self.sanitize(&error.to_string());
        let _ = writeln!(self.err, "{RED}error:{RED:#} {message}");
        if let Some(hint) = error.hint() {
            let _ = writeln!(self.err, "{BOLD}hint:{BOLD:#} {}", strip_control_chars(&hint));
        }
    }

    pub(super) fn print_completions(
        &mut self,
        shell: clap_complete::Shell,
    ) -> Result<Exit, CliError> {
        let mut text = vec![];
        clap_complete::generate(shell, &mut Args::command(), "debate", &mut text);
        self.print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Ok)
    }
}

/// GitLab's escape sequence for the start or end of a log section.
fn gitlab_section(kind: &str, title: &str) -> String {
    let now = jiff::Timestamp::now().as_second();
    format!("\u{1b}[0Ksection_{kind}:{now}:debate{title}")
}

pub(super) fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

pub(super) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether the user can be asked a question.
pub(super) fn is_interactive(stdin: &Stdin) -> bool {
    stdin.is_terminal() && stderr_is_terminal()
}
