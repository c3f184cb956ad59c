//! Which voices there are, and which may face each other. A vendor is a row, not a module.
use super::cli::{self, MARK, Surroundings, Versions};
use super::demo;
use super::row::{Row, rows};
use super::script::Script;
use crate::debate::{Failure, Trouble, Voice};
use crate::engine::{Ask, Boxed, Listing, Said, Stream, Unplayable, Voices};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Everyone who can be called by name.
pub struct Roster {
    /// Characters a second that the demo speaks; none is all at once.
    demo_speed: Option<u32>,
    /// What the user's configuration says of tools.
    own: toml::Table,
    around: Surroundings,
    rows: OnceLock<Result<BTreeMap<String, Row>, String>>,
    versions: Versions,
    nested: OnceLock<bool>,
}

/// Those who need nothing installed.
const OTHERS: &[(&str, &str)] = &[
    ("host", "the model that is asking: each of its turns is handed to it with a brief"),
    ("human", "a person, at the terminal or asked in the chat"),
    ("script:FILE", "turns written down beforehand, in a JSON file"),
    ("demo", "the script that comes with the program; this is no advice"),
];

impl Roster {
    /// Nothing is looked for until it is asked for.
    pub fn new(demo_speed: Option<u32>, own: toml::Table, around: Surroundings) -> Roster {
        let (rows, nested) = (OnceLock::new(), OnceLock::new());
        Roster { demo_speed, own, around, rows, versions: Versions::default(), nested }
    }

    fn rows(&self) -> Result<&BTreeMap<String, Row>, String> {
        self.rows.get_or_init(|| rows(&self.own)).as_ref().map_err(Clone::clone)
    }

    fn row(&self, tool: &str) -> Result<Option<&Row>, String> {
        Ok(self.rows()?.get(tool))
    }

    /// Whether this program runs inside a seat: by a mark in the environment, or, where a tool drops
    /// that, because one of the processes it descends from is this program.
    fn nested(&self) -> bool {
        *self.nested.get_or_init(|| {
            let marked = self.around.environment.iter().any(|(name, _)| name == MARK);
            marked || ancestors_include_us()
        })
    }
}

/// As far as the system tells.
fn ancestors_include_us() -> bool {
    let Ok(us) = std::env::current_exe() else { return false };
    let parent = |process: &str| -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name before it may hold anything, so what comes after its end is counted.
        let fields = stat.rsplit_once(')')?.1;
        fields.split_whitespace().nth(1).map(Into::into)
    };
    let mut process = parent("self");
    while let Some(id) = process.filter(|id| id != "0") {
        if std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|exe| exe == us) {
            return true;
        }
        process = parent(&id);
    }
    false
}

impl Voices for Roster {
    fn speak<'a>(&'a self, ask: &'a Ask, stream: Stream) -> Boxed<'a, Result<Said, Failure>> {
        Box::pin(async move {
            let absent = |why: String| Failure::new(Trouble::NotFound, why);
            let tool = ask.voice.tool();
            let script = match (tool, ask.voice.model()) {
                ("demo", _) => demo::script(&ask.prompt, self.demo_speed),
                ("script", Some(file)) => Script::load(file),
                _ => match self.row(tool).map_err(absent)? {
                    Some(row) => {
                        let (around, versions) = (&self.around, &self.versions);
                        return cli::speak(tool, row, around, versions, ask, &stream).await;
                    }
                    None => Err(format!("`{tool}` has no voice here")),
                },
            };
            script.map_err(absent)?.speak(ask, &stream).await
        })
    }

    fn playable(&self, voice: &Voice) -> Result<(), Unplayable> {
        let no = |why: String| Err(Unplayable { voice: voice.to_string(), why });
        if self.nested() {
            return no(
                "this program was started by a seat of another debate, and a debate opens no \
                       debates"
                    .into(),
            );
        }
        match (voice.tool(), voice.model()) {
            ("bot", _) => no("a bot joins by itself and cannot be called".into()),
            _ if voice.awaited() => Ok(()),
            ("demo", _) => Ok(()),
            ("script", None) => no("name its file, as in `script:turns.json`".into()),
            ("script", Some(file)) => Script::load(file).map(drop).or_else(no),
            (tool, _) => match self.row(tool) {
                Err(why) => no(why),
                Ok(Some(row)) => match self.around.installed(&row.program) {
                    Some(_) => Ok(()),
                    None => no(format!("`{}` is not installed ({})", row.program, row.install)),
                },
                Ok(None) => {
                    let known = self.rows().map(|rows| rows.keys().cloned().collect::<Vec<_>>());
                    let known = known.unwrap_or_default().join(", ");
                    no(format!("there is no such tool; known are {known}, script, host and human"))
                }
            },
        }
    }

    fn listing(&self) -> Vec<Listing> {
        let rows = self.rows().into_iter().flatten();
        let models = rows.map(|(tool, row)| {
            let found = self.around.installed(&row.program);
            let note = match &found {
                Some(_) => "a model CLI".into(),
                None => format!("not installed ({})", row.install),
            };
            let playable = found.is_some() && !self.nested();
            Listing { seat: tool.clone(), model: true, playable, note, ..Listing::default() }
        });
        let others = OTHERS.iter().map(|(seat, note)| Listing {
            seat: (*seat).into(),
            model: false,
            playable: !self.nested(),
            note: (*note).into(),
            ..Listing::default()
        });
        models.chain(others).collect()
    }

    fn clash(&self, one: &Voice, other: &Voice) -> Option<String> {
        // A script knows which side it is on; one model CLI against itself is no debate.
        let model = self.row(one.tool()).is_ok_and(|row| row.is_some());
        (model && one.tool() == other.tool()).then(|| {
            format!(
                "proposer and challenger are both `{}`; a debate needs two different tools",
                one.tool()
            )
        })
    }
}
