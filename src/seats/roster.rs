//! Registry of providers: finds the CLI, API or script of a participant, fetches its turns, lists
//! what can be used here, and says which two may debate each other. A vendor is a config entry, not
//! a module. [`ProviderRegistry`] implements the engine's `Providers` port.
use super::api;
use super::cli::{self, Call, Surroundings, Versions};
use super::demo;
use super::http::Clients;
use super::prices::Prices;
use super::row::{Row, rows};
use super::script::Script;
use super::service::{Api, apis, shown};
use super::stragglers::MARK;
use crate::debate::{Effort, FailureKind, Participant, TurnFailure};
use crate::engine::ports::DEFAULT_TURN_SECONDS;
use crate::engine::{
    BoxFuture, Price, ProviderInfo, ProviderReply, ProviderUnavailable, Providers, ReplyStream,
    SnapshotProvider, TurnRequest,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// All providers that can be called by name. Config and versions are read when first needed.
pub struct Roster {
    kit: Kit,
    known: OnceLock<Result<Known, String>>,
    versions: Versions,
    clients: Clients,
    nested: OnceLock<bool>,
}

/// What a [`ProviderRegistry`] is built from.
#[derive(Clone, Default)]
pub struct Kit {
    /// Speed of the demo in characters per second; none streams at once.
    pub demo_speed: Option<u32>,
    /// The `tools` table of the user's config.
    pub tools: toml::Table,
    /// The `apis` table of the user's config.
    pub apis: toml::Table,
    /// Token prices from the user's config.
    pub prices: Prices,
    /// Environment variables and directories of this process.
    pub around: Surroundings,
    /// Creates the repository snapshots that model CLIs read.
    pub snapshots: Option<Arc<dyn SnapshotProvider>>,
}

/// All parsed specs. No name is in both maps.
struct Known {
    tools: BTreeMap<String, Row>,
    apis: BTreeMap<String, Api>,
}

/// The spec found for a name.
enum Found<'a> {
    Tool(&'a Row),
    Api(&'a Api),
}

impl Known {
    fn read(tools: &toml::Table, own: &toml::Table) -> Result<Known, String> {
        let known = Known { tools: rows(tools)?, apis: apis(own)? };
        match known.apis.keys().find(|name| known.tools.contains_key(*name)) {
            Some(name) => Err(format!("`{name}` is in `tools` and in `apis`; rename one of them")),
            None => Ok(known),
        }
    }

    fn find(&self, name: &str) -> Option<Found<'_>> {
        let tool = self.tools.get(name).map(Found::Tool);
        tool.or_else(|| self.apis.get(name).map(Found::Api))
    }
}

/// Participants that need no program or API, with the note for the list.
const OTHERS: &[(&str, &str)] = &[
    ("host", "the model that is asking: each of its turns is handed to it with a brief"),
    ("human", "a person, at the terminal or asked in the chat"),
    ("script:FILE", "turns written down beforehand, in a JSON file"),
    ("demo", "the script that comes with the program; this is no advice"),
];

impl Roster {
    /// Creates a registry without parsing the config or looking for programs.
    pub fn new(kit: Kit) -> Roster {
        let (known, nested) = (OnceLock::new(), OnceLock::new());
        let (versions, clients) = (Versions::default(), Clients::default());
        Roster { kit, known, versions, clients, nested }
    }

    fn known(&self) -> Result<&Known, String> {
        let read = || Known::read(&self.kit.tools, &self.kit.apis);
        self.known.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    fn find(&self, name: &str) -> Result<Option<Found<'_>>, String> {
        Ok(self.known()?.find(name))
    }

    /// The list entry of a model CLI.
    fn listed_tool(&self, name: &str, row: &Row) -> ProviderInfo {
        let around = &self.kit.around;
        let found = around.installed(&row.program);
        let note = match &found {
            Some(_) => "a model CLI, which reads a copy of the repository".into(),
            None => row.missing(),
        };
        let usual = row.usual.of(None).cloned();
        ProviderInfo {
            seat: name.into(),
            model: true,
            playable: found.is_some() && !self.nested(),
            note,
            reached: found.map(|path| path.display().to_string()),
            login: Some(row.logged_in(around)),
            family: row.family.clone(),
            models: told(row.usual.all()),
            efforts: efforts(|effort| row.effort.contains_key(effort.as_str())),
            price: Some(self.priced(name, usual, row.tells_cost)),
            ..ProviderInfo::default()
        }
    }

    /// The list entry of an HTTP API. If it has no default model, the seat is written `name:MODEL`.
    fn listed_api(&self, name: &str, api: &Api) -> ProviderInfo {
        let around = &self.kit.around;
        let named = !api.at_hand() && !api.tells_models();
        let absent = api.absent(name, named.then_some("MODEL"), around);
        let usual = api.usual.of(None).cloned();
        ProviderInfo {
            seat: if named { format!("{name}:MODEL") } else { name.to_owned() },
            model: api.at_hand(),
            playable: absent.is_none() && !self.nested(),
            login: absent.is_none().then(|| api.login(around)),
            note: absent.unwrap_or_else(|| api.about(None)),
            reached: api.address(around).ok().map(|address| shown(&address)),
            family: api.family.clone(),
            models: told(api.usual.all()),
            efforts: efforts(|effort| api.effort(effort).is_some()),
            price: Some(self.priced(name, usual, false)),
            ..ProviderInfo::default()
        }
    }

    /// Note on whether the price of a provider is known.
    fn priced(&self, tool: &str, model: Option<String>, tells: bool) -> String {
        let voice = Participant::Model { tool: tool.into(), model };
        match (self.kit.prices.of(&voice, None), &self.kit.prices.as_of) {
            (Some(_), Some(day)) => format!("price known, as of {day}"),
            (Some(_), None) => "price known".into(),
            (None, _) if tells => "says itself what it costs".into(),
            (None, _) => "price unknown".into(),
        }
    }

    /// Whether this process was started by a turn of another debate: the environment has the marker
    /// variable, or, if a CLI has removed it, an ancestor process runs the same executable.
    fn nested(&self) -> bool {
        *self.nested.get_or_init(|| {
            let marked = self.kit.around.environment.iter().any(|(name, _)| name == MARK);
            marked || ancestors_include_us()
        })
    }
}

/// Walks up the parent processes in `/proc`. Always false on systems without it.
fn ancestors_include_us() -> bool {
    let Ok(us) = std::env::current_exe() else { return false };
    let parent = |process: &str| -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The process name may contain spaces and parentheses, so fields are counted after the last
        // `)`.
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

impl Providers for Roster {
    fn request_reply<'a>(
        &'a self,
        ask: &'a TurnRequest,
        stream: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            let absent = |why: String| TurnFailure::new(FailureKind::NotFound, why);
            let tool = ask.participant.tool();
            let script = match (tool, ask.participant.model()) {
                ("demo", _) => demo::script(&ask.prompt, self.kit.demo_speed),
                ("script", Some(file)) => Script::load(file),
                _ => match self.find(tool).map_err(absent)? {
                    Some(Found::Tool(row)) => {
                        let (around, versions) = (&self.kit.around, &self.versions);
                        let (snapshots, stream) = (self.kit.snapshots.as_ref(), &stream);
                        let call = Call { tool, row, around, versions, snapshots, ask, stream };
                        return cli::speak(call).await;
                    }
                    Some(Found::Api(row)) => {
                        let (around, clients) = (&self.kit.around, &self.clients);
                        return api::speak(tool, row, around, clients, ask, &stream).await;
                    }
                    None => Err(format!("`{tool}` has no voice here")),
                },
            };
            script.map_err(absent)?.speak(ask, &stream).await
        })
    }

    fn check_config(&self) -> Result<(), String> {
        self.known().map(drop)
    }

    fn reports_cost(&self, voice: &Participant) -> bool {
        matches!(self.find(voice.tool()), Ok(Some(Found::Tool(row))) if row.tells_cost)
    }

    fn check_available(&self, voice: &Participant) -> Result<(), ProviderUnavailable> {
        let no = |why: String| Err(ProviderUnavailable { voice: voice.to_string(), why });
        if self.nested() {
            return no(
                "this program was started by a seat of another debate, and a debate opens no \
                       debates"
                    .into(),
            );
        }
        match (voice.tool(), voice.model()) {
            ("bot", _) => no("a bot joins by itself and cannot be called".into()),
            _ if voice.is_awaited() => Ok(()),
            ("demo", _) => Ok(()),
            ("script", None) => no("name its file, as in `script:turns.json`".into()),
            ("script", Some(file)) => Script::load(file).map(drop).or_else(no),
            (tool, model) => match self.find(tool) {
                Err(why) => no(why),
                Ok(Some(Found::Api(api))) => {
                    api.absent(tool, model, &self.kit.around).map_or(Ok(()), no)
                }
                Ok(Some(Found::Tool(row))) => match self.kit.around.installed(&row.program) {
                    Some(_) => Ok(()),
                    None => no(row.missing()),
                },
                Ok(None) => {
                    let known = self.known().into_iter();
                    let known = known.flat_map(|known| known.tools.keys().chain(known.apis.keys()));
                    let known = known.cloned().collect::<Vec<_>>().join(", ");
                    no(format!("there is no such tool; known are {known}, script, host and human"))
                }
            },
        }
    }

    fn list_providers(&self) -> Vec<ProviderInfo> {
        let tools = self.known().into_iter().flat_map(|known| &known.tools);
        let models = tools.map(|(tool, row)| self.listed_tool(tool, row));
        let services = self.known().into_iter().flat_map(|known| &known.apis);
        let services = services.map(|(name, api)| self.listed_api(name, api));
        let others = OTHERS.iter().map(|(seat, note)| ProviderInfo {
            seat: (*seat).into(),
            model: false,
            playable: !self.nested(),
            note: (*note).into(),
            ..ProviderInfo::default()
        });
        models.chain(services).chain(others).collect()
    }

    fn can_read_files(&self, voice: &Participant) -> bool {
        let tool = matches!(self.find(voice.tool()), Ok(Some(Found::Tool(_))));
        tool && self.kit.snapshots.is_some()
    }

    fn is_model(&self, voice: &Participant) -> bool {
        self.find(voice.tool()).is_ok_and(|found| found.is_some())
    }

    fn default_model(&self, tool: &str, effort: Option<Effort>) -> Option<String> {
        match self.find(tool).ok()?? {
            Found::Tool(row) => row.usual.of(effort).cloned(),
            Found::Api(api) => api.usual.of(effort).cloned(),
        }
    }

    fn default_timeout_secs(&self, voice: &Participant, effort: Option<Effort>) -> u32 {
        let seconds = match self.find(voice.tool()) {
            Ok(Some(Found::Tool(row))) => row.seconds.of(effort),
            Ok(Some(Found::Api(api))) => api.seconds.of(effort),
            _ => None,
        };
        seconds.copied().unwrap_or(DEFAULT_TURN_SECONDS)
    }

    fn price(&self, voice: &Participant, reported: Option<&str>) -> Option<Price> {
        self.kit.prices.of(voice, reported)
    }

    fn api_key_variables(&self) -> Vec<String> {
        let Ok(known) = self.known() else { return vec![] };
        let tools = known.tools.values().flat_map(|row| &row.keys);
        let all = tools.chain(known.apis.values().flat_map(Api::keys));
        let set = |name: &&String| self.kit.around.said(name).is_some();
        all.filter(set).cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn version<'a>(&'a self, tool: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let Ok(Some(Found::Tool(row))) = self.find(tool) else { return None };
            let path = self.kit.around.installed(&row.program)?;
            self.versions.of(&path, row, &self.kit.around).await
        })
    }

    fn side_conflict(&self, one: &Participant, other: &Participant) -> Option<String> {
        // The same model on both sides is refused. For a CLI the tool name is compared, because its
        // model names are not known here. A script may play both sides.
        let tool = one.tool();
        if tool != other.tool() {
            return None;
        }
        match self.find(tool) {
            Ok(Some(Found::Tool(_))) => Some(format!(
                "proposer and challenger are both `{tool}`; a debate needs two different tools"
            )),
            Ok(Some(Found::Api(api))) => {
                let same = api.model(one.model()) == api.model(other.model());
                same.then(|| {
                    format!(
                        "proposer and challenger are both `{one}`; name another model for one of \
                         them, as in `{tool}:MODEL`"
                    )
                })
            }
            _ => None,
        }
    }
}

/// Formats default models as `effort: model`, or as the name alone if there is one for all efforts.
fn told(usual: Vec<(&str, &String)>) -> Vec<String> {
    let one = |(word, model): (&str, &String)| match word {
        "" => model.clone(),
        word => format!("{word}: {model}"),
    };
    usual.into_iter().map(one).collect()
}

fn efforts(has: impl Fn(Effort) -> bool) -> Vec<String> {
    let all = [Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    all.into_iter().filter(|effort| has(*effort)).map(|effort| effort.as_str().into()).collect()
}
