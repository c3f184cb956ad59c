//! Fetches a turn from an HTTP API. A request is retried on transient errors only, and never after
//! the first text has been streamed. The entry point is [`fetch_turn`].
use super::api_error::ApiError;
use super::api_spec::{ApiSpec, Secret, display_url};
use super::cli::SystemEnvironment;
use super::cli_error::{default_hint, truncate_line, with_hint};
use super::http::{self, HttpClients, TransportError};
use super::model_mismatch::add_model_mismatch_caveat;
use super::protocol::{self, ApiResponse, PromptRequest, SchemaMode};
use super::retry::{MAX_ATTEMPTS, MAX_RETRY_WAIT, backoff};
use crate::debate::{Envelope, FailureKind, TurnFailure};
use crate::engine::{ProviderReply, ReplyStream, TurnRequest};
use reqwest::{Client, RequestBuilder, Url};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// Limit of a JSON response in bytes, such as a list of models.
const MAX_JSON_BYTES: usize = 1024 * 1024;
/// Characters kept of a service's error message, which leaves room for the hint.
const MAX_ERROR_CHARS: usize = 160;

/// An API with its URL, key and HTTP client resolved.
struct ApiConnection<'a> {
    name: &'a str,
    spec: &'a ApiSpec,
    url: Url,
    key: Option<&'a str>,
    client: &'a Client,
}

/// A failed attempt.
struct FailedAttempt {
    failure: TurnFailure,
    /// A retry could help and would cost nothing extra.
    retryable: bool,
    /// The service may have rejected the JSON Schema.
    schema_rejected: bool,
}

/// Fetches one turn, with up to [`MAX_ATTEMPTS`] attempts. If the service rejects the JSON Schema,
/// the request is sent again without it.
pub(super) async fn fetch_turn(
    name: &str,
    api: &ApiSpec,
    around: &SystemEnvironment,
    clients: &HttpClients,
    ask: &TurnRequest,
    stream: &ReplyStream,
) -> Result<ProviderReply, TurnFailure> {
    let line = ApiConnection::new(name, api, around, clients)?;
    let model = match api.model_or_default(ask.participant.model()) {
        Some(model) => model.to_owned(),
        None => line.find_first_model().await?,
    };
    let held = |schema| (api.schema_mode, schema);
    let mut schema =
        ask.schema.as_ref().map(held).filter(|(held, _)| *held != SchemaMode::PromptOnly);
    let mut caveats = caveats(api, ask);
    let (mut tries, began) = (1, Instant::now());
    loop {
        let (prompt, max_tokens) = (&ask.prompt, api.max_tokens);
        let wanted = PromptRequest { model: &model, prompt, schema, max_tokens };
        let mut answer = ApiResponse::default();
        let done = line.send_once(&wanted, ask, stream, &mut answer).await;
        let envelope = Envelope {
            tool: name.into(),
            model_asked: Some(model.clone()),
            model_reported: answer.model,
            tokens_in: answer.tokens_in,
            tokens_out: answer.tokens_out,
            attempts: Some(tries),
            ..Envelope::default()
        };
        match done {
            Ok(()) => {
                if answer.truncated {
                    caveats.push("its answer was cut at its limit of tokens".into());
                }
                let mut envelope = Envelope { caveats, ..envelope };
                add_model_mismatch_caveat(&mut envelope);
                return Ok(ProviderReply { text: answer.text, envelope });
            }
            // A rejected request costs nothing, so no backoff is needed.
            Err(lost) if lost.schema_rejected && schema.is_some() && tries < MAX_ATTEMPTS => {
                schema = None;
                caveats.push("answered without a schema".into());
            }
            Err(FailedAttempt { failure, retryable: again, .. }) => {
                let asked = failure.retry_ms.map(Duration::from_millis);
                let wait = asked.unwrap_or_else(|| backoff(tries));
                let late =
                    began.elapsed() + wait >= Duration::from_secs(u64::from(ask.timeout_secs));
                if !again || tries >= MAX_ATTEMPTS || wait > MAX_RETRY_WAIT || late {
                    return Err(TurnFailure { envelope, ..failure });
                }
                tokio::time::sleep(wait).await;
            }
        }
        tries += 1;
    }
}

/// Caveats for options of the turn that the API does not support.
fn caveats(api: &ApiSpec, ask: &TurnRequest) -> Vec<String> {
    let effortless = ask.effort.is_some_and(|effort| api.effort_body(effort).is_none());
    let effort = effortless.then(|| "it has no setting for effort".to_owned());
    let web = ask.web_allowed.then(|| "it has no access to the web here".to_owned());
    effort.into_iter().chain(web).collect()
}

impl<'a> ApiConnection<'a> {
    fn new(
        name: &'a str,
        api: &'a ApiSpec,
        around: &'a SystemEnvironment,
        clients: &'a HttpClients,
    ) -> Result<ApiConnection<'a>, TurnFailure> {
        let absent = |why: String| TurnFailure::new(FailureKind::NotFound, why);
        let address =
            api.resolve_url(around).map_err(|why| absent(format!("`apis.{name}`: {why}")))?;
        let key =
            api.find_key(around).map_err(|why| TurnFailure::new(FailureKind::NotLoggedIn, why))?;
        let client = clients.for_url(&address).map_err(absent)?;
        Ok(ApiConnection { name, spec: api, url: address, key, client })
    }

    /// Builds a request below the base URL, with the key and the user's headers. A POST if there is
    /// a body.
    fn build_request(&self, path: &str, body: Option<&Value>) -> RequestBuilder {
        let mut whole = self.url.clone();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        whole.set_path(&format!("{}/{path}", self.url.path().trim_end_matches('/')));
        let queries = [query, self.url.query().unwrap_or_default()];
        let queries: Vec<&str> = queries.into_iter().filter(|query| !query.is_empty()).collect();
        whole.set_query(Some(queries.join("&").as_str()).filter(|query| !query.is_empty()));
        let request = match body {
            Some(body) => (self.client.post(whole))
                .header("content-type", "application/json")
                .header("accept", "text/event-stream")
                .body(body.to_string()),
            None => self.client.get(whole),
        };
        let key = self.key.map(|key| protocol::auth_header(self.spec.protocol, key));
        let key = key.map(|(name, value)| (name, Secret(value)));
        let own = self.spec.headers.iter().map(|(name, value)| (name.as_str(), value));
        // The user's headers are added; they replace none.
        http::with_sensitive_headers(
            request,
            key.iter().map(|(name, value)| (*name, value)).chain(own),
        )
    }

    /// Sends one request and parses the response stream into `answer`.
    async fn send_once(
        &self,
        wanted: &PromptRequest<'_>,
        ask: &TurnRequest,
        stream: &ReplyStream,
        answer: &mut ApiResponse,
    ) -> Result<(), FailedAttempt> {
        let mut request = protocol::build_request(self.spec.protocol, wanted);
        if let Some(level) = ask.effort.and_then(|effort| self.spec.effort_body(effort)) {
            protocol::merge_json(&mut request.body, level);
        }
        protocol::merge_json(&mut request.body, &self.spec.body);
        let mut sent = self.build_request(&request.path, Some(&request.body));
        for (name, value) in request.headers {
            sent = sent.header(name, value);
        }
        let response = http::send(sent).await.map_err(|broken| self.transport_failure(&broken))?;
        if !response.status().is_success() {
            return Err(self.api_failure(&http::read_error(response).await, false));
        }
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("application/json")) {
            let body = http::read_body(response, MAX_JSON_BYTES).await.unwrap_or_default();
            let it = serde_json::from_str(&body).unwrap_or(Value::Null);
            let it: &Value = if it.is_array() { &it[0] } else { &it };
            if it["error"].is_null() {
                return Err(
                    self.failure(FailureKind::Unreadable, "what it sent is no stream of events")
                );
            }
            return Err(self.api_failure(&ApiError::from_event(it), false));
        }
        let wire = self.spec.protocol;
        let read = http::read_events(response, |data| {
            let words = answer.parse_event(wire, data).map_err(|_| TransportError::Malformed)?;
            if let Some(words) = words {
                stream.push(words);
            }
            Ok(answer.done)
        });
        let read = read.await;
        self.check_outcome(read, answer)
    }

    /// Decides at the end of a stream whether the response is complete.
    fn check_outcome(
        &self,
        read: Result<Option<usize>, TransportError>,
        answer: &ApiResponse,
    ) -> Result<(), FailedAttempt> {
        let spoke = !answer.text.is_empty();
        if let Some(error) = &answer.error {
            return Err(self.api_failure(&ApiError::from_event(error), spoke));
        }
        if let Some(why) = &answer.refusal {
            let why = if why.is_empty() { "the model declined to answer" } else { why };
            return Err(self.failure(FailureKind::Refused, why));
        }
        let broke_off = || {
            let length = answer.text.chars().count();
            let note = format!("the answer broke off after {length} characters");
            FailedAttempt { retryable: !spoke, ..self.failure(FailureKind::Crashed, &note) }
        };
        match read {
            // A connection lost after the final event does no harm.
            Ok(Some(1..)) | Err(TransportError::ConnectionLost(_)) if answer.completed => {}
            Ok(Some(0)) => {
                return Err(
                    self.failure(FailureKind::Unreadable, "what it sent is no stream of events")
                );
            }
            Err(broken @ (TransportError::TooLarge | TransportError::Malformed)) => {
                return Err(self.failure(FailureKind::Unreadable, &broken.to_string()));
            }
            _ => return Err(broke_off()),
        }
        if answer.text.trim().is_empty() {
            let note = if answer.truncated {
                let name = self.name;
                format!(
                    "its limit of tokens was used up by thinking (raise `max_tokens` of `apis.{name}`)"
                )
            } else {
                "it answered with nothing".into()
            };
            return Err(self.failure(FailureKind::Empty, &note));
        }
        Ok(())
    }

    /// The first model a local server lists that is no embedding model.
    async fn find_first_model(&self) -> Result<String, TurnFailure> {
        let (name, place) = (self.name, display_url(&self.url));
        let nameless = |why: String| {
            let note = format!("{why} (name one, as in `{name}:MODEL`)");
            self.failure(FailureKind::UnknownModel, &note).failure
        };
        if !self.spec.can_list_models() {
            return Err(nameless("no model is asked for".into()));
        }
        let response = http::send(self.build_request("models", None))
            .await
            .map_err(|it| self.transport_failure(&it).failure)?;
        if !response.status().is_success() {
            return Err(self.api_failure(&http::read_error(response).await, false).failure);
        }
        let list = http::read_body(response, MAX_JSON_BYTES).await.unwrap_or_default();
        let list: Value = serde_json::from_str(&list).unwrap_or(Value::Null);
        let mut models = list["data"].as_array().into_iter().flatten();
        let speaks = |id: &&str| !id.is_empty() && !id.to_lowercase().contains("embed");
        let first = models.find_map(|model| model["id"].as_str().filter(speaks));
        first.map(Into::into).ok_or_else(|| nameless(format!("no model is loaded at {place}")))
    }

    /// Failure for a transport error before any response.
    fn transport_failure(&self, broken: &TransportError) -> FailedAttempt {
        match broken {
            TransportError::Unreachable(why) => self.failure(
                FailureKind::NotFound,
                &self.spec.unreachable_message(&self.url, &truncate_line(why)),
            ),
            other => {
                let note = format!("the connection was lost before it answered: {other}");
                FailedAttempt { retryable: true, ..self.failure(FailureKind::Crashed, &note) }
            }
        }
    }

    /// Failure for an error reported by the service, with a hint.
    fn api_failure(&self, complaint: &ApiError, spoke: bool) -> FailedAttempt {
        let trouble = complaint.trouble();
        let said: String =
            self.redact_secrets(&complaint.message).chars().take(MAX_ERROR_CHARS).collect();
        let why = match (complaint.status, said.as_str()) {
            (Some(status), "") => format!("HTTP {status}"),
            (Some(status), said) => format!("{status}: {said}"),
            (None, "") => "it failed without saying why".into(),
            (None, said) => said.into(),
        };
        let name = self.name;
        let step = match (trouble, complaint.retry_ms) {
            (FailureKind::NotLoggedIn, _) => self.spec.rejected_key_hint(name),
            (FailureKind::UnknownModel, _) => {
                format!(
                    "name another model, as in `{name}:MODEL`, or look at the `url` of `apis.{name}`"
                )
            }
            _ if matches!(complaint.status, Some(300..400)) => {
                format!("it has moved; set the `url` of `apis.{name}`")
            }
            (trouble, wait) => default_hint(trouble, wait),
        };
        let mut lost = self.failure_with_hint(trouble, &why, &step);
        lost.retryable = complaint.is_transient() && !spoke;
        lost.schema_rejected = complaint.is_schema_rejection() && !spoke;
        lost.failure.retry_ms = complaint.retry_ms.filter(|_| complaint.is_transient());
        lost
    }

    fn failure(&self, trouble: FailureKind, why: &str) -> FailedAttempt {
        self.failure_with_hint(trouble, why, &default_hint(trouble, None))
    }

    fn failure_with_hint(&self, trouble: FailureKind, why: &str, step: &str) -> FailedAttempt {
        let failure = TurnFailure::new(trouble, with_hint(self.redact_secrets(why), step));
        FailedAttempt { failure, retryable: false, schema_rejected: false }
    }

    /// Text on one line, with the key and secret headers removed.
    fn redact_secrets(&self, text: &str) -> String {
        let own = self.spec.headers.values().map(|Secret(value)| value.as_str());
        let mut text = text.to_owned();
        for secret in self.key.into_iter().chain(own).filter(|secret| !secret.is_empty()) {
            text = text.replace(secret, "…");
        }
        truncate_line(&text)
    }
}
