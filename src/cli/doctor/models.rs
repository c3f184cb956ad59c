//! The models a seat can be played by: installed, logged in, and, if they are asked, answering.
use super::super::exit::Failed;
use super::Looked;
use crate::engine::{Desk, Listing};

pub(super) async fn models(probe: bool, desk: &Desk) -> Result<Vec<Looked>, Failed> {
    let listed = match desk.listing(probe).await {
        Ok(listed) => listed,
        // What is wrong with the configuration has been said.
        Err(_) => return Ok(vec![]),
    };
    let (able, unable): (Vec<Listing>, Vec<Listing>) = listed
        .into_iter()
        .filter(|it| it.reached.is_some() || !it.playable)
        .partition(|it| it.playable);
    let asked = able.iter().filter(|it| it.model).count();
    let mut looked: Vec<Looked> = able.iter().map(model).collect();
    let absent: Vec<String> = unable.iter().map(|it| it.seat.clone()).collect();
    if !absent.is_empty() {
        let says = format!("cannot play here: {}", absent.join(", "));
        looked.push(Looked::good("models", says).hint("debate models says what each needs"));
    }
    if asked == 0 {
        let says =
            "no model CLI was found, so the model of your client plays every seat".to_owned();
        let hint = "npm install -g @openai/codex, or any other that `debate models` lists";
        looked.push(Looked::good("models", says).hint(hint));
    }
    Ok(looked)
}

fn model(it: &Listing) -> Looked {
    let name = format!("model {}", it.seat);
    let version = it.version.as_ref().map(|version| format!("version {version}"));
    let known = [version, it.login.clone(), it.probe.clone(), it.reached.clone()];
    let says = known.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match &it.probe {
        Some(came) if came != "answers" => {
            Looked::bad(&name, says, &format!("debate models --probe; {}", it.note))
        }
        _ => Looked::good(&name, says),
    }
}
