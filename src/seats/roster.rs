//! Which voices there are, and which may face each other. A vendor is a row, not a module.
use super::demo;
use super::script::Script;
use crate::debate::{Failure, Trouble, Voice};
use crate::engine::{Ask, Boxed, Listing, Said, Stream, Unplayable, Voices};
use std::path::PathBuf;

/// Everyone who can be called by name.
pub struct Roster {
    /// Characters a second that the demo speaks; none is all at once.
    pub demo_speed: Option<u32>,
    /// Where programs are looked for.
    pub path: Vec<PathBuf>,
}

/// What two sides must not have in common.
enum Distinct {
    /// One tool against itself is no debate.
    Tool,
    /// The same words may be said twice: a script knows which side it is on.
    Nothing,
}

struct Row {
    tool: &'static str,
    distinct: Distinct,
}

const ROWS: &[Row] = &[
    Row { tool: "claude", distinct: Distinct::Tool },
    Row { tool: "codex", distinct: Distinct::Tool },
    Row { tool: "gemini", distinct: Distinct::Tool },
    Row { tool: "opencode", distinct: Distinct::Tool },
    Row { tool: "copilot", distinct: Distinct::Tool },
    Row { tool: "script", distinct: Distinct::Nothing },
    Row { tool: "demo", distinct: Distinct::Nothing },
];

/// Those who need nothing installed.
const OTHERS: &[(&str, &str)] = &[
    ("host", "the model that is asking: each of its turns is handed to it with a brief"),
    ("human", "a person, at the terminal or asked in the chat"),
    ("script:FILE", "turns written down beforehand, in a JSON file"),
    ("demo", "the script that comes with the program; this is no advice"),
];

impl Roster {
    /// Where a program is installed.
    fn installed(&self, program: &str) -> Option<PathBuf> {
        let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        self.path.iter().map(|folder| folder.join(&file)).find(|path| path.is_file())
    }
}

impl Voices for Roster {
    fn speak<'a>(&'a self, ask: &'a Ask, stream: Stream) -> Boxed<'a, Result<Said, Failure>> {
        Box::pin(async move {
            let script = match (ask.voice.tool(), ask.voice.model()) {
                ("demo", _) => demo::script(&ask.prompt, self.demo_speed),
                ("script", Some(file)) => Script::load(file),
                (tool, _) => Err(format!("`{tool}` has no voice here")),
            };
            let script = script.map_err(|why| Failure::new(Trouble::NotFound, why))?;
            script.speak(ask, &stream).await
        })
    }

    fn playable(&self, voice: &Voice) -> Result<(), Unplayable> {
        let no = |why: String| Err(Unplayable { voice: voice.to_string(), why });
        match (voice.tool(), voice.model()) {
            ("bot", _) => no("a bot joins by itself and cannot be called".into()),
            _ if voice.awaited() => Ok(()),
            ("demo", _) => Ok(()),
            ("script", None) => no("name its file, as in `script:turns.json`".into()),
            ("script", Some(file)) => Script::load(file).map(drop).or_else(no),
            (tool, _) if ROWS.iter().any(|row| row.tool == tool) => {
                no("this version does not call model CLIs yet".into())
            }
            _ => {
                let known: Vec<&str> = ROWS.iter().map(|row| row.tool).collect();
                no(format!("there is no such tool; known are {}, host and human", known.join(", ")))
            }
        }
    }

    fn listing(&self, probe: bool) -> Vec<Listing> {
        let cli = |row: &&Row| matches!(row.distinct, Distinct::Tool);
        let models = ROWS.iter().filter(cli).map(|row| {
            let voice = Voice::Model { tool: row.tool.into(), model: None };
            let can = self.playable(&voice);
            let found = match probe.then(|| self.installed(row.tool)) {
                Some(Some(path)) => format!("installed as {}; ", path.display()),
                Some(None) => "not installed; ".into(),
                None => String::new(),
            };
            let note = can.as_ref().map_or_else(|no| no.why.clone(), |()| "a model CLI".into());
            let note = format!("{found}{note}");
            Listing { seat: row.tool.into(), model: true, playable: can.is_ok(), note }
        });
        let others = OTHERS.iter().map(|(seat, note)| Listing {
            seat: (*seat).into(),
            model: false,
            playable: true,
            note: (*note).into(),
        });
        models.chain(others).collect()
    }

    fn clash(&self, one: &Voice, other: &Voice) -> Option<String> {
        let row = ROWS.iter().find(|row| row.tool == one.tool())?;
        let same = match row.distinct {
            Distinct::Tool => one.tool() == other.tool(),
            Distinct::Nothing => false,
        };
        same.then(|| {
            format!(
                "proposer and challenger are both `{}`; a debate needs two different tools",
                one.tool()
            )
        })
    }
}
