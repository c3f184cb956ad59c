//! Terminal output: data on stdout, everything else on stderr, colours only on a terminal.
//! Untrusted text is sanitized: secrets are redacted, control characters and workflow commands of
//! GitHub Actions are escaped.
use super::args::Args;
use super::exit::{Exit, Failed};
use crate::config::{Config, Host};
use crate::engine::App;
use crate::report::text::printable;
use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::CommandFactory;
use serde::Serialize;
use std::io::{IsTerminal, Stderr, Stdin, Stdout, Write};

/// Stdout and stderr of this process.
pub(super) struct Screen {
    out: AutoStream<Stdout>,
    plain: Stdout,
    err: AutoStream<Stderr>,
    quiet: bool,
    /// Redacts secrets in messages, which may contain user input or tool output.
    desk: App,
    /// CI system that reads the log, if any.
    host: Option<Host>,
    /// Incomplete lines of stdout and stderr. On GitHub only whole lines are written.
    held: [String; 2],
}

/// Stdout or stderr.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Out,
    Err,
}

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

impl Screen {
    pub(super) fn new(quiet: bool, config: &Config, desk: &App) -> Screen {
        let (out, err) = (anstream::stdout(), anstream::stderr());
        let host = config.host();
        Screen {
            out,
            plain: std::io::stdout(),
            err,
            quiet,
            desk: desk.clone(),
            host,
            held: Default::default(),
        }
    }

    /// Redacts secrets and escapes control characters and workflow commands.
    fn plainly(&self, text: &str) -> String {
        self.tamed(printable(&self.desk.redact(text)))
    }

    /// Escapes workflow commands, which GitHub Actions would execute from any line of the log.
    fn tamed(&self, text: String) -> String {
        if !self.obeyed() {
            return text;
        }
        let tame = |line: &str| {
            let line = line.replace("##[", "# #[");
            if line.trim_start().starts_with("::") { format!("| {line}") } else { line }
        };
        text.split('\n').map(tame).collect::<Vec<_>>().join("\n")
    }

    /// Whether the log is parsed for workflow commands.
    pub(super) fn obeyed(&self) -> bool {
        self.host == Some(Host::Github)
    }

    /// Prints untrusted text to stdout, sanitized.
    pub(super) fn say(&mut self, text: &str) -> Result<(), Failed> {
        let text = self.plainly(text);
        self.print(&format!("{}\n", text.trim_end()))
    }

    /// Starts a collapsible group in the CI log.
    pub(super) fn group(&mut self, title: &str) {
        let start = match self.host {
            Some(Host::Github) => format!("::group::{title}"),
            Some(Host::Gitlab) => section("start", &format!("\r\u{1b}[0K{title}")),
            None => return,
        };
        self.mark(&start);
    }

    /// Ends the group.
    pub(super) fn ungroup(&mut self) {
        match self.host {
            Some(Host::Github) => self.mark("::endgroup::"),
            Some(Host::Gitlab) => self.mark(&section("end", "\r\u{1b}[0K")),
            None => {}
        }
    }

    fn mark(&mut self, line: &str) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    /// Prints text to stdout.
    pub(super) fn print(&mut self, text: &str) -> Result<(), Failed> {
        let text = self.whole(Target::Out, text);
        self.out.write_all(text.as_bytes())?;
        Ok(self.out.flush()?)
    }

    /// Buffers text and returns the complete lines, escaped. Outside of GitHub Actions, returns the
    /// text unchanged.
    fn whole(&mut self, target: Target, text: &str) -> String {
        if !self.obeyed() {
            return text.to_owned();
        }
        let held = &mut self.held[target as usize];
        held.push_str(text);
        let end = held.rfind('\n').map_or(0, |at| at + 1);
        let rest = held.split_off(end);
        let lines = std::mem::replace(held, rest);
        self.tamed(lines)
    }

    /// Flushes incomplete lines.
    pub(super) fn finish(&mut self) {
        for target in [Target::Out, Target::Err] {
            if !self.held[target as usize].is_empty() {
                let _ = self.write(target, "\n");
            }
        }
    }

    /// Stdout for raw bytes.
    pub(super) fn raw(&self) -> impl Write {
        self.plain.lock()
    }

    /// Prints JSON, indented on a terminal and otherwise on one line.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Failed> {
        let text = if std::io::stdout().is_terminal() {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        let text = text.map_err(|error| Failed::Other(error.to_string()))?;
        self.data(&text)
    }

    /// Prints JSON on one line.
    pub(super) fn json_line(&mut self, value: &impl Serialize) -> Result<(), Failed> {
        let text =
            serde_json::to_string(value).map_err(|error| Failed::Other(error.to_string()))?;
        self.data(&text)
    }

    /// Prints serialized JSON. Control characters are escaped, so that no terminal obeys them.
    pub(super) fn data(&mut self, json: &str) -> Result<(), Failed> {
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
        let mut out = self.plain.lock();
        out.write_all(line.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Prints an informational line on stderr, unless quiet.
    pub(super) fn note(&mut self, text: &str) {
        if !self.quiet {
            let text = self.plainly(text);
            let _ = writeln!(self.err, "{text}");
        }
    }

    /// Prints a warning on stderr, unless quiet.
    pub(super) fn warn(&mut self, text: &str) {
        if self.quiet {
            return;
        }
        let text = self.plainly(text);
        let _ = writeln!(self.err, "{YELLOW}{text}{YELLOW:#}");
    }

    /// Writes text to stdout or stderr.
    pub(super) fn write(&mut self, target: Target, text: &str) -> Result<(), Failed> {
        match target {
            Target::Out => self.print(text),
            Target::Err if self.quiet => Ok(()),
            Target::Err => {
                let text = self.whole(Target::Err, text);
                let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
                Ok(())
            }
        }
    }

    /// Prints an error and its hint.
    pub(super) fn error(&mut self, failed: &Failed) {
        let says = self.plainly(&failed.to_string());
        let _ = writeln!(self.err, "{RED}error:{RED:#} {says}");
        if let Some(hint) = failed.hint() {
            let _ = writeln!(self.err, "{BOLD}hint:{BOLD:#} {}", printable(&hint));
        }
    }

    pub(super) fn completions(&mut self, shell: clap_complete::Shell) -> Result<Exit, Failed> {
        let mut text = vec![];
        clap_complete::generate(shell, &mut Args::command(), "debate", &mut text);
        self.print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Ok)
    }
}

/// GitLab's escape sequence for the start or end of a log section.
fn section(what: &str, title: &str) -> String {
    let now = jiff::Timestamp::now().as_second();
    format!("\u{1b}[0Ksection_{what}:{now}:debate{title}")
}

pub(super) fn err_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

pub(super) fn out_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether the user can be asked a question.
pub(super) fn someone_there(stdin: &Stdin) -> bool {
    stdin.is_terminal() && err_is_terminal()
}
