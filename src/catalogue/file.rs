//! Parser of format files (TOML). A format either defines its own acts, or extends a `base` format
//! with a focus on one kind of question.
use super::sound;
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
struct Written {
    #[serde(default)]
    name: Option<String>,
    about: String,
    /// Format to take acts and prompts from.
    #[serde(default)]
    base: Option<String>,
    /// Instruction for all seats on what to look at.
    #[serde(default)]
    focus: String,
    #[serde(default)]
    rounds: Option<Span>,
    #[serde(default)]
    confirm_plan: Option<bool>,
    #[serde(default)]
    impartial_judge: Option<bool>,
    #[serde(default)]
    acts: Vec<WrittenAct>,
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    /// What listeners of each audience type care about.
    #[serde(default)]
    audience: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    least: u8,
    most: u8,
    usual: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAct {
    name: String,
    rounds: Rounds,
    phases: Vec<WrittenPhase>,
}

/// A phase. Optional fields have the values most phases use.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPhase {
    name: String,
    speakers: Named,
    reply: ReplyKind,
    #[serde(default = "in_turn")]
    order: SpeakingOrder,
    #[serde(default = "speeches")]
    hears: TranscriptScope,
    #[serde(default = "one")]
    quorum: Quorum,
    #[serde(default = "go_on")]
    short: Shortfall,
    #[serde(default)]
    rules: BTreeMap<Rule, RuleWeight>,
    #[serde(default)]
    web: bool,
}

/// Either a list of roles, or another kind of speakers.
#[derive(Deserialize)]
#[serde(untagged)]
enum Named {
    Roles(Vec<Role>),
    Others(Speakers),
}

fn in_turn() -> SpeakingOrder {
    SpeakingOrder::InTurn
}

fn speeches() -> TranscriptScope {
    TranscriptScope::Speeches
}

fn one() -> Quorum {
    Quorum::One
}

fn go_on() -> Shortfall {
    Shortfall::GoOn
}

/// Parses and validates a format file, given the formats it can extend. Also returns the name of
/// its base format.
pub(super) fn read(
    name: &str,
    text: &str,
    known: &[CatalogEntry],
) -> Result<(Option<String>, CatalogEntry), String> {
    let written: Written = toml::from_str(text).map_err(|error| {
        let before = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.get(..before).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line}: {}", error.message().replace('\n', " "))
    })?;
    sound::name(name, written.name.as_deref(), known)?;
    let base = match (&written.base, written.acts.is_empty()) {
        (Some(base), true) => {
            let found = known.iter().find(|offering| offering.name() == base);
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
    let span = match (written.rounds, base) {
        (Some(span), _) => span,
        (None, Some(base)) => {
            let rounds = &base.offer.rounds;
            Span { least: *rounds.start(), most: *rounds.end(), usual: base.offer.default_rounds }
        }
        (None, None) => Span { least: 1, most: 5, usual: 2 },
    };
    let acts = match base {
        Some(base) => base.offer.format.acts.clone(),
        None => written.acts.into_iter().map(act).collect(),
    };
    let mut prompts = match base.or(known.first()) {
        Some(base) if written.base.is_some() => base.prompts.clone(),
        // The prompts all formats share: replies, retries and reviews.
        Some(first) => {
            let common = first.prompts.iter().filter(|(name, _)| {
                name.starts_with("reply.") || ["again", "review"].contains(&name.as_str())
            });
            common.map(|(name, words)| (name.clone(), words.clone())).collect()
        }
        None => BTreeMap::new(),
    };
    prompts.extend(written.prompts);
    let listeners = written.audience.into_iter();
    prompts.extend(listeners.map(|(kind, words)| (format!("audience.{kind}"), words)));
    if !written.focus.trim().is_empty() {
        prompts.insert("focus".into(), written.focus);
    }
    let offer = FormatOffer {
        format: Format { name: name.into(), acts },
        about: written.about.split_whitespace().collect::<Vec<_>>().join(" "),
        rounds: span.least..=span.most,
        default_rounds: span.usual,
        speech_chars: base.map_or(DEFAULT_SPEECH_CHARS, |base| base.offer.speech_chars.clone()),
        confirm_plan: written
            .confirm_plan
            .unwrap_or(base.is_some_and(|base| base.offer.confirm_plan)),
        default_audience: base.is_none_or(|base| base.offer.default_audience),
        impartial_judge: written
            .impartial_judge
            .unwrap_or(base.is_some_and(|base| base.offer.impartial_judge)),
    };
    let offering = CatalogEntry { offer, prompts, source: FormatSource::Builtin };
    sound::check(&offering)?;
    Ok((written.base, offering))
}

fn act(written: WrittenAct) -> Act {
    let phases = written.phases.into_iter().map(phase).collect();
    Act { name: written.name, rounds: written.rounds, phases }
}

fn phase(row: WrittenPhase) -> Phase {
    let speakers = match row.speakers {
        Named::Roles(roles) => Speakers::Seated(roles),
        Named::Others(speakers) => speakers,
    };
    Phase {
        name: row.name,
        speakers,
        order: row.order,
        hears: row.hears,
        reply: row.reply,
        quorum: row.quorum,
        short: row.short,
        rules: row.rules.into_iter().collect(),
        web: row.web,
    }
}
