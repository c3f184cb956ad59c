//! Watching debates in a browser while they are played elsewhere.
use crate::browser::{View, chromium, play};
use crate::lab::{Lab, Running, Script, speech, until};
use serde_json::{Value, json};

/// Words enough to be seen coming, and a way to be told apart.
fn long(about: &str) -> String {
    let words: Vec<String> = (1..=60).map(|nth| format!("word {nth} about {about}")).collect();
    words.join(", ")
}

/// A debate in which the opening takes its time, and everything after waits for a file.
struct Slow {
    lab: Lab,
    running: Running,
    id: String,
}

impl Slow {
    fn begin(delay: u64) -> Slow {
        let lab = Lab::new();
        let script = Script::new()
            .first(json!({"phase": "propose", "delay_ms": delay,
                "text": speech(&long("files"), "P1", &[])}))
            .first(json!({"phase": "challenge", "delay_ms": delay,
                "text": speech(&long("locks"), "C1", &["P1"])}));
        lab.write(&script);
        let running = lab.run("One file or a database?", &["--rounds", "2"]).start();
        let mut id = String::new();
        until("the debate is open", || {
            let listed = lab.debate(&["list", "--json"]).success().json();
            id = listed["debates"][0]["id"].as_str().unwrap_or_default().to_owned();
            !id.is_empty()
        });
        Slow { lab, running, id }
    }

    /// The elements every turn has on the page.
    fn turns(&self) -> Vec<String> {
        let taken = self.lab.turns_taken(&self.id);
        taken.keys().map(|turn| format!("turn-{}", turn.replace('.', "-"))).collect()
    }

    /// Every turn was seen, once.
    #[track_caller]
    fn all_seen(&self, seen: &Value) {
        let seen: Vec<&str> =
            seen.as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        let mut seen: Vec<&str> = seen.into_iter().filter(|id| id.starts_with("turn-")).collect();
        seen.sort_unstable();
        assert_eq!(seen, self.turns());
    }
}

#[test]
fn a_debate_played_by_another_process_is_watched_word_by_word() {
    let Some(tools) = chromium() else { return };
    let slow = Slow::begin(6_000);
    let view = View::at(&slow.lab, None);
    let stage = json!({"url": view.url, "id": slow.id});
    let seen = play(&tools, "live", stage, |_| Value::Null);
    slow.all_seen(&seen["ids"]);
}

#[test]
fn a_server_that_comes_back_neither_loses_nor_repeats_a_turn() {
    let Some(tools) = chromium() else { return };
    let slow = Slow::begin(2_500);
    let view = View::at(&slow.lab, None);
    let (port, stage) = (view.port(), json!({"url": view.url, "id": slow.id}));
    let mut view = Some(view);
    let seen = play(&tools, "reconnect", stage, |ask| {
        match ask {
            "kill" => view.take().unwrap().kill(),
            "happens meanwhile" => {
                until("somebody has spoken unseen", || slow.lab.turns_taken(&slow.id).len() >= 2)
            }
            "restart" => view = Some(View::at(&slow.lab, Some(&port))),
            _ => {}
        }
        Value::Null
    });
    slow.all_seen(&seen["ids"]);
    slow.all_seen(&seen["came"]);
}
