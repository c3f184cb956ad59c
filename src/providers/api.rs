//! Fetches a turn from an HTTP API. A request is retried on transient errors only, and never after
//! the first text has been streamed. The entry point is [`fetch_turn`].
use super::api_error::ApiError;
use super::api_spec::{ApiSpec, Secret, display_url};
use super::cli_error::{default_hint, truncate_line, with_hint};
use super::http::{self, HttpClients, TransportError};
use super::model_mismatch::add_model_mismatch_caveat;
use super::protocol::{self, ApiResponse, PromptRequest, SchemaMode};
use super::retry::{MAX_ATTEMPTS, backoff, is_too_long, wait_before_retry};
use super::system_environment::SystemEnvironment;
use crate::debate::{Envelope, FailureKind, TurnFailure};
use crate::engine::{ProviderReply, ReplyStream, TurnRequest};
use reqwest::{Client, RequestBuilder, Response, Url};
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
    env: &SystemEnvironment,
    clients: &HttpClients,
    turn: &TurnRequest,
    stream: &ReplyStream,
) -> Result<ProviderReply, TurnFailure> {
    let connection = ApiConnection::new(name, api, env, clients)?;
    let model = match api.model_or_default(turn.participant.model()) {
        Some(model) => model.to_owned(),
        None => connection.find_first_model().await?,
    };
    let schema = turn.schema.as_ref().map(|schema| (api.schema_mode, schema));
    let mut schema = schema.filter(|(mode, _)| *mode != SchemaMode::PromptOnly);
    let mut caveats = caveats(api, turn);
    let (mut attempt, started_at) = (1, Instant::now());
    loop {
        let (prompt, max_tokens) = (&turn.prompt, api.max_tokens);
        let prompt_request = PromptRequest { model: &model, prompt, schema, max_tokens };
        let mut answer = ApiResponse::default();
        let result = connection.send_once(&prompt_request, turn, stream, &mut answer).await;
        let envelope = Envelope {
            tool: name.into(),
            model_asked: Some(model.clone()),
            model_reported: answer.model,
            tokens_in: answer.tokens_in,
            tokens_out: answer.tokens_out,
            attempts: Some(attempt),
            ..Envelope::default()
        };
        match result {
            Ok(()) => {
                if answer.truncated {
                    caveats.push("its answer was cut at its limit of tokens".into());
                }
                let mut envelope = Envelope { caveats, ..envelope };
                add_model_mismatch_caveat(&mut envelope);
                return Ok(ProviderReply { text: answer.text, envelope });
            }
            // A rejected request costs nothing, so no backoff is needed.
            Err(failed) if failed.schema_rejected && schema.is_some() && attempt < MAX_ATTEMPTS => {
                tracing::info!(
                    debate = %turn.debate_id,
                    seat = %turn.seat,
                    attempt = attempt,
                    wait_ms = 0,
                    reason = "schema rejected",
                    "retry"
                );
                schema = None;
                caveats.push("answered without a schema".into());
            }
            Err(FailedAttempt { failure, retryable, .. }) => {
                let requested_wait = failure.retry_ms.map(Duration::from_millis);
                let wait = requested_wait.unwrap_or_else(|| backoff(attempt));
                let too_late = started_at.elapsed() + wait
                    >= Duration::from_secs(u64::from(turn.timeout_secs));
                if !retryable || attempt >= MAX_ATTEMPTS || is_too_long(wait) || too_late {
                    return Err(TurnFailure { envelope, ..failure });
                }
                wait_before_retry(turn, attempt, wait, &failure).await;
            }
        }
        attempt += 1;
    }
}

/// Caveats for options of the turn that the API does not support.
fn caveats(api: &ApiSpec, turn: &TurnRequest) -> Vec<String> {
    let unsupported_effort = turn.effort.is_some_and(|effort| api.effort_body(effort).is_none());
    let effort = unsupported_effort.then(|| "it has no setting for effort".to_owned());
    let web = turn.web_allowed.then(|| "it has no access to the web here".to_owned());
    effort.into_iter().chain(web).collect()
}

/// Reads a JSON response of up to about [`MAX_JSON_BYTES`]; null if it is longer or invalid.
async fn read_json(response: Response) -> Value {
    let body = http::read_body(response, MAX_JSON_BYTES).await.unwrap_or_default();
    serde_json::from_str(&body).unwrap_or(Value::Null)
}

impl<'a> ApiConnection<'a> {
    fn new(
        name: &'a str,
        api: &'a ApiSpec,
        env: &'a SystemEnvironment,
        clients: &'a HttpClients,
    ) -> Result<ApiConnection<'a>, TurnFailure> {
        let not_found = |message: String| TurnFailure::new(FailureKind::NotFound, message);
        let url = api
            .resolve_url(env)
            .map_err(|message| not_found(format!("`apis.{name}`: {message}")))?;
        let key = api
            .find_key(env)
            .map_err(|message| TurnFailure::new(FailureKind::NotLoggedIn, message))?;
        let client = clients.for_url(&url).map_err(not_found)?;
        Ok(ApiConnection { name, spec: api, url, key, client })
    }

    /// Builds a request below the base URL, with the key and the user's headers. A POST if there is
    /// a body.
    fn build_request(&self, path: &str, body: Option<&Value>) -> RequestBuilder {
        let mut url = self.url.clone();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        url.set_path(&format!("{}/{path}", self.url.path().trim_end_matches('/')));
        let queries = [query, self.url.query().unwrap_or_default()];
        let queries: Vec<&str> = queries.into_iter().filter(|query| !query.is_empty()).collect();
        url.set_query(Some(queries.join("&").as_str()).filter(|query| !query.is_empty()));
        let request = match body {
            Some(body) => (self.client.post(url))
                .header("content-type", "application/json")
                .header("accept", "text/event-stream")
                .body(body.to_string()),
            None => self.client.get(url),
        };
        let key = self.key.map(|key| protocol::auth_header(self.spec.protocol, key));
        let key = key.map(|(name, value)| (name, Secret(value)));
        let custom_headers = self.spec.headers.iter().map(|(name, value)| (name.as_str(), value));
        // The user's headers are added; they replace none.
        http::with_sensitive_headers(
            request,
            key.iter().map(|(name, value)| (*name, value)).chain(custom_headers),
        )
    }

    /// Sends one request and parses the response stream into `answer`.
    async fn send_once(
        &self,
        prompt_request: &PromptRequest<'_>,
        turn: &TurnRequest,
        stream: &ReplyStream,
        answer: &mut ApiResponse,
    ) -> Result<(), FailedAttempt> {
        let mut request = protocol::build_request(self.spec.protocol, prompt_request);
        if let Some(effort_body) = turn.effort.and_then(|effort| self.spec.effort_body(effort)) {
            protocol::merge_json(&mut request.body, effort_body);
        }
        protocol::merge_json(&mut request.body, &self.spec.body);
        let mut http_request = self.build_request(&request.path, Some(&request.body));
        for (name, value) in request.headers {
            http_request = http_request.header(name, value);
        }
        tracing::debug!(provider = self.name, model = prompt_request.model, "http request sent");
        let response = http::send(http_request)
            .await
            .map_err(|transport_error| self.transport_failure(&transport_error))?;
        if !response.status().is_success() {
            return Err(self.api_failure(&http::read_error(response).await, false));
        }
        let content_type = response
            .headers()
            .get("content-type")
            .and_then(|content_type| content_type.to_str().ok());
        if content_type.is_some_and(|content_type| content_type.starts_with("application/json")) {
            let json = read_json(response).await;
            let json: &Value = if json.is_array() { &json[0] } else { &json };
            if json["error"].is_null() {
                return Err(
                    self.failure(FailureKind::Unreadable, "what it sent is no stream of events")
                );
            }
            return Err(self.api_failure(&ApiError::from_event(json), false));
        }
        let protocol = self.spec.protocol;
        let outcome = http::read_events(response, |data| {
            let delta =
                answer.parse_event(protocol, data).map_err(|_| TransportError::Malformed)?;
            if let Some(delta) = delta {
                stream.push(delta);
            }
            Ok(answer.done)
        });
        let outcome = outcome.await;
        self.check_outcome(outcome, answer)
    }

    /// Decides at the end of a stream whether the response is complete.
    fn check_outcome(
        &self,
        outcome: Result<Option<usize>, TransportError>,
        answer: &ApiResponse,
    ) -> Result<(), FailedAttempt> {
        let has_text = !answer.text.is_empty();
        if let Some(error) = &answer.error {
            return Err(self.api_failure(&ApiError::from_event(error), has_text));
        }
        if let Some(message) = &answer.refusal {
            let message = if message.is_empty() { "the model declined to answer" } else { message };
            return Err(self.failure(FailureKind::Refused, message));
        }
        let interrupted = || {
            let length = answer.text.chars().count();
            let note = format!("the answer broke off after {length} characters");
            FailedAttempt { retryable: !has_text, ..self.failure(FailureKind::Crashed, &note) }
        };
        match outcome {
            // A connection lost after the final event does no harm.
            Ok(Some(1..)) | Err(TransportError::ConnectionLost(_)) if answer.completed => {}
            Ok(Some(0)) => {
                return Err(
                    self.failure(FailureKind::Unreadable, "what it sent is no stream of events")
                );
            }
            Err(transport_error @ (TransportError::TooLarge | TransportError::Malformed)) => {
                return Err(self.failure(FailureKind::Unreadable, &transport_error.to_string()));
            }
            _ => return Err(interrupted()),
        }
        if answer.text.trim().is_empty() {
            let note = if answer.truncated {
                let name = self.name;
                format!(
                    "its limit of tokens was used up by thinking (raise `max_tokens` of \
                     `apis.{name}`)"
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
        let (name, url) = (self.name, display_url(&self.url));
        let no_model = |message: String| {
            let note = format!("{message} (name one, as in `{name}:MODEL`)");
            self.failure(FailureKind::UnknownModel, &note).failure
        };
        if !self.spec.can_list_models() {
            return Err(no_model("no model is named".into()));
        }
        tracing::debug!(provider = self.name, "model list requested");
        let response = http::send(self.build_request("models", None))
            .await
            .map_err(|error| self.transport_failure(&error).failure)?;
        if !response.status().is_success() {
            return Err(self.api_failure(&http::read_error(response).await, false).failure);
        }
        let list = read_json(response).await;
        let mut models = list["data"].as_array().into_iter().flatten();
        let is_chat_model = |id: &&str| !id.is_empty() && !id.to_lowercase().contains("embed");
        let first = models.find_map(|model| model["id"].as_str().filter(is_chat_model));
        first.map(Into::into).ok_or_else(|| no_model(format!("no model is loaded at {url}")))
    }

    /// Failure for a transport error before any response.
    fn transport_failure(&self, transport_error: &TransportError) -> FailedAttempt {
        match transport_error {
            TransportError::Unreachable(message) => self.failure(
                FailureKind::NotFound,
                &self.spec.unreachable_message(&self.url, &truncate_line(message)),
            ),
            error => {
                let note = format!("the connection was lost before it answered: {error}");
                FailedAttempt { retryable: true, ..self.failure(FailureKind::Crashed, &note) }
            }
        }
    }

    /// Failure for an error reported by the service, with a hint.
    fn api_failure(&self, error: &ApiError, has_text: bool) -> FailedAttempt {
        let kind = error.failure_kind();
        let text: String =
            self.redact_secrets(&error.message).chars().take(MAX_ERROR_CHARS).collect();
        let message = match (error.status, text.as_str()) {
            (Some(status), "") => format!("HTTP {status}"),
            (Some(status), text) => format!("{status}: {text}"),
            (None, "") => "it failed without saying why".into(),
            (None, text) => text.into(),
        };
        let name = self.name;
        let hint = match (kind, error.retry_ms) {
            (FailureKind::NotLoggedIn, _) => self.spec.rejected_key_hint(name),
            (FailureKind::UnknownModel, _) => {
                format!(
                    "name another model, as in `{name}:MODEL`, or look at the `url` of \
                     `apis.{name}`"
                )
            }
            _ if matches!(error.status, Some(300..400)) => {
                format!("it has moved; set the `url` of `apis.{name}`")
            }
            (kind, wait) => default_hint(kind, wait),
        };
        let mut failed = self.failure_with_hint(kind, &message, &hint);
        failed.retryable = error.is_transient() && !has_text;
        failed.schema_rejected = error.is_schema_rejection() && !has_text;
        failed.failure.retry_ms = error.retry_ms.filter(|_| error.is_transient());
        failed
    }

    fn failure(&self, kind: FailureKind, message: &str) -> FailedAttempt {
        self.failure_with_hint(kind, message, &default_hint(kind, None))
    }

    fn failure_with_hint(&self, kind: FailureKind, message: &str, hint: &str) -> FailedAttempt {
        let failure = TurnFailure::new(kind, with_hint(self.redact_secrets(message), hint));
        FailedAttempt { failure, retryable: false, schema_rejected: false }
    }

    /// Text on one line, with the key and secret headers removed.
    fn redact_secrets(&self, text: &str) -> String {
        let header_values = self.spec.headers.values().map(|Secret(value)| value.as_str());
        let mut text = text.to_owned();
        for secret in self.key.into_iter().chain(header_values).filter(|secret| !secret.is_empty())
        {
            text = text.replace(secret, "…");
        }
        truncate_line(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::Body;
    use serde_json::json;

    /// Reads a JSON array of which this many bytes arrive before the closing bracket.
    async fn read_array(bytes_before_end: usize) -> Value {
        let chunks = [format!("[{}", " ".repeat(bytes_before_end - 1)), "]".into()];
        let chunks = chunks.map(std::io::Result::Ok);
        let body = Body::wrap_stream(futures_util::stream::iter(chunks));
        read_json(Response::from(hyper::Response::new(body))).await
    }

    #[tokio::test]
    async fn json_response_is_read_up_to_1_mib() {
        assert_eq!(MAX_JSON_BYTES, 1024 * 1024);
        assert_eq!(read_array(MAX_JSON_BYTES).await, json!([]));
        assert_eq!(read_array(MAX_JSON_BYTES + 1).await, Value::Null);
    }

    #[test]
    fn error_message_keeps_160_characters() {
        assert_eq!(MAX_ERROR_CHARS, 160);
        let spec = "url = \"http://127.0.0.1:1/v1\"\nwire = \"chat\"";
        let spec: ApiSpec = toml::from_str(spec).unwrap();
        let (env, clients) = (SystemEnvironment::default(), HttpClients::default());
        let connection = ApiConnection::new("mine", &spec, &env, &clients).unwrap();
        for length in [MAX_ERROR_CHARS, MAX_ERROR_CHARS + 1] {
            let error = ApiError::from_body(Some(400), &"é".repeat(length));
            let note = connection.api_failure(&error, false).failure.note;
            assert_eq!(note.matches('é').count(), MAX_ERROR_CHARS, "{note}");
        }
    }
}
