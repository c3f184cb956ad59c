//! Text becomes a body, or a reason why not. Speeches are read gently, because prose is prose;
//! everything that counts, scores, votes and verdicts, is read strictly: one JSON object and
//! nothing else, never a default, never a guess.
use super::body::{
    Agreement, BlindSpot, Body, Changed, Disagreement, Fact, Foul, Kind, Level, Novelty, Quality,
    Ruling, Scores, Section,
};
use super::claims;
use super::event::Cue;
use super::format::{Role, Side};
use super::state::Debate;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;

/// Why a reply could not be read. Written so that a seat asked again knows what to mend, short, and
/// told to nobody but that seat and the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What was expected.
    pub kind: Kind,
    /// In a word.
    pub code: &'static str,
    /// In a sentence.
    pub says: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let says: String = self.says.chars().filter(|c| !c.is_control()).collect();
        let line = format!("PARSE_ERROR:{kind}:{}: {says}", self.code);
        f.write_str(&shortened(&line, 200))
    }
}

/// Cut between words, with what was quoted closed.
fn shortened(line: &str, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let cut: String = line.chars().take(most - 2).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(before, _)| before);
    let open = cut.matches('`').count() % 2 == 1;
    format!("{}{} …", cut.trim_end_matches(','), if open { "`" } else { "" })
}

impl std::error::Error for Unreadable {}

/// Reads what the seat at `cue` answered, as what its phase asks for.
pub fn read(debate: &Debate, cue: Cue, text: &str) -> Result<Body, Unreadable> {
    let kind = debate.setup().phase(cue).reply;
    let fault = |code, says: String| Unreadable { kind, code, says };
    if text.trim().is_empty() {
        return Err(fault("empty", "there is nothing in it".into()));
    }
    let body = match kind {
        Kind::Speech => {
            let body = claims::read(text);
            match &body {
                Body::Speech { text, claims, .. } if text.is_empty() && claims.is_empty() => {
                    return Err(fault("empty", "there is nothing in it".into()));
                }
                _ => body,
            }
        }
        Kind::Sections => Body::Sections { sections: sections(text) },
        Kind::Score => json::<WireScore>(text).and_then(WireScore::body).map_err(|e| e.of(kind))?,
        Kind::Petition => {
            json::<WirePetition>(text).and_then(WirePetition::body).map_err(|e| e.of(kind))?
        }
        Kind::Ruling => {
            let WireRuling { admits, because } = json(text).map_err(|e| e.of(kind))?;
            Body::Ruling { admits: admits.filter(|name| !name.is_empty()), because }
        }
        Kind::Vote => json::<WireVote>(text).and_then(WireVote::body).map_err(|e| e.of(kind))?,
        Kind::Audit => {
            let WireAudit { facts } = json(text).map_err(|e| e.of(kind))?;
            let fact = |f: WireFact| Fact { claim: f.claim, tag: f.tag.word() };
            Body::Audit { facts: facts.into_iter().map(fact).collect() }
        }
        Kind::Verdict => {
            let wire: WireVerdict = json(text).map_err(|e| e.of(kind))?;
            Body::Verdict(Box::new(wire.ruling(debate, cue).map_err(|e| e.of(kind))?))
        }
    };
    Ok(body)
}

/// A fault that does not know yet what it was reading.
struct Fault(&'static str, String);

impl Fault {
    fn of(self, kind: Kind) -> Unreadable {
        Unreadable { kind, code: self.0, says: self.1 }
    }
}

/// The reply must be one JSON object, bare or in one fence, and nothing else.
fn json<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    let bare = unfenced(text.trim());
    if !bare.starts_with('{') {
        return Err(Fault("not_json", "answer with one JSON object and nothing else".into()));
    }
    let mut reader = serde_json::Deserializer::from_str(bare);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let said = error.into_inner();
        let at = format!("`{path}`: ");
        // A whole object that is wrong is named by what is missing in it.
        (if path == "." { String::new() } else { at }, said)
    });
    let whole = read.and_then(|read| {
        reader.end().map_err(|error| (String::new(), error))?;
        Ok(read)
    });
    whole.map_err(|(at, error)| match error.classify() {
        serde_json::error::Category::Data => Fault("wrong_shape", format!("{at}{error}")),
        _ if error.to_string().contains("trailing characters") => Fault(
            "not_alone",
            "there is something after the JSON object; answer with that object alone".into(),
        ),
        _ => Fault("not_json", error.to_string()),
    })
}

fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inside = inside.and_then(|rest| rest.split_once('\n'));
    match inside {
        Some((mark, body)) if matches!(mark.trim(), "" | "json") => body.trim(),
        _ => text,
    }
}

/// Split at second-level headings; what stands before the first is a section of its own.
fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = vec![];
    for line in text.trim().lines() {
        let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("### "));
        match (heading, sections.last_mut()) {
            (Some(title), _) => {
                sections.push(Section { title: title.trim().into(), text: String::new() });
            }
            (None, Some(section)) => {
                section.text.push_str(line);
                section.text.push('\n');
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => {
                sections.push(Section { title: "Summary".into(), text: format!("{line}\n") });
            }
        }
    }
    for section in &mut sections {
        section.text = section.text.trim().into();
    }
    sections
}

/// Sides as judges and audiences write them. Labels depend on who was told which; words do not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
enum WireSide {
    #[serde(alias = "Side A", alias = "side A")]
    A,
    #[serde(alias = "Side B", alias = "side B")]
    B,
    #[serde(alias = "proposer", alias = "supporting", alias = "Proposer")]
    #[serde(rename = "pro")]
    Pro,
    #[serde(alias = "challenger", alias = "opposing", alias = "Challenger")]
    #[serde(rename = "con")]
    Con,
}

impl WireSide {
    fn side(self, listener: Role) -> Side {
        let first = if listener == Role::Mirror { Side::Con } else { Side::Pro };
        match self {
            WireSide::Pro => Side::Pro,
            WireSide::Con => Side::Con,
            WireSide::A => first,
            WireSide::B => first.other(),
        }
    }
}

#[derive(Deserialize)]
struct WireVerdict {
    winner: Option<WireSide>,
    /// Left out, it counts for nothing.
    #[serde(default)]
    confidence: f64,
    #[serde(default)]
    scores: Option<BTreeMap<WireSide, f64>>,
    reasoning: String,
    cites: Vec<String>,
    #[serde(default)]
    quality: Option<WireQuality>,
    #[serde(default)]
    agreements: Vec<WireAgreement>,
    #[serde(default)]
    disagreements: Vec<WireDisagreement>,
    #[serde(default)]
    unresolved: Vec<String>,
    #[serde(default)]
    recommendation: String,
    #[serde(default)]
    turning_round: Option<u8>,
    #[serde(default)]
    decisive: Option<String>,
    #[serde(default)]
    blind_spots: Vec<WireBlindSpot>,
    #[serde(default)]
    changed: Option<Changed>,
}

#[derive(Deserialize)]
struct WireQuality {
    disagreement: Level,
    evidence: Level,
    depth: Level,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireAgreement {
    Full {
        point: String,
        #[serde(default)]
        evidence: String,
    },
    Bare(String),
}

#[derive(Deserialize)]
struct WireDisagreement {
    point: String,
    #[serde(flatten)]
    sides: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct WireBlindSpot {
    side: WireSide,
    text: String,
}

impl WireVerdict {
    fn ruling(self, debate: &Debate, cue: Cue) -> Result<Ruling, Fault> {
        let role = debate.seat(cue).role;
        let scores = self.scores.map(|scores| {
            let (pro, con) = both(scores, role)?;
            Ok(Scores { pro: hundred(pro)?, con: hundred(con)? })
        });
        let disagreement = |said: WireDisagreement| {
            let named = said.sides.into_iter().filter_map(|(name, text)| {
                let side = serde_json::from_value(name.into()).ok()?;
                Some((side, text.as_str()?.to_owned()))
            });
            let (pro, con) = both(named.collect(), role)?;
            Ok(Disagreement { point: said.point, pro, con })
        };
        let disagreements = self.disagreements.into_iter().map(disagreement);
        let citable = debate.citable(cue);
        Ok(Ruling {
            side: self.winner.map(|winner| winner.side(role)),
            confidence: share(self.confidence)?,
            scores: scores.transpose()?,
            because: self.reasoning,
            cites: self.cites.iter().map(|cite| cited(cite, &citable)).collect::<Result<_, _>>()?,
            quality: self.quality.map(|q| Quality {
                disagreement: q.disagreement,
                evidence: q.evidence,
                depth: q.depth,
            }),
            agreements: self.agreements.into_iter().map(Into::into).collect(),
            disagreements: disagreements.collect::<Result<_, _>>()?,
            unresolved: self.unresolved,
            recommendation: self.recommendation,
            turning_round: self.turning_round,
            decisive: self.decisive,
            blind_spots: self
                .blind_spots
                .into_iter()
                .map(|spot| BlindSpot { side: spot.side.side(role), text: spot.text })
                .collect(),
            changed: self.changed,
        })
    }
}

impl From<WireAgreement> for Agreement {
    fn from(said: WireAgreement) -> Agreement {
        match said {
            WireAgreement::Full { point, evidence } => Agreement { point, evidence },
            WireAgreement::Bare(point) => Agreement { point, evidence: String::new() },
        }
    }
}

/// What is said of each side, proposer first.
fn both<T>(said: BTreeMap<WireSide, T>, role: Role) -> Result<(T, T), Fault> {
    let (mut pro, mut con) = (None, None);
    for (label, value) in said {
        let slot = match label.side(role) {
            Side::Pro => &mut pro,
            Side::Con => &mut con,
        };
        if slot.replace(value).is_some() {
            return Err(Fault("wrong_shape", "a side is given twice".into()));
        }
    }
    pro.zip(con).ok_or_else(|| Fault("wrong_shape", "both `A` and `B` must be given".into()))
}

/// `T3` is the third turn the judge was told of.
fn cited(cite: &str, citable: &[Cue]) -> Result<Cue, Fault> {
    let number = cite.trim().strip_prefix(['T', 't']).and_then(|n| n.parse::<usize>().ok());
    let turn = number.and_then(|n| citable.get(n.checked_sub(1)?));
    turn.copied().ok_or_else(|| {
        let last = citable.len();
        Fault("unknown_turn", format!("`{}` is no turn; they are T1 to T{last}", short(cite)))
    })
}

fn short(text: &str) -> String {
    text.chars().take(20).collect()
}

/// Between nothing and all, in hundredths.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn share(part: f64) -> Result<u8, Fault> {
    if (0.0..=1.0).contains(&part) {
        return Ok((part * 100.0).round() as u8);
    }
    Err(Fault("out_of_range", format!("confidence is {part}; it must be 0 to 1")))
}

#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn hundred(score: f64) -> Result<u8, Fault> {
    if (0.0..=100.0).contains(&score) {
        return Ok(score.round() as u8);
    }
    Err(Fault("out_of_range", format!("a score is {score}; it must be 0 to 100")))
}

#[derive(Deserialize)]
struct WireVote {
    vote: WireSide,
    confidence: f64,
    reason: String,
}

impl WireVote {
    fn body(self) -> Result<Body, Fault> {
        let side = self.vote.side(Role::Audience);
        Ok(Body::Vote { side, confidence: share(self.confidence)?, because: self.reason })
    }
}

#[derive(Deserialize)]
struct WirePetition {
    intent: Intent,
    #[serde(default)]
    claim: String,
    #[serde(default)]
    novelty: Novelty,
    #[serde(default)]
    confidence: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Intent {
    SupportPro,
    SupportCon,
    None,
}

impl WirePetition {
    fn body(self) -> Result<Body, Fault> {
        let supports = match self.intent {
            Intent::SupportPro => Some(Side::Pro),
            Intent::SupportCon => Some(Side::Con),
            Intent::None => None,
        };
        let (claim, novelty) = (self.claim, self.novelty);
        Ok(Body::Petition { supports, claim, novelty, confidence: share(self.confidence)? })
    }
}

#[derive(Deserialize)]
struct WireRuling {
    /// Nobody is said by `null`; leaving it out says nothing.
    #[serde(deserialize_with = "Option::deserialize")]
    admits: Option<String>,
    #[serde(alias = "reason")]
    because: String,
}

#[derive(Deserialize)]
struct WireAudit {
    facts: Vec<WireFact>,
}

#[derive(Deserialize)]
struct WireFact {
    claim: String,
    tag: Tag,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Tag {
    OfficialDocs,
    CommunityFeedback,
    PersonalBlog,
    NoSource,
    Exaggerated,
}

impl Tag {
    fn word(self) -> String {
        match self {
            Tag::OfficialDocs => "official-docs",
            Tag::CommunityFeedback => "community-feedback",
            Tag::PersonalBlog => "personal-blog",
            Tag::NoSource => "no-source",
            Tag::Exaggerated => "exaggerated",
        }
        .into()
    }
}

#[derive(Deserialize)]
struct WireScore {
    scores: WireSides,
    #[serde(default)]
    fouls: Vec<WireFoul>,
    comment: String,
}

#[derive(Deserialize)]
struct WireSides {
    pro: BTreeMap<String, f64>,
    con: BTreeMap<String, f64>,
}

/// What every round is scored for.
const DIMENSIONS: &[&str] = &["logic", "rebuttal", "clarity", "evidence"];

#[derive(Deserialize)]
struct WireFoul {
    side: WireSide,
    kind: String,
    #[serde(default)]
    note: String,
}

impl WireScore {
    fn body(self) -> Result<Body, Fault> {
        let foul = |foul: WireFoul| Foul {
            side: foul.side.side(Role::Judge),
            kind: foul.kind,
            note: foul.note,
        };
        Ok(Body::Score {
            pro: tenths(&self.scores.pro)?,
            con: tenths(&self.scores.con)?,
            fouls: self.fouls.into_iter().map(foul).collect(),
            comment: self.comment,
        })
    }
}

#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn tenths(marks: &BTreeMap<String, f64>) -> Result<BTreeMap<String, u8>, Fault> {
    let mark = |name: &&str| {
        let mark = marks.get(*name).copied();
        let mark = mark.ok_or_else(|| Fault("wrong_shape", format!("missing field `{name}`")))?;
        if (0.0..=10.0).contains(&mark) {
            return Ok(((*name).to_owned(), (mark * 10.0).round() as u8));
        }
        Err(Fault("out_of_range", format!("{name} is {mark}; it must be 0 to 10")))
    };
    DIMENSIONS.iter().map(mark).collect()
}
