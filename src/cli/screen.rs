//! What is printed, where, and in which colours: data on stdout, everything else on stderr, colours
//! only where somebody can see them.
use super::args::Args;
use super::exit::{Exit, Failed};
use crate::config::{Config, Host};
use crate::engine::Desk;
use crate::report::text::printable;
use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::CommandFactory;
use serde::Serialize;
use std::io::{IsTerminal, Stderr, Stdin, Stdout, Write};

/// Stdout, stderr and whether somebody sits before them.
pub(super) struct Screen {
    out: AutoStream<Stdout>,
    plain: Stdout,
    err: AutoStream<Stderr>,
    quiet: bool,
    /// What is said may repeat what somebody has typed or a tool has printed.
    desk: Desk,
    /// Whose pipeline reads it, if one does.
    host: Option<Host>,
    /// Lines that are not whole yet, where only whole ones may be said.
    held: [String; 2],
}

/// Where a line goes.
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
    pub(super) fn new(quiet: bool, config: &Config, desk: &Desk) -> Screen {
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

    /// As it may be said.
    fn plainly(&self, text: &str) -> String {
        self.tamed(printable(&self.desk.clean(text)))
    }

    /// A log of GitHub's obeys lines that look like commands, whoever has written them.
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

    /// Whether lines are obeyed by whoever reads them.
    pub(super) fn obeyed(&self) -> bool {
        self.host == Some(Host::Github)
    }

    /// Data for people, which is mostly somebody else's words.
    pub(super) fn say(&mut self, text: &str) -> Result<(), Failed> {
        let text = self.plainly(text);
        self.print(&format!("{}\n", text.trim_end()))
    }

    /// What follows belongs together, and a log of a pipeline may fold it.
    pub(super) fn group(&mut self, title: &str) {
        let start = match self.host {
            Some(Host::Github) => format!("::group::{title}"),
            Some(Host::Gitlab) => section("start", &format!("\r\u{1b}[0K{title}")),
            None => return,
        };
        self.mark(&start);
    }

    /// What follows does not.
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

    /// Data.
    pub(super) fn print(&mut self, text: &str) -> Result<(), Failed> {
        let text = self.whole(Target::Out, text);
        self.out.write_all(text.as_bytes())?;
        Ok(self.out.flush()?)
    }

    /// What may be said of a text now: where lines can be commands, only whole ones, tamed.
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

    /// Says what is left of the last line.
    pub(super) fn finish(&mut self) {
        for target in [Target::Out, Target::Err] {
            if !self.held[target as usize].is_empty() {
                let _ = self.write(target, "\n");
            }
        }
    }

    /// Data of any kind, to the last byte.
    pub(super) fn raw(&self) -> impl Write {
        self.plain.lock()
    }

    /// Data, as one line of JSON or, on a terminal, as many as it takes to read it.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Failed> {
        let text = if std::io::stdout().is_terminal() {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        let text = text.map_err(|error| Failed::Other(error.to_string()))?;
        self.data(&text)
    }

    /// Data, one line of JSON for each.
    pub(super) fn json_line(&mut self, value: &impl Serialize) -> Result<(), Failed> {
        let text =
            serde_json::to_string(value).map_err(|error| Failed::Other(error.to_string()))?;
        self.data(&text)
    }

    /// A line of JSON, to the last byte: what a terminal could take for a command is escaped.
    pub(super) fn data(&mut self, json: &str) -> Result<(), Failed> {
        let mut line = String::with_capacity(json.len() + 1);
        // And what a log of GitHub's would: it is the same to whoever reads JSON.
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

    /// Anything that is not data.
    pub(super) fn note(&mut self, text: &str) {
        if !self.quiet {
            let text = self.plainly(text);
            let _ = writeln!(self.err, "{text}");
        }
    }

    /// Something the user should not miss.
    pub(super) fn warn(&mut self, text: &str) {
        if self.quiet {
            return;
        }
        let text = self.plainly(text);
        let _ = writeln!(self.err, "{YELLOW}{text}{YELLOW:#}");
    }

    /// Here or there.
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

    /// What went wrong, and what to do about it.
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

/// How GitLab is told where a section begins and ends.
fn section(what: &str, title: &str) -> String {
    let now = jiff::Timestamp::now().as_second();
    format!("\u{1b}[0Ksection_{what}:{now}:debate{title}")
}

/// Whether a person reads stderr.
pub(super) fn err_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether a person reads stdout.
pub(super) fn out_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether a person can be asked.
pub(super) fn someone_there(stdin: &Stdin) -> bool {
    stdin.is_terminal() && err_is_terminal()
}
