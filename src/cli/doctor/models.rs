//! Checks of models: installed, logged in and, with `--probe`, responding to a test prompt.
use super::Diagnosis;
use crate::engine::ProviderInfo;

pub(super) fn check_models(listed: &[ProviderInfo]) -> Vec<Diagnosis> {
    let (able, unable): (Vec<&ProviderInfo>, Vec<&ProviderInfo>) =
        listed.iter().filter(|it| it.reached.is_some() || !it.playable).partition(|it| it.playable);
    let asked = able.iter().filter(|it| it.model).count();
    let mut looked: Vec<Diagnosis> = able.into_iter().map(check_model).collect();
    let absent: Vec<String> = unable.iter().map(|it| it.seat.clone()).collect();
    if !absent.is_empty() {
        let says = format!("cannot play here: {}", absent.join(", "));
        looked.push(Diagnosis::ok("models", says).with_hint("debate models says what each needs"));
    }
    if asked == 0 {
        let says =
            "no model CLI was found, so the model of your client plays every seat".to_owned();
        let hint = "npm install -g @openai/codex, or any other that `debate models` lists";
        looked.push(Diagnosis::ok("models", says).with_hint(hint));
    }
    looked
}

fn check_model(it: &ProviderInfo) -> Diagnosis {
    let name = format!("model {}", it.seat);
    let version = it.version.as_ref().map(|version| format!("version {version}"));
    let known = [version, it.login.clone(), it.probe.clone(), it.reached.clone()];
    let says = known.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match &it.probe {
        Some(came) if came != "answers" => {
            Diagnosis::problem(&name, says, &format!("debate models --probe; {}", it.note))
        }
        _ => Diagnosis::ok(&name, says),
    }
}
