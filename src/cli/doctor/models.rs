//! Checks of models: installed, logged in and, with `--probe`, responding to a test prompt.
use super::diagnosis::Diagnosis;
use crate::engine::ProviderInfo;

pub(super) fn check_models(providers: &[ProviderInfo]) -> Vec<Diagnosis> {
    let (playable, unplayable): (Vec<&ProviderInfo>, Vec<&ProviderInfo>) = providers
        .iter()
        .filter(|it| it.reached.is_some() || !it.playable)
        .partition(|it| it.playable);
    let model_count = playable.iter().filter(|it| it.model).count();
    let mut diagnoses: Vec<Diagnosis> = playable.into_iter().map(check_model).collect();
    let names: Vec<String> = unplayable.iter().map(|it| it.seat.clone()).collect();
    if !names.is_empty() {
        let message = format!("cannot play here: {}", names.join(", "));
        diagnoses
            .push(Diagnosis::ok("models", message).with_hint("debate models says what each needs"));
    }
    if model_count == 0 {
        let message =
            "no model CLI was found, so the model of your client plays every seat".to_owned();
        let hint = "npm install -g @openai/codex, or any other that `debate models` lists";
        diagnoses.push(Diagnosis::ok("models", message).with_hint(hint));
    }
    diagnoses
}

fn check_model(provider: &ProviderInfo) -> Diagnosis {
    let name = format!("model {}", provider.seat);
    let version = provider.version.as_ref().map(|version| format!("version {version}"));
    let facts = [version, provider.login.clone(), provider.probe.clone(), provider.reached.clone()];
    let message = facts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match &provider.probe {
        Some(probe) if probe != "answers" => {
            Diagnosis::problem(&name, message, &format!("debate models --probe; {}", provider.note))
        }
        _ => Diagnosis::ok(&name, message),
    }
}
