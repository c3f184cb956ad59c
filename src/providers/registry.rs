//! Registry of providers: finds the CLI, API or script of a participant, fetches its turns, lists
//! what can be used here, and says which two may debate each other. A vendor is a config entry, not
//! a module. [`ProviderRegistry`] implements the engine's `Providers` port.
use super::api;
use super::api_spec::{ApiSpec, display_url, load_api_specs};
use super::cli_spec::{CliSpec, load_cli_specs};
use super::demo;
use super::http::HttpClients;
use super::model_cli::{self, CliTurn, VersionCache};
use super::orphans::MARKER_VARIABLE;
use super::prices::PriceList;
use super::script::Script;
use super::system_environment::SystemEnvironment;
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
    fn load(tools: &toml::Table, apis: &toml::Table) -> Result<ProviderSpecs, String> {
        let specs = ProviderSpecs { clis: load_cli_specs(tools)?, apis: load_api_specs(apis)? };
        match specs.apis.keys().find(|name| specs.clis.contains_key(*name)) {
            Some(name) => Err(format!("`{name}` is in `tools` and in `apis`; rename one of them")),
            None => Ok(specs),
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
        let load = || ProviderSpecs::load(&self.config.tools, &self.config.apis);
        self.specs.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    fn find_spec(&self, name: &str) -> Result<Option<ProviderSpec<'_>>, String> {
        Ok(self.specs()?.find(name))
    }

    /// The list entry of a model CLI.
    fn cli_listing(&self, name: &str, spec: &CliSpec) -> ProviderInfo {
        let env = &self.config.environment;
        let program_path = env.find_program(&spec.program);
        let note = match &program_path {
            Some(_) => "a model CLI, which reads a copy of the repository".into(),
            None => spec.not_installed_message(),
        };
        let default_model = spec.default_model.for_effort(None).cloned();
        ProviderInfo {
            seat: name.into(),
            model: true,
            playable: program_path.is_some() && !self.is_nested(),
            note,
            reached: program_path.map(|path| path.display().to_string()),
            login: Some(spec.login_status(env)),
            family: spec.family.clone(),
            models: format_models(spec.default_model.entries()),
            efforts: supported_efforts(|effort| spec.effort_args.contains_key(effort.as_str())),
            price: Some(self.price_note(name, default_model, spec.reports_cost)),
            ..ProviderInfo::default()
        }
    }

    /// The list entry of an HTTP API. If it has no default model, the seat is written `name:MODEL`.
    fn api_listing(&self, name: &str, api: &ApiSpec) -> ProviderInfo {
        let env = &self.config.environment;
        let needs_model = !api.has_default_model() && !api.can_list_models();
        let unavailable = api.unavailable_reason(name, needs_model.then_some("MODEL"), env);
        let default_model = api.default_model.for_effort(None).cloned();
        ProviderInfo {
            seat: if needs_model { format!("{name}:MODEL") } else { name.to_owned() },
            model: api.has_default_model(),
            playable: unavailable.is_none() && !self.is_nested(),
            login: unavailable.is_none().then(|| api.key_status(env)),
            note: unavailable.unwrap_or_else(|| api.describe(None)),
            reached: api.resolve_url(env).ok().map(|address| display_url(&address)),
            family: api.family.clone(),
            models: format_models(api.default_model.entries()),
            efforts: supported_efforts(|effort| api.effort_body(effort).is_some()),
            price: Some(self.price_note(name, default_model, false)),
            ..ProviderInfo::default()
        }
    }

    /// Note on whether the price of a provider is known.
    fn price_note(&self, tool: &str, model: Option<String>, reports_cost: bool) -> String {
        let participant = Participant::Model { tool: tool.into(), model };
        match (self.config.prices.find(&participant, None), &self.config.prices.as_of) {
            (Some(_), Some(day)) => format!("price known, as of {day}"),
            (Some(_), None) => "price known".into(),
            (None, _) if reports_cost => "reports its own cost".into(),
            (None, _) => "price unknown".into(),
        }
    }

    /// Whether this process was started by a turn of another debate: the environment has the marker
    /// variable, or, if a CLI has removed it, an ancestor process runs the same executable.
    fn is_nested(&self) -> bool {
        *self.nested.get_or_init(|| {
            let has_marker =
                self.config.environment.variables.iter().any(|(name, _)| name == MARKER_VARIABLE);
            has_marker || has_debate_ancestor()
        })
    }
}

/// Walks up the parent processes in `/proc`. Always false on systems without it.
fn has_debate_ancestor() -> bool {
    let Ok(own_exe) = std::env::current_exe() else { return false };
    let parent = |pid: &str| -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The process name may contain spaces and parentheses, so fields are counted after the last
        // `)`.
        let fields = stat.rsplit_once(')')?.1;
        fields.split_whitespace().nth(1).map(Into::into)
    };
    let mut pid = parent("self");
    while let Some(id) = pid.filter(|id| id != "0") {
        if std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|exe| exe == own_exe) {
            return true;
        }
        pid = parent(&id);
    }
    false
}

impl Providers for ProviderRegistry {
    fn request_reply<'a>(
        &'a self,
        turn: &'a TurnRequest,
        stream: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            let not_found = |message: String| TurnFailure::new(FailureKind::NotFound, message);
            let tool = turn.participant.tool();
            let script = match (tool, turn.participant.model()) {
                ("demo", _) => demo::build_script(&turn.prompt, self.config.demo_speed),
                ("script", Some(file)) => Script::load(file),
                _ => match self.find_spec(tool).map_err(not_found)? {
                    Some(ProviderSpec::Cli(spec)) => {
                        let (env, versions) = (&self.config.environment, &self.versions);
                        let (snapshots, stream) = (self.config.snapshots.as_ref(), &stream);
                        let call = CliTurn {
                            tool,
                            spec,
                            environment: env,
                            versions,
                            snapshots,
                            turn,
                            stream,
                        };
                        return model_cli::fetch_turn(call).await;
                    }
                    Some(ProviderSpec::Api(spec)) => {
                        let (env, clients) = (&self.config.environment, &self.clients);
                        return api::fetch_turn(tool, spec, env, clients, turn, &stream).await;
                    }
                    None => Err(format!("there is no tool or API named `{tool}`")),
                },
            };
            script.map_err(not_found)?.fetch_turn(turn, &stream).await
        })
    }

    fn check_config(&self) -> Result<(), String> {
        self.specs().map(drop)
    }

    fn reports_cost(&self, participant: &Participant) -> bool {
        matches!(self.find_spec(participant.tool()), Ok(Some(ProviderSpec::Cli(spec))) if spec.reports_cost)
    }

    fn check_available(&self, participant: &Participant) -> Result<(), ProviderUnavailable> {
        let unavailable =
            |why: String| Err(ProviderUnavailable { voice: participant.to_string(), why });
        if self.is_nested() {
            return unavailable(
                "this program was started by a seat of another debate, and a debate opens no \
                       debates"
                    .into(),
            );
        }
        match (participant.tool(), participant.model()) {
            ("bot", _) => unavailable("a bot joins by itself and cannot be called".into()),
            _ if participant.is_awaited() => Ok(()),
            ("demo", _) => Ok(()),
            ("script", None) => unavailable("name its file, as in `script:turns.json`".into()),
            ("script", Some(file)) => Script::load(file).map(drop).or_else(unavailable),
            (tool, model) => match self.find_spec(tool) {
                Err(why) => unavailable(why),
                Ok(Some(ProviderSpec::Api(api))) => api
                    .unavailable_reason(tool, model, &self.config.environment)
                    .map_or(Ok(()), unavailable),
                Ok(Some(ProviderSpec::Cli(spec))) => {
                    match self.config.environment.find_program(&spec.program) {
                        Some(_) => Ok(()),
                        None => unavailable(spec.not_installed_message()),
                    }
                }
                Ok(None) => {
                    let known_names = self.specs().into_iter();
                    let known_names = known_names.flat_map(|known_names| {
                        known_names.clis.keys().chain(known_names.apis.keys())
                    });
                    let known_names = known_names.cloned().collect::<Vec<_>>().join(", ");
                    unavailable(format!(
                        "there is no such tool; known are {known_names}, script, host and human"
                    ))
                }
            },
        }
    }

    fn list_providers(&self) -> Vec<ProviderInfo> {
        let tools = self.specs().into_iter().flat_map(|specs| &specs.clis);
        let models = tools.map(|(tool, spec)| self.cli_listing(tool, spec));
        let services = self.specs().into_iter().flat_map(|specs| &specs.apis);
        let services = services.map(|(name, api)| self.api_listing(name, api));
        let builtins = BUILTIN_SEATS.iter().map(|(seat, note)| ProviderInfo {
            seat: (*seat).into(),
            model: false,
            playable: !self.is_nested(),
            note: (*note).into(),
            ..ProviderInfo::default()
        });
        models.chain(services).chain(builtins).collect()
    }

    fn can_read_files(&self, participant: &Participant) -> bool {
        let is_cli = matches!(self.find_spec(participant.tool()), Ok(Some(ProviderSpec::Cli(_))));
        is_cli && self.config.snapshots.is_some()
    }

    fn is_model(&self, participant: &Participant) -> bool {
        self.find_spec(participant.tool()).is_ok_and(|found| found.is_some())
    }

    fn default_model(&self, tool: &str, effort: Option<Effort>) -> Option<String> {
        match self.find_spec(tool).ok()?? {
            ProviderSpec::Cli(spec) => spec.default_model.for_effort(effort).cloned(),
            ProviderSpec::Api(api) => api.default_model.for_effort(effort).cloned(),
        }
    }

    fn default_timeout_secs(&self, participant: &Participant, effort: Option<Effort>) -> u32 {
        let seconds = match self.find_spec(participant.tool()) {
            Ok(Some(ProviderSpec::Cli(spec))) => spec.timeout_seconds.for_effort(effort),
            Ok(Some(ProviderSpec::Api(api))) => api.timeout_seconds.for_effort(effort),
            _ => None,
        };
        seconds.copied().unwrap_or(DEFAULT_TURN_SECONDS)
    }

    fn price(&self, participant: &Participant, reported: Option<&str>) -> Option<Price> {
        self.config.prices.find(participant, reported)
    }

    fn api_key_variables(&self) -> Vec<String> {
        let Ok(specs) = self.specs() else { return vec![] };
        let tools = specs.clis.values().flat_map(|spec| &spec.key_variables);
        let variables = tools.chain(specs.apis.values().flat_map(ApiSpec::key_variables));
        let is_set = |name: &&String| self.config.environment.non_empty_variable(name).is_some();
        variables.filter(is_set).cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn version<'a>(&'a self, tool: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let Ok(Some(ProviderSpec::Cli(spec))) = self.find_spec(tool) else { return None };
            let path = self.config.environment.find_program(&spec.program)?;
            self.versions.get_or_query(&path, spec, &self.config.environment).await
        })
    }

    fn side_conflict(&self, first: &Participant, second: &Participant) -> Option<String> {
        // The same model on both sides is refused. For a CLI the tool name is compared, because its
        // model names are not known here. A script may play both sides.
        let tool = first.tool();
        if tool != second.tool() {
            return None;
        }
        match self.find_spec(tool) {
            Ok(Some(ProviderSpec::Cli(_))) => Some(format!(
                "proposer and challenger are both `{tool}`; a debate needs two different tools"
            )),
            Ok(Some(ProviderSpec::Api(api))) => {
                let same =
                    api.model_or_default(first.model()) == api.model_or_default(second.model());
                same.then(|| {
                    format!(
                        "proposer and challenger are both `{first}`; name another model for one of \
                         them, as in `{tool}:MODEL`"
                    )
                })
            }
            _ => None,
        }
    }
}

/// Formats default models as `effort: model`, or as the name alone if there is one for all efforts.
fn format_models(models: Vec<(&str, &String)>) -> Vec<String> {
    let format_model = |(effort, model): (&str, &String)| match effort {
        "" => model.clone(),
        effort => format!("{effort}: {model}"),
    };
    models.into_iter().map(format_model).collect()
}

fn supported_efforts(supports: impl Fn(Effort) -> bool) -> Vec<String> {
    let all = [Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    all.into_iter()
        .filter(|effort| supports(*effort))
        .map(|effort| effort.as_str().into())
        .collect()
}
