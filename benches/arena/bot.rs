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
        nth: usize,
        debate: &str,
        line: &mut HttpConnection,
        tally: &Tally,
    ) -> Bot {
        let body = json!({"bot_name": format!("bot{nth}"), "bot_uuid": format!("load-{nth}"),
            "debate_id": debate});
        let began = Instant::now();
        let joined = line.post("/api/debate/join", &[], &body).await.unwrap();
        assert_eq!(joined.status, 200, "joining: {}", joined.body);
        tally.record(&tally.join_times, began.elapsed());
        let read = |field: &str| joined.body[field].as_str().unwrap().to_owned();
        let (name, key, debate) = (read("bot_identifier"), read("debate_key"), read("debate_id"));
        let (sent, taken) = (BTreeSet::new(), BTreeSet::new());
        Bot { index: nth, debate, name, key, sent, accepted: taken, last_poll: Value::Null }
    }

    /// Polls and speaks until the debate ends.
    pub(super) async fn play(
        mut self,
        options: Arc<LoadOptions>,
        port: u16,
        tally: Arc<Tally>,
    ) -> Bot {
        let mut line = HttpConnection::new(port);
        // Spread the polls of all bots evenly over the interval.
        let phase = options.poll_interval.mul_f64(self.index as f64 * 0.618_034 % 1.0);
        tokio::time::sleep(phase).await;
        loop {
            let pause = match self.poll_and_speak(&mut line, &options, &tally).await {
                Ok(true) => return self,
                Ok(false) => options.poll_interval,
                Err(_) => {
                    tally.failed_requests.fetch_add(1, Ordering::Relaxed);
                    line.disconnect();
                    RETRY_DELAY.min(options.poll_interval)
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Polls once, and speaks if it is its turn. Returns whether the debate has ended.
    async fn poll_and_speak(
        &mut self,
        line: &mut HttpConnection,
        options: &LoadOptions,
        tally: &Tally,
    ) -> std::io::Result<bool> {
        let path = format!("/api/debate/{}/poll", self.debate);
        let began = Instant::now();
        let told = self.send(line, options, &path, None).await?;
        if told.status != 200 {
            tally.record_refusal(&error_code(&told));
            return Ok(false);
        }
        tally.record(&tally.poll_times, began.elapsed());
        let told = told.body;
        if told["state"] == "ended" {
            self.last_poll = told;
            return Ok(true);
        }
        if told["state"] == "active" && told["next_speaker"] == self.name.as_str() {
            let text = speech_text(self.index, &told["current_round"]);
            let path = format!("/api/debate/{}/speech", self.debate);
            let body = json!({"message": {"format": "markdown", "content": text}});
            self.sent.insert(text.clone());
            let began = Instant::now();
            let answer = self.send(line, options, &path, Some(&body)).await?;
            if answer.status == 200 {
                tally.record(&tally.speech_times, began.elapsed());
                if self.accepted.insert(text) {
                    tally.accepted_speeches.fetch_add(1, Ordering::Relaxed);
                }
            } else {
                tally.record_refusal(&error_code(&answer));
            }
        }
        Ok(false)
    }

    async fn send(
        &self,
        line: &mut HttpConnection,
        options: &LoadOptions,
        path: &str,
        body: Option<&Value>,
    ) -> std::io::Result<HttpResponse> {
        if options.new_connections {
            line.disconnect();
        }
        let headers =
            [("x-bot-identifier", self.name.as_str()), ("x-debate-key", self.key.as_str())];
        match body {
            Some(body) => line.post(path, &headers, body).await,
            None => line.get(path, &headers).await,
        }
    }
}

fn error_code(answer: &HttpResponse) -> String {
    let name = answer.body["error_code"].as_str().unwrap_or("no JSON");
    if answer.status == 409 { name.to_owned() } else { format!("{} {name}", answer.status) }
}

/// A speech of typical length, unique per bot and round.
fn speech_text(nth: usize, round: &Value) -> String {
    let number = format!("no. {nth}-{round}");
    let point = "**First**, what was measured speaks for it, and nobody has measured otherwise. ";
    format!("**Speech {number}**\n\n{}\n\nThis was speech {number}.", point.repeat(8))
}

/// First line of a speech, which identifies it.
pub(super) fn speech_label(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
