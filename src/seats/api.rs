//! Fetches a turn from an HTTP API. A request is retried on transient errors only, and never after
//! the first text has been streamed. The entry point is [`fetch_turn`].
use super::cli::Surroundings;
use super::fault::{short, usual_step, with_step};
use super::http::{self, Broken, Clients};
use super::patience::{LONGEST, TRIES, pause};
use super::proof::admit_other_model;
use super::rebuff::Complaint;
use super::service::{Api, Secret, shown};
use super::wire::{self, Answer, Held, Wanted};
use crate::debate::{Envelope, FailureKind, TurnFailure};
use crate::engine::{ProviderReply, ReplyStream, TurnRequest};
use reqwest::{Client, RequestBuilder, Url};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// Limit of a JSON response in bytes, such as a list of models.
const LIST: usize = 1024 * 1024;
/// Characters kept of a service's error message, which leaves room for the hint.
const COMPLAINT: usize = 160;

/// An API with its URL, key and HTTP client resolved.
struct Line<'a> {
    name: &'a str,
    api: &'a Api,
    address: Url,
    key: Option<&'a str>,
    client: &'a Client,
}

/// A failed attempt.
struct Lost {
    failure: TurnFailure,
    /// A retry could help and would cost nothing extra.
    again: bool,
    /// The service may have rejected the JSON Schema.
    schema: bool,
}

/// Fetches one turn, with up to [`MAX_ATTEMPTS`] attempts. If the service rejects the JSON Schema,
/// the request is sent again without it.
pub(super) async fn speak(
    name: &str,
    api: &Api,
    around: &Surroundings,
    clients: &Clients,
    ask: &TurnRequest,
    stream: &ReplyStream,
) -> Result<ProviderReply, TurnFailure> {
    let line = Line::open(name, api, around, clients)?;
    let model = match api.model(ask.participant.model()) {
        Some(model) => model.to_owned(),
        None => line.first_model().await?,
    };
    let held = |schema| (api.schema, schema);
    let mut schema = ask.schema.as_ref().map(held).filter(|(held, _)| *held != Held::Asked);
    let mut caveats = caveats(api, ask);
    let (mut tries, began) = (1, Instant::now());
    loop {
        let (prompt, max_tokens) = (&ask.prompt, api.max_tokens);
        let wanted = Wanted { model: &model, prompt, schema, max_tokens };
        let mut answer = Answer::default();
        let done = line.once(&wanted, ask, stream, &mut answer).await;
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
                if answer.cut {
                    caveats.push("its answer was cut at its limit of tokens".into());
                }
                let mut envelope = Envelope { caveats, ..envelope };
                admit_other_model(&mut envelope);
                return Ok(ProviderReply { text: answer.text, envelope });
            }
            // A rejected request costs nothing, so no backoff is needed.
            Err(lost) if lost.schema && schema.is_some() && tries < TRIES => {
                schema = None;
                caveats.push("answered without a schema".into());
            }
            Err(Lost { failure, again, .. }) => {
                let asked = failure.retry_ms.map(Duration::from_millis);
                let wait = asked.unwrap_or_else(|| pause(tries));
                let late =
                    began.elapsed() + wait >= Duration::from_secs(u64::from(ask.timeout_secs));
                if !again || tries >= TRIES || wait > LONGEST || late {
                    return Err(TurnFailure { envelope, ..failure });
                }
                tokio::time::sleep(wait).await;
            }
        }
        tries += 1;
    }
}

/// Caveats for options of the turn that the API does not support.
fn caveats(api: &Api, ask: &TurnRequest) -> Vec<String> {
    let effortless = ask.effort.is_some_and(|effort| api.effort(effort).is_none());
    let effort = effortless.then(|| "it has no setting for effort".to_owned());
    let web = ask.web_allowed.then(|| "it has no access to the web here".to_owned());
    effort.into_iter().chain(web).collect()
}

impl<'a> Line<'a> {
    fn open(
        name: &'a str,
        api: &'a Api,
        around: &'a Surroundings,
        clients: &'a Clients,
    ) -> Result<Line<'a>, TurnFailure> {
        let absent = |why: String| TurnFailure::new(FailureKind::NotFound, why);
        let address = api.address(around).map_err(|why| absent(format!("`apis.{name}`: {why}")))?;
        let key = api.key(around).map_err(|why| TurnFailure::new(FailureKind::NotLoggedIn, why))?;
        let client = clients.of(&address).map_err(absent)?;
        Ok(Line { name, api, address, key, client })
    }

    /// Builds a request below the base URL, with the key and the user's headers. A POST if there is
    /// a body.
    fn request(&self, path: &str, body: Option<&Value>) -> RequestBuilder {
        let mut whole = self.address.clone();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        whole.set_path(&format!("{}/{path}", self.address.path().trim_end_matches('/')));
        let queries = [query, self.address.query().unwrap_or_default()];
        let queries: Vec<&str> = queries.into_iter().filter(|query| !query.is_empty()).collect();
        whole.set_query(Some(queries.join("&").as_str()).filter(|query| !query.is_empty()));
        let request = match body {
            Some(body) => (self.client.post(whole))
                .header("content-type", "application/json")
                .header("accept", "text/event-stream")
                .body(body.to_string()),
            None => self.client.get(whole),
        };
        let key = self.key.map(|key| wire::credentials(self.api.wire, key));
        let key = key.map(|(name, value)| (name, Secret(value)));
        let own = self.api.headers.iter().map(|(name, value)| (name.as_str(), value));
        // The user's headers are added; they replace none.
        http::with_headers(request, key.iter().map(|(name, value)| (*name, value)).chain(own))
    }

    /// Sends one request and parses the response stream into `answer`.
    async fn once(
        &self,
        wanted: &Wanted<'_>,
        ask: &TurnRequest,
        stream: &ReplyStream,
        answer: &mut Answer,
    ) -> Result<(), Lost> {
        let mut request = wire::request(self.api.wire, wanted);
        if let Some(level) = ask.effort.and_then(|effort| self.api.effort(effort)) {
            wire::merge(&mut request.body, level);
        }
        wire::merge(&mut request.body, &self.api.body);
        let mut sent = self.request(&request.path, Some(&request.body));
        for (name, value) in request.headers {
            sent = sent.header(name, value);
        }
        let response = http::send(sent).await.map_err(|broken| self.unheard(&broken))?;
        if !response.status().is_success() {
            return Err(self.complained(&http::complaint(response).await, false));
        }
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("application/json")) {
            let body = http::whole(response, LIST).await.unwrap_or_default();
            let it = serde_json::from_str(&body).unwrap_or(Value::Null);
            let it: &Value = if it.is_array() { &it[0] } else { &it };
            if it["error"].is_null() {
                return Err(
                    self.lost(FailureKind::Unreadable, "what it sent is no stream of events")
                );
            }
            return Err(self.complained(&Complaint::inside(it), false));
        }
        let wire = self.api.wire;
        let read = http::events(response, |data| {
            let words = answer.event(wire, data).map_err(|_| Broken::Garbage)?;
            if let Some(words) = words {
                stream.push(words);
            }
            Ok(answer.over)
        });
        let read = read.await;
        self.outcome(read, answer)
    }

    /// Decides at the end of a stream whether the response is complete.
    fn outcome(&self, read: Result<Option<usize>, Broken>, answer: &Answer) -> Result<(), Lost> {
        let spoke = !answer.text.is_empty();
        if let Some(error) = &answer.error {
            return Err(self.complained(&Complaint::inside(error), spoke));
        }
        if let Some(why) = &answer.refused {
            let why = if why.is_empty() { "the model declined to answer" } else { why };
            return Err(self.lost(FailureKind::Refused, why));
        }
        let broke_off = || {
            let length = answer.text.chars().count();
            let note = format!("the answer broke off after {length} characters");
            Lost { again: !spoke, ..self.lost(FailureKind::Crashed, &note) }
        };
        match read {
            // A connection lost after the final event does no harm.
            Ok(Some(1..)) | Err(Broken::Lost(_)) if answer.ended => {}
            Ok(Some(0)) => {
                return Err(
                    self.lost(FailureKind::Unreadable, "what it sent is no stream of events")
                );
            }
            Err(broken @ (Broken::Flood | Broken::Garbage)) => {
                return Err(self.lost(FailureKind::Unreadable, &broken.to_string()));
            }
            _ => return Err(broke_off()),
        }
        if answer.text.trim().is_empty() {
            let note = if answer.cut {
                let name = self.name;
                format!(
                    "its limit of tokens was used up by thinking (raise `max_tokens` of `apis.{name}`)"
                )
            } else {
                "it answered with nothing".into()
            };
            return Err(self.lost(FailureKind::Empty, &note));
        }
        Ok(())
    }

    /// The first model a local server lists that is no embedding model.
    async fn first_model(&self) -> Result<String, TurnFailure> {
        let (name, place) = (self.name, shown(&self.address));
        let nameless = |why: String| {
            let note = format!("{why} (name one, as in `{name}:MODEL`)");
            self.lost(FailureKind::UnknownModel, &note).failure
        };
        if !self.api.tells_models() {
            return Err(nameless("no model is asked for".into()));
        }
        let response = http::send(self.request("models", None))
            .await
            .map_err(|it| self.unheard(&it).failure)?;
        if !response.status().is_success() {
            return Err(self.complained(&http::complaint(response).await, false).failure);
        }
        let list = http::whole(response, LIST).await.unwrap_or_default();
        let list: Value = serde_json::from_str(&list).unwrap_or(Value::Null);
        let mut models = list["data"].as_array().into_iter().flatten();
        let speaks = |id: &&str| !id.is_empty() && !id.to_lowercase().contains("embed");
        let first = models.find_map(|model| model["id"].as_str().filter(speaks));
        first.map(Into::into).ok_or_else(|| nameless(format!("no model is loaded at {place}")))
    }

    /// Failure for a transport error before any response.
    fn unheard(&self, broken: &Broken) -> Lost {
        match broken {
            Broken::Silent(why) => {
                self.lost(FailureKind::NotFound, &self.api.silent(&self.address, &short(why)))
            }
            other => {
                let note = format!("the connection was lost before it answered: {other}");
                Lost { again: true, ..self.lost(FailureKind::Crashed, &note) }
            }
        }
    }

    /// Failure for an error reported by the service, with a hint.
    fn complained(&self, complaint: &Complaint, spoke: bool) -> Lost {
        let trouble = complaint.trouble();
        let said: String = self.clean(&complaint.said).chars().take(COMPLAINT).collect();
        let why = match (complaint.status, said.as_str()) {
            (Some(status), "") => format!("HTTP {status}"),
            (Some(status), said) => format!("{status}: {said}"),
            (None, "") => "it failed without saying why".into(),
            (None, said) => said.into(),
        };
        let name = self.name;
        let step = match (trouble, complaint.retry_ms) {
            (FailureKind::NotLoggedIn, _) => self.api.unwelcome(name),
            (FailureKind::UnknownModel, _) => {
                format!(
                    "name another model, as in `{name}:MODEL`, or look at the `url` of `apis.{name}`"
                )
            }
            _ if matches!(complaint.status, Some(300..400)) => {
                format!("it has moved; set the `url` of `apis.{name}`")
            }
            (trouble, wait) => usual_step(trouble, wait),
        };
        let mut lost = self.lost_with(trouble, &why, &step);
        lost.again = complaint.passes() && !spoke;
        lost.schema = complaint.about_schema() && !spoke;
        lost.failure.retry_ms = complaint.retry_ms.filter(|_| complaint.passes());
        lost
    }

    fn lost(&self, trouble: FailureKind, why: &str) -> Lost {
        self.lost_with(trouble, why, &usual_step(trouble, None))
    }

    fn lost_with(&self, trouble: FailureKind, why: &str, step: &str) -> Lost {
        let failure = TurnFailure::new(trouble, with_step(self.clean(why), step));
        Lost { failure, again: false, schema: false }
    }

    /// Text on one line, with the key and secret headers removed.
    fn clean(&self, text: &str) -> String {
        let own = self.api.headers.values().map(|Secret(value)| value.as_str());
        let mut text = text.to_owned();
        for secret in self.key.into_iter().chain(own).filter(|secret| !secret.is_empty()) {
            text = text.replace(secret, "…");
        }
        short(&text)
    }
}
