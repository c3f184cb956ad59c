//! A bot of the load test: joins, polls, and speaks when it is its turn, until the debate ends.
use super::http::{Answer, Line};
use super::options::Options;
use super::tally::Tally;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Delay before a retry after a failed request.
const AGAIN: Duration = Duration::from_millis(500);

/// A bot in one debate.
pub(super) struct Bot {
    nth: usize,
    pub(super) debate: String,
    pub(super) name: String,
    key: String,
    /// Every speech sent, accepted or not.
    pub(super) sent: BTreeSet<String>,
    /// Speeches that the server has confirmed.
    pub(super) taken: BTreeSet<String>,
    /// Body of the last poll response.
    pub(super) last: Value,
}

impl Bot {
    pub(super) async fn join(nth: usize, debate: &str, line: &mut Line, tally: &Tally) -> Bot {
        let body = json!({"bot_name": format!("bot{nth}"), "bot_uuid": format!("load-{nth}"),
            "debate_id": debate});
        let began = Instant::now();
        let joined = line.post("/api/debate/join", &[], &body).await.unwrap();
        assert_eq!(joined.status, 200, "joining: {}", joined.body);
        tally.note(&tally.joins, began.elapsed());
        let read = |field: &str| joined.body[field].as_str().unwrap().to_owned();
        let (name, key, debate) = (read("bot_identifier"), read("debate_key"), read("debate_id"));
        let (sent, taken) = (BTreeSet::new(), BTreeSet::new());
        Bot { nth, debate, name, key, sent, taken, last: Value::Null }
    }

    /// Polls and speaks until the debate ends.
    pub(super) async fn play(mut self, options: Arc<Options>, port: u16, tally: Arc<Tally>) -> Bot {
        let mut line = Line::to(port);
        // Spread the polls of all bots evenly over the interval.
        let phase = options.every.mul_f64(self.nth as f64 * 0.618_034 % 1.0);
        tokio::time::sleep(phase).await;
        loop {
            let pause = match self.turn(&mut line, &options, &tally).await {
                Ok(true) => return self,
                Ok(false) => options.every,
                Err(_) => {
                    tally.failed.fetch_add(1, Ordering::Relaxed);
                    line.hang_up();
                    AGAIN.min(options.every)
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Polls once, and speaks if it is its turn. Returns whether the debate has ended.
    async fn turn(
        &mut self,
        line: &mut Line,
        options: &Options,
        tally: &Tally,
    ) -> std::io::Result<bool> {
        let path = format!("/api/debate/{}/poll", self.debate);
        let began = Instant::now();
        let told = self.ask(line, options, &path, None).await?;
        if told.status != 200 {
            tally.refused(&code(&told));
            return Ok(false);
        }
        tally.note(&tally.polls, began.elapsed());
        let told = told.body;
        if told["state"] == "ended" {
            self.last = told;
            return Ok(true);
        }
        if told["state"] == "active" && told["next_speaker"] == self.name.as_str() {
            let text = speech(self.nth, &told["current_round"]);
            let path = format!("/api/debate/{}/speech", self.debate);
            let body = json!({"message": {"format": "markdown", "content": text}});
            self.sent.insert(text.clone());
            let began = Instant::now();
            let answer = self.ask(line, options, &path, Some(&body)).await?;
            if answer.status == 200 {
                tally.note(&tally.speeches, began.elapsed());
                if self.taken.insert(text) {
                    tally.taken.fetch_add(1, Ordering::Relaxed);
                }
            } else {
                tally.refused(&code(&answer));
            }
        }
        Ok(false)
    }

    async fn ask(
        &self,
        line: &mut Line,
        options: &Options,
        path: &str,
        body: Option<&Value>,
    ) -> std::io::Result<Answer> {
        if options.fresh {
            line.hang_up();
        }
        let headers =
            [("x-bot-identifier", self.name.as_str()), ("x-debate-key", self.key.as_str())];
        match body {
            Some(body) => line.post(path, &headers, body).await,
            None => line.get(path, &headers).await,
        }
    }
}

fn code(answer: &Answer) -> String {
    let name = answer.body["error_code"].as_str().unwrap_or("no JSON");
    if answer.status == 409 { name.to_owned() } else { format!("{} {name}", answer.status) }
}

/// A speech of typical length, unique per bot and round.
fn speech(nth: usize, round: &Value) -> String {
    let number = format!("no. {nth}-{round}");
    let point = "**First**, what was measured speaks for it, and nobody has measured otherwise. ";
    format!("**Speech {number}**\n\n{}\n\nThis was speech {number}.", point.repeat(8))
}

/// First line of a speech, which identifies it.
pub(super) fn number(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
