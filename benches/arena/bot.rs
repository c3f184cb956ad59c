//! A bot of the load test: joins, polls, and speaks when it is its turn, until the debate ends.
use super::http::{HttpConnection, HttpResponse};
use super::options::LoadOptions;
use super::tally::Tally;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Delay before a retry after a failed request.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// A bot in one debate.
pub(super) struct Bot {
    index: usize,
    pub(super) debate: String,
    pub(super) name: String,
    key: String,
    /// Every speech sent, accepted or not.
    pub(super) sent: BTreeSet<String>,
    /// Speeches that the server has confirmed.
    pub(super) accepted: BTreeSet<String>,
    /// Body of the last poll response.
    pub(super) last_poll: Value,
}

impl Bot {
    pub(super) async fn join(
        index: usize,
        debate: &str,
        connection: &mut HttpConnection,
        tally: &Tally,
    ) -> Bot {
        let body = json!({"bot_name": format!("bot{index}"), "bot_uuid": format!("load-{index}"),
            "debate_id": debate});
        let started = Instant::now();
        let joined = connection.post("/api/debate/join", &[], &body).await.unwrap();
        assert_eq!(joined.status, 200, "joining: {}", joined.body);
        tally.record(&tally.join_times, started.elapsed());
        let text_field = |field: &str| joined.body[field].as_str().unwrap().to_owned();
        let (name, key, debate) =
            (text_field("bot_identifier"), text_field("debate_key"), text_field("debate_id"));
        let (sent, accepted) = (BTreeSet::new(), BTreeSet::new());
        Bot { index, debate, name, key, sent, accepted, last_poll: Value::Null }
    }

    /// Polls and speaks until the debate ends.
    pub(super) async fn play(
        mut self,
        options: Arc<LoadOptions>,
        port: u16,
        tally: Arc<Tally>,
    ) -> Bot {
        let mut connection = HttpConnection::new(port);
        // Spread the polls of all bots evenly over the interval.
        let offset = options.poll_interval.mul_f64(self.index as f64 * 0.618_034 % 1.0);
        tokio::time::sleep(offset).await;
        loop {
            let delay = match self.poll_and_speak(&mut connection, &options, &tally).await {
                Ok(true) => return self,
                Ok(false) => options.poll_interval,
                Err(_) => {
                    tally.failed_requests.fetch_add(1, Ordering::Relaxed);
                    connection.disconnect();
                    RETRY_DELAY.min(options.poll_interval)
                }
            };
            tokio::time::sleep(delay).await;
        }
    }

    /// Polls once, and speaks if it is its turn. Returns whether the debate has ended.
    async fn poll_and_speak(
        &mut self,
        connection: &mut HttpConnection,
        options: &LoadOptions,
        tally: &Tally,
    ) -> std::io::Result<bool> {
        let path = format!("/api/debate/{}/poll", self.debate);
        let started = Instant::now();
        let response = self.send(connection, options, &path, None).await?;
        if response.status != 200 {
            tally.record_refusal(&error_code(&response));
            return Ok(false);
        }
        tally.record(&tally.poll_times, started.elapsed());
        let response = response.body;
        if response["state"] == "ended" {
            self.last_poll = response;
            return Ok(true);
        }
        if response["state"] == "active" && response["next_speaker"] == self.name.as_str() {
            let text = speech_text(self.index, &response["current_round"]);
            let path = format!("/api/debate/{}/speech", self.debate);
            let body = json!({"message": {"format": "markdown", "content": text}});
            self.sent.insert(text.clone());
            let started = Instant::now();
            let speech_response = self.send(connection, options, &path, Some(&body)).await?;
            if speech_response.status == 200 {
                tally.record(&tally.speech_times, started.elapsed());
                if self.accepted.insert(text) {
                    tally.accepted_speeches.fetch_add(1, Ordering::Relaxed);
                }
            } else {
                tally.record_refusal(&error_code(&speech_response));
            }
        }
        Ok(false)
    }

    async fn send(
        &self,
        connection: &mut HttpConnection,
        options: &LoadOptions,
        path: &str,
        body: Option<&Value>,
    ) -> std::io::Result<HttpResponse> {
        if options.new_connections {
            connection.disconnect();
        }
        let headers =
            [("x-bot-identifier", self.name.as_str()), ("x-debate-key", self.key.as_str())];
        match body {
            Some(body) => connection.post(path, &headers, body).await,
            None => connection.get(path, &headers).await,
        }
    }
}

fn error_code(response: &HttpResponse) -> String {
    let name = response.body["error_code"].as_str().unwrap_or("no JSON");
    if response.status == 409 { name.to_owned() } else { format!("{} {name}", response.status) }
}

/// A speech of typical length, unique per bot and round.
fn speech_text(index: usize, round: &Value) -> String {
    let label = format!("no. {index}-{round}");
    let point = "**First**, what was measured speaks for it, and nobody has measured otherwise. ";
    format!("**Speech {label}**\n\n{}\n\nThis was speech {label}.", point.repeat(8))
}

/// First line of a speech, which identifies it.
pub(super) fn speech_label(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
