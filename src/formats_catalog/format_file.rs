//! Parser of format files (TOML): the templates embedded in the binary and the user's own files. A
//! format either defines its own acts, or extends a `base` format, for example with a focus on one
//! kind of question. The entry point is [`parse`], called by `formats_catalog::load` for each file.
use super::validate;
use crate::debate::formats::{DEFAULT_SPEECH_CHARS, FormatOffer};
use crate::debate::{
    Act, Format, Phase, Quorum, ReplyKind, Role, Rounds, Rule, RuleWeight, Shortfall, Speakers,
    SpeakingOrder, TranscriptScope,
};
use crate::engine::format_catalog::{CatalogEntry, FormatSource};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Schema of a format file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatFile {
    #[serde(default)]
    name: Option<String>,
    about: String,
    /// Format to take acts and prompts from.
    #[serde(default)]
    base: Option<String>,
    /// What debaters and judge must look at. Becomes the prompt `focus`.
    #[serde(default)]
    focus: String,
    #[serde(default)]
    rounds: Option<RoundsRange>,
    /// Whether the user confirms the plan first, by default.
    #[serde(default)]
    confirm_plan: Option<bool>,
    /// Whether the judge must be a different model than the debaters.
    #[serde(default)]
    impartial_judge: Option<bool>,
    #[serde(default)]
    acts: Vec<FormatFileAct>,
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    /// What listeners of each audience type care about.
    #[serde(default)]
    audience: BTreeMap<String, String>,
}

/// Allowed numbers of rounds, and the default.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoundsRange {
    least: u8,
    most: u8,
    usual: u8,
}

/// Rounds of a format that has neither `base` nor `rounds`.
const DEFAULT_ROUNDS: RoundsRange = RoundsRange { least: 1, most: 5, usual: 2 };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatFileAct {
    name: String,
    rounds: Rounds,
    phases: Vec<FormatFilePhase>,
}

/// A phase of an act. By default its speakers speak in turn and hear all speeches, one reply is
/// enough, and the debate goes on without any. The fields are documented at [`Phase`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatFilePhase {
    name: String,
    speakers: SpeakersField,
    reply: ReplyKind,
    #[serde(default = "default_order")]
    order: SpeakingOrder,
    #[serde(default = "default_hears")]
    hears: TranscriptScope,
    #[serde(default = "default_quorum")]
    quorum: Quorum,
    #[serde(default = "default_shortfall")]
    short: Shortfall,
    #[serde(default)]
    rules: BTreeMap<Rule, RuleWeight>,
    #[serde(default)]
    web: bool,
}

/// Either a list of roles, or one of the other variants of [`Speakers`].
#[derive(Deserialize)]
#[serde(untagged)]
enum SpeakersField {
    Roles(Vec<Role>),
    Special(Speakers),
}

fn default_order() -> SpeakingOrder {
    SpeakingOrder::InTurn
}

fn default_hears() -> TranscriptScope {
    TranscriptScope::Speeches
}

fn default_quorum() -> Quorum {
    Quorum::One
}

fn default_shortfall() -> Shortfall {
    Shortfall::GoOn
}

/// Parses and validates a format file, given the formats it can extend. Also returns the name of
/// its base format.
pub(super) fn parse(
    name: &str,
    text: &str,
    known: &[CatalogEntry],
) -> Result<(Option<String>, CatalogEntry), String> {
    let file: FormatFile = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.get(..offset).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line}: {}", error.message().replace('\n', " "))
    })?;
    validate::validate_name(name, file.name.as_deref(), known)?;
    let base = match (&file.base, file.acts.is_empty()) {
        (Some(base), true) => {
            let found = known.iter().find(|entry| entry.name() == base);
            let names = || known.iter().map(CatalogEntry::name).collect::<Vec<_>>().join(", ");
            Some(
                found.ok_or_else(|| {
                    format!("there is no `base` format `{base}`; known: {}", names())
                })?,
            )
        }
        (None, false) => None,
        (Some(_), false) => {
            return Err("it has both `base` and `acts`; one of them is enough".into());
        }
        (None, true) => return Err("it has neither `acts` nor a `base` to take them from".into()),
    };
    let span = match (file.rounds, base) {
        (Some(span), _) => span,
        (None, Some(base)) => {
            let rounds = &base.offer.rounds;
            RoundsRange {
                least: *rounds.start(),
                most: *rounds.end(),
                usual: base.offer.default_rounds,
            }
        }
        (None, None) => DEFAULT_ROUNDS,
    };
    let acts = match base {
        Some(base) => base.offer.format.acts.clone(),
        None => file.acts.into_iter().map(build_act).collect(),
    };
    let mut prompts = match base.or(known.first()) {
        Some(base) if file.base.is_some() => base.prompts.clone(),
        // The prompts all formats share: replies, retries and reviews.
        Some(first) => {
            let common = first.prompts.iter().filter(|(name, _)| {
                name.starts_with("reply.") || ["again", "review"].contains(&name.as_str())
            });
            common.map(|(name, prompt)| (name.clone(), prompt.clone())).collect()
        }
        None => BTreeMap::new(),
    };
    prompts.extend(file.prompts);
    let listeners = file.audience.into_iter();
    prompts.extend(listeners.map(|(kind, prompt)| (format!("audience.{kind}"), prompt)));
    if !file.focus.trim().is_empty() {
        prompts.insert("focus".into(), file.focus);
    }
    let offer = FormatOffer {
        format: Format { name: name.into(), acts },
        about: file.about.split_whitespace().collect::<Vec<_>>().join(" "),
        rounds: span.least..=span.most,
        default_rounds: span.usual,
        speech_chars: base.map_or(DEFAULT_SPEECH_CHARS, |base| base.offer.speech_chars.clone()),
        confirm_plan: file.confirm_plan.unwrap_or(base.is_some_and(|base| base.offer.confirm_plan)),
        default_audience: base.is_none_or(|base| base.offer.default_audience),
        impartial_judge: file
            .impartial_judge
            .unwrap_or(base.is_some_and(|base| base.offer.impartial_judge)),
    };
    let entry = CatalogEntry { offer, prompts, source: FormatSource::Builtin };
    validate::validate(&entry)?;
    Ok((file.base, entry))
}

fn build_act(act: FormatFileAct) -> Act {
    let phases = act.phases.into_iter().map(build_phase).collect();
    Act { name: act.name, rounds: act.rounds, phases }
}

fn build_phase(phase: FormatFilePhase) -> Phase {
    let speakers = match phase.speakers {
        SpeakersField::Roles(roles) => Speakers::Seated(roles),
        SpeakersField::Special(speakers) => speakers,
    };
    Phase {
        name: phase.name,
        speakers,
        order: phase.order,
        hears: phase.hears,
        reply: phase.reply,
        quorum: phase.quorum,
        short: phase.short,
        rules: phase.rules.into_iter().collect(),
        web: phase.web,
    }
}
