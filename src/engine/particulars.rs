//! What a format may be told besides the question and who argues it, as users write it at any door.
use super::catalogue::Offering;
use super::dense;
use super::desk::{Desk, DeskError};
use super::oneline::{self, OneLine};
use super::opening::{Opening, found_again};
use super::preflight::Wish;
use crate::debate::language::{self, Language};
use crate::debate::{Role, Voice};
use serde::Deserialize;
use std::path::Path;

/// All of it may be left out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Particulars {
    /// Two to four stances, where a format researches some.
    pub roles: Vec<WantedRole>,
    /// Who speaks for whoever has nobody of its own.
    pub model: Option<String>,
    /// Who rules, if it is more than one.
    pub judges: Vec<String>,
    /// Who else questions whoever leads.
    pub partners: Vec<String>,
    /// Who listens and votes; one of each type, if nobody says.
    pub listeners: Option<Vec<WantedListener>>,
    /// What those who argue for and against are to hold.
    pub stances: Both,
    /// How they are to argue.
    pub styles: Both,
    /// The question behind the topic.
    pub goal: Option<String>,
    /// Who reads the result: `self`, `team`, `public`.
    pub audience: Option<String>,
    /// `personal-choice`, `team-standardization`, `market-analysis`.
    pub decision_type: Option<String>,
    /// `auto`, `true`, `false`.
    pub evidence_round: Option<Flag>,
    /// What the judge counts beside the audience, and the audience beside the judge.
    pub judge_share: Option<f64>,
    /// One of the two is enough; both must come to one.
    pub audience_share: Option<f64>,
    /// Whether one of those who argue may judge in spite of a format that forbids it.
    pub same_judge: bool,
    /// Where the finished report is written, too.
    pub output_path: Option<String>,
}

/// One of the stances.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedRole {
    /// What it is called.
    pub name: String,
    /// What it argues for.
    pub stance: String,
    /// Who argues it.
    #[serde(default)]
    pub model: Option<String>,
}

/// Somebody who listens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedListener {
    /// One of the types there are.
    #[serde(rename = "type")]
    pub kind: String,
    /// Who it is.
    #[serde(default)]
    pub model: Option<String>,
    /// What its vote counts.
    #[serde(default)]
    pub weight: Option<u16>,
}

/// Something for each side.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Both {
    /// For the side for.
    #[serde(alias = "proposer")]
    pub pro: String,
    /// For the side against.
    #[serde(alias = "challenger")]
    pub con: String,
}

/// Yes, no, or as the topic asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub enum Flag {
    /// Yes.
    On,
    /// No.
    Off,
    /// Yes, if the topic asks for what can be measured; in doubt, no.
    Auto,
}

impl TryFrom<serde_json::Value> for Flag {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Flag, String> {
        match value {
            serde_json::Value::Bool(true) => Ok(Flag::On),
            serde_json::Value::Bool(false) => Ok(Flag::Off),
            serde_json::Value::String(word) => word.parse(),
            other => Err(format!("`evidence_round` is {other}; it is auto, true or false")),
        }
    }
}

impl std::str::FromStr for Flag {
    type Err = String;

    fn from_str(word: &str) -> Result<Flag, String> {
        match word {
            "true" | "on" | "yes" => Ok(Flag::On),
            "false" | "off" | "no" => Ok(Flag::Off),
            "auto" => Ok(Flag::Auto),
            other => Err(format!("`{other}` is not auto, true or false")),
        }
    }
}

/// Who is wanted, before anybody is seated for those nobody was named for.
#[derive(Clone, Debug, Default)]
pub struct WantedCast {
    /// Name, stance, and who argues it.
    pub roles: Vec<(String, String, Option<Voice>)>,
    /// Type, what the vote counts, and who it is.
    pub listeners: Vec<(String, u16, Option<Voice>)>,
    /// Who else rules.
    pub panel: Vec<Voice>,
    /// Who else questions whoever leads.
    pub partners: Vec<Voice>,
    /// Whether somebody is wanted who fits the topic, to question whoever leads.
    pub partnered: bool,
    /// Whether those who argue may be the same.
    pub alike: bool,
}

const READERS: &[&str] = &["self", "team", "public"];
const DECISIONS: &[&str] = &["personal-choice", "team-standardization", "market-analysis"];

impl Desk {
    /// The draft and the wish, with all that was said about this format in them. What does not
    /// belong to the format is refused, so that nobody waits for what will not come.
    pub fn particulars(
        &self,
        said: Particulars,
        draft: Opening,
        wish: Wish,
        folder: &Path,
    ) -> Result<(Opening, Wish), DeskError> {
        let offering = self.catalogue.offered(&draft.format)?.clone();
        fits(&said, &offering)?;
        let (mut draft, mut wish) = (draft, wish);
        let voice = |word: &str| self.named(word, folder);
        let seats = |role: Role| offering.offer.format.seats(role);
        if let Some(model) = said.model.as_deref() {
            let model = voice(model)?;
            let own = &mut wish.named;
            for seat in [&mut own.proposer, &mut own.challenger, &mut own.judge] {
                seat.get_or_insert_with(|| model.clone());
            }
        }
        let mut judges = said.judges.iter().map(|word| voice(word));
        if let Some(first) = judges.next() {
            wish.named.judge = Some(first?);
            wish.cast.panel = judges.collect::<Result<_, _>>()?;
        }
        wish.cast.partners =
            said.partners.iter().map(|word| voice(word)).collect::<Result<_, _>>()?;
        wish.cast.partnered = seats(Role::Partner);
        wish.cast.alike = !seats(Role::Pro);
        if seats(Role::Advocate) {
            self.stances(&said, &mut draft, &mut wish, folder)?;
            draft.terms.insert("goal".into(), said.goal.clone().unwrap_or_default());
            let readers = word("audience", said.audience.as_deref(), READERS)?;
            draft.terms.insert("audience".into(), readers);
            let decision = word("decision_type", said.decision_type.as_deref(), DECISIONS)?;
            draft.terms.insert("decision_type".into(), decision);
        }
        if seats(Role::Auditor) {
            let (on, why) = audit(said.evidence_round.unwrap_or(Flag::Auto), &draft.topic);
            draft.audited = on;
            draft.terms.insert("evidence_round".into(), why);
        }
        if seats(Role::Audience) {
            let usual = || offering.listeners().map(|kind| (kind.to_owned(), 1, None)).collect();
            wish.cast.listeners = match said.listeners {
                None if offering.offer.crowd => usual(),
                None => vec![],
                Some(all) => all
                    .into_iter()
                    .map(|it| {
                        let model = it.model.as_deref().map(voice).transpose()?;
                        let weight = it.weight.unwrap_or(1);
                        if weight == 0 {
                            let why = format!("`{}` would vote with no weight", it.kind);
                            return Err(DeskError::Cast(format!("{why}; leave it out instead")));
                        }
                        Ok((it.kind, weight, model))
                    })
                    .collect::<Result<_, DeskError>>()?,
            };
            draft.judge_share = shares(said.judge_share, said.audience_share)?;
        }
        if let Some(model) = said.model.as_deref() {
            let model = voice(model)?;
            let roles = wish.cast.roles.iter_mut().map(|role| &mut role.2);
            for seat in roles.chain(wish.cast.listeners.iter_mut().map(|it| &mut it.2)) {
                seat.get_or_insert_with(|| model.clone());
            }
        }
        draft.stances = [said.stances.pro, said.stances.con];
        draft.styles = [said.styles.pro, said.styles.con];
        draft.same_judge = said.same_judge;
        draft.output = said.output_path.filter(|path| !path.trim().is_empty());
        Ok((draft, wish))
    }

    /// The stances, from what was said or from a topic such as `X vs Y (model-a, model-b)`.
    fn stances(
        &self,
        said: &Particulars,
        draft: &mut Opening,
        wish: &mut Wish,
        folder: &Path,
    ) -> Result<(), DeskError> {
        let OneLine { topic, models, sides } = oneline::read(&draft.topic);
        // What is in parentheses may be anything: only those who are known are taken for models.
        let mut in_topic = vec![];
        if !models.is_empty() && models.iter().all(|word| self.knows(word)) {
            let voices = models.iter().map(|word| self.named(word, folder));
            in_topic = voices.collect::<Result<_, _>>()?;
            draft.topic = topic;
        }
        let mut roles: Vec<(String, String, Option<Voice>)> = vec![];
        for role in &said.roles {
            let model = role.model.as_deref().map(|word| self.named(word, folder)).transpose()?;
            if role.name.trim().is_empty() || role.stance.trim().is_empty() {
                return Err(DeskError::Cast("a role has a `name` and a `stance`".into()));
            }
            roles.push((role.name.trim().into(), role.stance.clone(), model));
        }
        if roles.is_empty() {
            let usual = usual_roles(&draft.topic, sides);
            roles.extend(usual.map(|(name, stance)| (name, stance, None)));
        }
        for (role, voice) in roles.iter_mut().zip(in_topic) {
            role.2.get_or_insert(voice);
        }
        // The first two are those who are paired.
        let own = &mut wish.named;
        for (seat, role) in [&mut own.proposer, &mut own.challenger].into_iter().zip(&roles) {
            if role.2.is_some() {
                seat.clone_from(&role.2);
            }
        }
        wish.cast.roles = roles;
        Ok(())
    }

    /// Whether a word names somebody who can be seated, or a model whose vendor is known.
    fn knows(&self, word: &str) -> bool {
        oneline::tool_of(word).is_some()
            || self.voices.listing().iter().any(|it| of(word, &it.seat))
    }

    /// Somebody as a user names them: a seat, or only a model whose vendor is known by its name.
    pub fn named(&self, word: &str, folder: &Path) -> Result<Voice, DeskError> {
        let bad = |why: String| DeskError::Cast(format!("`{word}`: {why}"));
        let listed = self.voices.listing();
        let bare = oneline::tool_of(word).filter(|_| !listed.iter().any(|it| of(word, &it.seat)));
        let seat = match bare {
            Some(tool) => {
                let can = |tool: &str| listed.iter().any(|it| it.playable && it.seat == tool);
                let service = match tool {
                    "claude" => "anthropic",
                    "codex" => "openai",
                    "gemini" => "google",
                    other => other,
                };
                let tool = if can(tool) || !can(service) { tool } else { service };
                format!("{tool}:{word}")
            }
            None => word.to_owned(),
        };
        let voice: Voice =
            seat.parse().map_err(|error: crate::debate::seat::BadSeat| bad(error.to_string()))?;
        Ok(found_again(voice, folder))
    }
}

/// Whether a seat is one of this tool.
fn of(word: &str, seat: &str) -> bool {
    let tool = |text: &str| text.split(':').next().map(str::to_owned);
    tool(word) == tool(seat)
}

/// Whether all that was said is about something this format has.
fn fits(said: &Particulars, offering: &Offering) -> Result<(), DeskError> {
    let has = |role: Role| offering.offer.format.seats(role);
    let (advocates, listeners) = (has(Role::Advocate), has(Role::Audience));
    let wrong = [
        ("roles", !said.roles.is_empty() && !advocates),
        ("goal", said.goal.is_some() && !advocates),
        ("audience", said.audience.is_some() && !advocates),
        ("decision_type", said.decision_type.is_some() && !advocates),
        ("output_path", said.output_path.is_some() && !advocates),
        ("evidence_round", said.evidence_round.is_some() && !has(Role::Auditor)),
        ("listeners", said.listeners.is_some() && !listeners),
        ("judge_share", said.judge_share.is_some() && !listeners),
        ("audience_share", said.audience_share.is_some() && !listeners),
        ("partners", !said.partners.is_empty() && !has(Role::Partner)),
        ("judges", !said.judges.is_empty() && !has(Role::Judge)),
    ];
    match wrong.into_iter().find(|(_, wrong)| *wrong) {
        Some((name, _)) => Err(DeskError::Cast(format!(
            "`{name}` means nothing in the format `{}`",
            offering.name()
        ))),
        None => Ok(()),
    }
}

/// Who argues what about a topic if nobody says, in its language.
pub fn usual_roles(topic: &str, sides: Option<(String, String)>) -> [(String, String); 2] {
    let chinese = language::of(topic) == Language::Chinese;
    let (names, stances) = match (sides, chinese) {
        (Some((one, other)), true) => (
            ["支持方", "反对方"],
            [format!("主张{one}，而不是{other}"), format!("主张{other}，而不是{one}")],
        ),
        (None, true) => (["支持方", "反对方"], ["支持该论点".into(), "反对该论点".into()]),
        (Some((one, other)), false) => (
            ["Proponent", "Opponent"],
            [format!("argue for {one} over {other}"), format!("argue for {other} over {one}")],
        ),
        (None, false) => {
            (["Proponent", "Opponent"], ["argue for it".into(), "argue against it".into()])
        }
    };
    let [first, second] = stances;
    [(names[0].into(), first), (names[1].into(), second)]
}

/// What a format may be told besides, if it may be told that.
pub fn term(name: &str, said: &str) -> Result<String, DeskError> {
    match name {
        "audience" => word(name, Some(said), READERS),
        "decision_type" => word(name, Some(said), DECISIONS),
        _ => Ok(said.into()),
    }
}

fn word(name: &str, said: Option<&str>, known: &[&str]) -> Result<String, DeskError> {
    let said = said.unwrap_or(known[0]);
    if known.contains(&said) {
        return Ok(said.into());
    }
    Err(DeskError::Cast(format!("`{name}` is `{said}`; it is one of {}", known.join(", "))))
}

/// Whether claims are audited, and why.
pub fn audit(wanted: Flag, topic: &str) -> (bool, String) {
    match (wanted, dense::measurable(topic)) {
        (Flag::On, _) => (true, "on, as asked for".into()),
        (Flag::Off, _) => (false, "off, as asked for".into()),
        (Flag::Auto, Some(what)) => (true, format!("on: the topic asks about {what}")),
        (Flag::Auto, None) => {
            (false, "off: nothing in the topic asks for what can be measured".into())
        }
    }
}

/// What the judge counts, in hundredths: both shares must come to one.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn shares(judge: Option<f64>, audience: Option<f64>) -> Result<Option<u8>, DeskError> {
    let (Some(judge), Some(audience)) =
        (judge.or(audience.map(|it| 1.0 - it)), audience.or(judge.map(|it| 1.0 - it)))
    else {
        return Ok(None);
    };
    let bad = |why: String| Err(DeskError::Cast(why));
    if !(0.0..=1.0).contains(&judge) || !(0.0..=1.0).contains(&audience) {
        return bad(format!("the shares are {judge} and {audience}; each is between 0 and 1"));
    }
    if (judge + audience - 1.0).abs() > 0.001 {
        return bad(format!(
            "the shares {judge} and {audience} come to {}, not to 1",
            judge + audience
        ));
    }
    Ok(Some((judge * 100.0).round() as u8))
}
