//! Registry of providers: finds the CLI, API or script of a participant, fetches its turns, lists
//! what can be used here, and says which two may debate each other. A vendor is a config entry, not
//! a module. [`ProviderRegistry`] implements the engine's `Providers` port.
use super::api;
use super::api_spec::{ApiSpec, display_url, load_api_specs};
use super::cli::{self, CliTurn, SystemEnvironment, VersionCache};
use super::cli_spec::{CliSpec, load_cli_specs};
use super::demo;
use super::http::HttpClients;
use super::orphans::MARKER_VARIABLE;
use super::prices::PriceList;
use super::script::Script;
use crate::debate::{Effort, FailureKind, Participant, TurnFailure};
use crate::engine::ports::DEFAULT_TURN_SECONDS;
use crate::engine::{
    BoxFuture, Price, ProviderInfo, ProviderReply, ProviderUnavailable, Providers, ReplyStream,
    SnapshotProvider, TurnRequest,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// All providers that can be called by name. Config and versions are read when first needed.
pub struct ProviderRegistry {
    config: ProviderConfig,
    specs: OnceLock<Result<ProviderSpecs, String>>,
    versions: VersionCache,
    clients: HttpClients,
    nested: OnceLock<bool>,
}

/// What a [`ProviderRegistry`] is built from.
#[derive(Clone, Default)]
pub struct ProviderConfig {
    /// Speed of the demo in characters per second; none streams at once.
    pub demo_speed: Option<u32>,
    /// The `tools` table of the user's config.
    pub tools: toml::Table,
    /// The `apis` table of the user's config.
    pub apis: toml::Table,
    /// Token prices from the user's config.
    pub prices: PriceList,
    /// Environment variables and directories of this process.
    pub environment: SystemEnvironment,
    /// Creates the repository snapshots that model CLIs read.
    pub snapshots: Option<Arc<dyn SnapshotProvider>>,
}

/// All parsed specs. No name is in both maps.
struct ProviderSpecs {
    clis: BTreeMap<String, CliSpec>,
    apis: BTreeMap<String, ApiSpec>,
}

/// The spec found for a name.
enum ProviderSpec<'a> {
    Cli(&'a CliSpec),
    Api(&'a ApiSpec),
}

impl ProviderSpecs {
    fn load(tools: &toml::Table, own: &toml::Table) -> Result<ProviderSpecs, String> {
        let known = ProviderSpecs { clis: load_cli_specs(tools)?, apis: load_api_specs(own)? };
        match known.apis.keys().find(|name| known.clis.contains_key(*name)) {
            Some(name) => Err(format!("`{name}` is in `tools` and in `apis`; rename one of them")),
            None => Ok(known),
        }
    }

    fn find(&self, name: &str) -> Option<ProviderSpec<'_>> {
        let tool = self.clis.get(name).map(ProviderSpec::Cli);
        tool.or_else(|| self.apis.get(name).map(ProviderSpec::Api))
    }
}

/// Participants that need no program or API, with the note for the list.
const BUILTIN_SEATS: &[(&str, &str)] = &[
    ("host", "the model that is asking: each of its turns is handed to it with a brief"),
    ("human", "a person, at the terminal or asked in the chat"),
    ("script:FILE", "turns written down beforehand, in a JSON file"),
    ("demo", "the script that comes with the program; this is no advice"),
];

impl ProviderRegistry {
    /// Creates a registry without parsing the config or looking for programs.
    pub fn new(config: ProviderConfig) -> ProviderRegistry {
        let (specs, nested) = (OnceLock::new(), OnceLock::new());
        let (versions, clients) = (VersionCache::default(), HttpClients::default());
        ProviderRegistry { config, specs, versions, clients, nested }
    }

    fn specs(&self) -> Result<&ProviderSpecs, String> {
        let read = || ProviderSpecs::load(&self.config.tools, &self.config.apis);
        self.specs.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    fn find_spec(&self, name: &str) -> Result<Option<ProviderSpec<'_>>, String> {
        Ok(self.specs()?.find(name))
    }

    /// The list entry of a model CLI.
    fn cli_listing(&self, name: &str, row: &CliSpec) -> ProviderInfo {
        let around = &self.config.environment;
        let found = around.find_program(&row.program);
        let note = match &found {
            Some(_) => "a model CLI, which reads a copy of the repository".into(),
            None => row.not_installed_message(),
        };
        let usual = row.default_model.for_effort(None).cloned();
        ProviderInfo {
            seat: name.into(),
            model: true,
            playable: found.is_some() && !self.is_nested(),
            note,
            reached: found.map(|path| path.display().to_string()),
            login: Some(row.login_status(around)),
            family: row.family.clone(),
            models: format_models(row.default_model.entries()),
            efforts: supported_efforts(|effort| row.effort_args.contains_key(effort.as_str())),
            price: Some(self.price_note(name, usual, row.reports_cost)),
            ..ProviderInfo::default()
        }
    }

    /// The list entry of an HTTP API. If it has no default model, the seat is written `name:MODEL`.
    fn api_listing(&self, name: &str, api: &ApiSpec) -> ProviderInfo {
        let around = &self.config.environment;
        let named = !api.has_default_model() && !api.can_list_models();
        let absent = api.unavailable_reason(name, named.then_some("MODEL"), around);
        let usual = api.default_model.for_effort(None).cloned();
        ProviderInfo {
            seat: if named { format!("{name}:MODEL") } else { name.to_owned() },
            model: api.has_default_model(),
            playable: absent.is_none() && !self.is_nested(),
            login: absent.is_none().then(|| api.key_status(around)),
            note: absent.unwrap_or_else(|| api.describe(None)),
            reached: api.resolve_url(around).ok().map(|address| display_url(&address)),
            family: api.family.clone(),
            models: format_models(api.default_model.entries()),
            efforts: supported_efforts(|effort| api.effort_body(effort).is_some()),
            price: Some(self.price_note(name, usual, false)),
            ..ProviderInfo::default()
        }
    }

    /// Note on whether the price of a provider is known.
    fn price_note(&self, tool: &str, model: Option<String>, tells: bool) -> String {
        let voice = Participant::Model { tool: tool.into(), model };
        match (self.config.prices.find(&voice, None), &self.config.prices.as_of) {
            (Some(_), Some(day)) => format!("price known, as of {day}"),
            (Some(_), None) => "price known".into(),
            (None, _) if tells => "says itself what it costs".into(),
            (None, _) => "price unknown".into(),
        }
    }

    /// Whether this process was started by a turn of another debate: the environment has the marker
    /// variable, or, if a CLI has removed it, an ancestor process runs the same executable.
    fn is_nested(&self) -> bool {
        *self.nested.get_or_init(|| {
            let marked =
                self.config.environment.variables.iter().any(|(name, _)| name == MARKER_VARIABLE);
            marked || has_debate_ancestor()
        })
    }
}

/// Walks up the parent processes in `/proc`. Always false on systems without it.
fn has_debate_ancestor() -> bool {
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

impl Providers for ProviderRegistry {
    fn request_reply<'a>(
        &'a self,
        ask: &'a TurnRequest,
        stream: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            let absent = |why: String| TurnFailure::new(FailureKind::NotFound, why);
            let tool = ask.participant.tool();
            let script = match (tool, ask.participant.model()) {
                ("demo", _) => demo::build_script(&ask.prompt, self.config.demo_speed),
                ("script", Some(file)) => Script::load(file),
                _ => match self.find_spec(tool).map_err(absent)? {
                    Some(ProviderSpec::Cli(row)) => {
                        let (around, versions) = (&self.config.environment, &self.versions);
                        let (snapshots, stream) = (self.config.snapshots.as_ref(), &stream);
                        let call = CliTurn {
                            tool,
                            spec: row,
                            environment: around,
                            versions,
                            snapshots,
                            ask,
                            stream,
                        };
                        return cli::fetch_turn(call).await;
                    }
                    Some(ProviderSpec::Api(row)) => {
                        let (around, clients) = (&self.config.environment, &self.clients);
                        return api::fetch_turn(tool, row, around, clients, ask, &stream).await;
                    }
                    None => Err(format!("`{tool}` has no voice here")),
                },
            };
            script.map_err(absent)?.fetch_turn(ask, &stream).await
        })
    }

    fn check_config(&self) -> Result<(), String> {
        self.specs().map(drop)
    }

    fn reports_cost(&self, voice: &Participant) -> bool {
        matches!(self.find_spec(voice.tool()), Ok(Some(ProviderSpec::Cli(row))) if row.reports_cost)
    }

    fn check_available(&self, voice: &Participant) -> Result<(), ProviderUnavailable> {
        let no = |why: String| Err(ProviderUnavailable { voice: voice.to_string(), why });
        if self.is_nested() {
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
            (tool, model) => match self.find_spec(tool) {
                Err(why) => no(why),
                Ok(Some(ProviderSpec::Api(api))) => {
                    api.unavailable_reason(tool, model, &self.config.environment).map_or(Ok(()), no)
                }
                Ok(Some(ProviderSpec::Cli(row))) => {
                    match self.config.environment.find_program(&row.program) {
                        Some(_) => Ok(()),
                        None => no(row.not_installed_message()),
                    }
                }
                Ok(None) => {
                    let known = self.specs().into_iter();
                    let known = known.flat_map(|known| known.clis.keys().chain(known.apis.keys()));
                    let known = known.cloned().collect::<Vec<_>>().join(", ");
                    no(format!("there is no such tool; known are {known}, script, host and human"))
                }
            },
        }
    }

    fn list_providers(&self) -> Vec<ProviderInfo> {
        let tools = self.specs().into_iter().flat_map(|known| &known.clis);
        let models = tools.map(|(tool, row)| self.cli_listing(tool, row));
        let services = self.specs().into_iter().flat_map(|known| &known.apis);
        let services = services.map(|(name, api)| self.api_listing(name, api));
        let others = BUILTIN_SEATS.iter().map(|(seat, note)| ProviderInfo {
            seat: (*seat).into(),
            model: false,
            playable: !self.is_nested(),
            note: (*note).into(),
            ..ProviderInfo::default()
        });
        models.chain(services).chain(others).collect()
    }

    fn can_read_files(&self, voice: &Participant) -> bool {
        let tool = matches!(self.find_spec(voice.tool()), Ok(Some(ProviderSpec::Cli(_))));
        tool && self.config.snapshots.is_some()
    }

    fn is_model(&self, voice: &Participant) -> bool {
        self.find_spec(voice.tool()).is_ok_and(|found| found.is_some())
    }

    fn default_model(&self, tool: &str, effort: Option<Effort>) -> Option<String> {
        match self.find_spec(tool).ok()?? {
            ProviderSpec::Cli(row) => row.default_model.for_effort(effort).cloned(),
            ProviderSpec::Api(api) => api.default_model.for_effort(effort).cloned(),
        }
    }

    fn default_timeout_secs(&self, voice: &Participant, effort: Option<Effort>) -> u32 {
        let seconds = match self.find_spec(voice.tool()) {
            Ok(Some(ProviderSpec::Cli(row))) => row.timeout_seconds.for_effort(effort),
            Ok(Some(ProviderSpec::Api(api))) => api.timeout_seconds.for_effort(effort),
            _ => None,
        };
        seconds.copied().unwrap_or(DEFAULT_TURN_SECONDS)
    }

    fn price(&self, voice: &Participant, reported: Option<&str>) -> Option<Price> {
        self.config.prices.find(voice, reported)
    }

    fn api_key_variables(&self) -> Vec<String> {
        let Ok(known) = self.specs() else { return vec![] };
        let tools = known.clis.values().flat_map(|row| &row.key_variables);
        let all = tools.chain(known.apis.values().flat_map(ApiSpec::key_variables));
        let set = |name: &&String| self.config.environment.non_empty_variable(name).is_some();
        all.filter(set).cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn version<'a>(&'a self, tool: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let Ok(Some(ProviderSpec::Cli(row))) = self.find_spec(tool) else { return None };
            let path = self.config.environment.find_program(&row.program)?;
            self.versions.get_or_query(&path, row, &self.config.environment).await
        })
    }

    fn side_conflict(&self, one: &Participant, other: &Participant) -> Option<String> {
        // The same model on both sides is refused. For a CLI the tool name is compared, because its
        // model names are not known here. A script may play both sides.
        let tool = one.tool();
        if tool != other.tool() {
            return None;
        }
        match self.find_spec(tool) {
            Ok(Some(ProviderSpec::Cli(_))) => Some(format!(
                "proposer and challenger are both `{tool}`; a debate needs two different tools"
            )),
            Ok(Some(ProviderSpec::Api(api))) => {
                let same = api.model_or_default(one.model()) == api.model_or_default(other.model());
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
fn format_models(usual: Vec<(&str, &String)>) -> Vec<String> {
    let one = |(word, model): (&str, &String)| match word {
        "" => model.clone(),
        word => format!("{word}: {model}"),
    };
    usual.into_iter().map(one).collect()
}

fn supported_efforts(has: impl Fn(Effort) -> bool) -> Vec<String> {
    let all = [Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    all.into_iter().filter(|effort| has(*effort)).map(|effort| effort.as_str().into()).collect()
}
