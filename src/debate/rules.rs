//! What a reply must be. A rule is a small pure function of the record and the reply that says what
//! is wrong, if anything; a row of a format says which rules hold there and how much they weigh.
use super::body::{Body, Claim, Kind};
use super::citation::Citation;
use super::digest;
use super::envelope::Envelope;
use super::event::{Cue, Event, Reply};
use super::format::Side;
use super::ledger::{self, is_news};
use super::state::Debate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule's name is what is stored; what it says may be made sharper in a later version, because
/// findings are kept with the reply and never worked out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is explained by its function below")]
pub enum Rule {
    Structured,
    Evidenced,
    FlagsUnsupported,
    AtMostThreeClaims,
    AnswersOpponent,
    RaisesFlaw,
    RaisesOrResolves,
    NoNewClaims,
    ConcedesVerbatim,
    KeepsConcessions,
    KeepsRecord,
    HelpNotTwice,
    NoHelp,
    FitsLength,
    AdmitsPetitioner,
    PicksSide,
    CitesRecord,
    Recommends,
    NineSections,
    SaysWhatChanged,
}

/// How much it weighs that a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Not taken: asked for once more with the finding, and then the turn has failed.
    Reask,
    /// Taken, counted against the seat and shown to the judge.
    Foul,
    /// Taken, and mentioned.
    Note,
}

/// What a rule had to say about a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// How much it weighs here.
    pub weight: Weight,
    /// What is wrong.
    pub says: String,
}

/// Everything the rules of this phase have to say about a reply.
pub fn findings(debate: &Debate, cue: Cue, body: &Body, citations: &[Citation]) -> Vec<Finding> {
    let rules = debate.setup().phase(cue).rules.iter();
    rules
        .filter_map(|&(rule, weight)| {
            let says = rule.says(debate, cue, body, citations)?;
            Some(Finding { rule, weight, says })
        })
        .collect()
}

/// A reply as the event that records it, or what to tell the seat when asking again.
pub fn weigh(
    debate: &Debate,
    cue: Cue,
    body: Body,
    citations: Vec<Citation>,
    envelope: Envelope,
) -> Result<Event, Vec<Finding>> {
    let findings = findings(debate, cue, &body, &citations);
    if findings.iter().any(|finding| finding.weight == Weight::Reask) {
        return Err(findings);
    }
    Ok(Event::Spoke { cue, reply: Reply { body, findings, citations, envelope } })
}

impl Rule {
    /// What it has to say about a reply, if anything.
    fn says(
        self,
        debate: &Debate,
        cue: Cue,
        body: &Body,
        citations: &[Citation],
    ) -> Option<String> {
        match self {
            Rule::Structured => structured(body),
            Rule::Evidenced => evidenced(body),
            Rule::FlagsUnsupported => flags_unsupported(debate, cue, body),
            Rule::AtMostThreeClaims => at_most_three_claims(debate, cue, body),
            Rule::AnswersOpponent => answers_opponent(debate, cue, body),
            Rule::RaisesFlaw => raises_flaw(body),
            Rule::RaisesOrResolves => raises_or_resolves(debate, cue, body),
            Rule::NoNewClaims => no_new_claims(debate, cue, body),
            Rule::ConcedesVerbatim => concedes_verbatim(debate, cue, body),
            Rule::KeepsConcessions => keeps_concessions(debate, cue, body, citations),
            Rule::KeepsRecord => keeps_record(debate, cue, body),
            Rule::HelpNotTwice => help_not_twice(debate, cue, body),
            Rule::NoHelp => no_help(body),
            Rule::FitsLength => fits_length(debate, body),
            Rule::AdmitsPetitioner => admits_petitioner(debate, cue, body),
            Rule::PicksSide => picks_side(body),
            Rule::CitesRecord => cites_record(debate, cue, body),
            Rule::Recommends => recommends(body),
            Rule::NineSections => nine_sections(body),
            Rule::SaysWhatChanged => says_what_changed(body),
        }
    }
}

/// A speech should end with a claims block that can be read.
fn structured(body: &Body) -> Option<String> {
    match body {
        Body::Speech { unstructured, .. } => unstructured.clone(),
        _ => None,
    }
}

/// Every claim must come with something that can be looked at.
fn evidenced(body: &Body) -> Option<String> {
    let bare: Vec<String> = body.claims().iter().filter(|c| bare(c)).map(|c| tick(&c.id)).collect();
    match bare.as_slice() {
        [] => None,
        [one] => Some(format!("claim {one} is unsupported")),
        [one, two] => Some(format!("claims {one}, {two} are unsupported")),
        [one, two, rest @ ..] => {
            Some(format!("claims {one}, {two} and {} more are unsupported", rest.len()))
        }
    }
}

/// What the other side just left unsupported must be called out, by answering it or by the word.
fn flags_unsupported(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Speech { text, .. } = body else { return None };
    let other = debate.seat(cue).role.side().map(Side::other);
    let (_, last) =
        debate.before(cue).rfind(|(past, _)| debate.seat(*past).role.side() == other)?;
    let answered = |claim: &Claim| body.claims().iter().any(|own| own.answers.contains(&claim.id));
    let said = text.to_lowercase().contains("unsupported");
    let missed = last.claims().iter().find(|claim| bare(claim) && !said && !answered(claim))?;
    Some(format!("claim {} is unsupported and was not called out", tick(&missed.id)))
}

/// Counted over the act; an answer is not a core claim.
fn at_most_three_claims(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let act = own(debate, cue).filter(|(past, _)| past.act == cue.act).map(|(_, body)| body);
    let claims = act.chain([body]).flat_map(Body::claims);
    let count = claims.filter(|claim| claim.answers.is_empty()).count();
    (count > 3).then(|| format!("{count} core claims; at most three are allowed"))
}

/// To debate is to answer.
fn answers_opponent(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let mut answered = body.claims().iter().flat_map(|claim| &claim.answers);
    let opposing = |id: &String| against(debate, cue).any(|claim| claim.id == *id);
    let speechless = against(debate, cue).next().is_none();
    let conceded = body.concedes().iter().any(|given| opposing(&given.claim));
    let silent = body.structured() && !speechless && !conceded;
    (silent && !answered.any(opposing)).then(|| "no opposing claim is answered".into())
}

/// At least one flaw before anything is agreed to. Whether prose without claims names one, code
/// cannot tell.
fn raises_flaw(body: &Body) -> Option<String> {
    let silent = body.structured() && body.claims().is_empty();
    silent.then(|| "no flaw or overlooked consideration is named as a claim".into())
}

/// Either a concern is raised, or one of one's own is certified as resolved, and by what.
fn raises_or_resolves(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    if !body.structured() || !body.claims().is_empty() {
        return None;
    }
    let raised = |id: &str| own(debate, cue).flat_map(|(_, b)| b.claims()).any(|c| c.id == id);
    match body.resolves() {
        [] => Some("neither raises a concern nor certifies one as resolved".into()),
        all => {
            let wrong = all.iter().find(|r| !raised(&r.claim) || r.evidence.is_empty())?;
            Some(if raised(&wrong.claim) {
                format!("{} is certified as resolved, but not by what", tick(&wrong.claim))
            } else {
                format!("{} is no concern that was raised before", tick(&wrong.claim))
            })
        }
    }
}

/// To answer is to attack, and to repeat is to compress; only what is neither is new.
fn no_new_claims(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let known =
        |id: &str| own(debate, cue).flat_map(|(_, body)| body.claims()).any(|claim| claim.id == id);
    let mut claims = body.claims().iter();
    let new = claims.find(|claim| claim.answers.is_empty() && !known(&claim.id))?;
    Some(format!("claim `{}` is new, and it is too late for that", new.id))
}

/// What is conceded is conceded in the other side's own words.
fn concedes_verbatim(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let says = |id: &str, quote: &str| {
        let quote = plain(quote);
        !quote.is_empty()
            && against(debate, cue)
                .any(|claim| claim.id == id && plain(&claim.text).contains(&quote))
    };
    let wrong = body.concedes().iter().find(|given| !says(&given.claim, &given.quote))?;
    Some(format!(
        "the concession of {} does not quote that claim of the other side word for word",
        tick(&wrong.claim)
    ))
}

/// The words alone: quotation marks, emphasis, case and a trailing full stop or ellipsis are how
/// somebody writes, not what was said.
fn plain(text: &str) -> String {
    let marks = |c: char| "\"'`*_\u{201c}\u{201d}\u{2018}\u{2019}\u{300c}\u{300d}".contains(c);
    let words: String = text.chars().filter(|c| !marks(*c)).collect();
    let ends = |c: char| c.is_whitespace() || ".\u{2026}\u{3002}".contains(c);
    digest::squeeze(words.trim_matches(ends)).to_lowercase()
}

/// What was conceded binds, unless something new is offered against it; where that can be looked up,
/// something that was found.
fn keeps_concessions(
    debate: &Debate,
    cue: Cue,
    body: &Body,
    citations: &[Citation],
) -> Option<String> {
    let conceded = |id: &String| {
        own(debate, cue).flat_map(|(_, body)| body.concedes()).any(|given| given.claim == *id)
    };
    let known: Vec<&str> = ledger::entries(debate, debate.horizon(cue))
        .iter()
        .flat_map(|entry| entry.evidence.clone())
        .collect();
    let looked_up = debate.setup().pin.is_some();
    let stale = |claim: &&Claim| {
        let found = ledger::of_claim(citations, &claim.id).any(|it| is_news(debate, cue, it));
        let same = claim.evidence.iter().all(|new| known.contains(&new.as_str()));
        if looked_up { !found } else { same }
    };
    let mut stale = body.claims().iter().filter(stale);
    let taken_back = stale.find_map(|claim| claim.answers.iter().find(|id| conceded(id)))?;
    Some(format!("{} was conceded, and nothing new is offered against it", tick(taken_back)))
}

/// A summary keeps every concession word for word and names every disagreement still open.
fn keeps_record(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let lost = digest::left_out(debate, cue, &body.text());
    (!lost.is_empty()).then(|| lost.join("; "))
}

/// Not in two rounds running.
fn help_not_twice(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    body.help()?;
    let again =
        own(debate, cue).any(|(past, body)| past.round + 1 == cue.round && body.help().is_some());
    again.then(|| "help was asked for in the round before".into())
}

/// No longer, or not yet.
fn no_help(body: &Body) -> Option<String> {
    body.help().map(|_| "help can no longer be asked for".into())
}

/// In characters, as the reader counts them.
fn fits_length(debate: &Debate, body: &Body) -> Option<String> {
    let Body::Speech { text, .. } = body else { return None };
    let (limits, length) = (&debate.setup().limits, text.chars().count());
    let fits = (limits.shortest..=limits.longest).contains(&length);
    let (least, most) = (limits.shortest, limits.longest);
    (!fits).then(|| format!("{length} characters; it must be {least} to {most}"))
}

/// Only who asked for the floor can be given it.
fn admits_petitioner(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Ruling { admits: Some(name), .. } = body else { return None };
    let mut round = debate.before(cue).filter(|(past, _)| past.stand() == cue.stand());
    let petitioned = round.any(|(past, body)| {
        body.kind() == Kind::Petition && !body.declines() && debate.seat(past).name == *name
    });
    (!petitioned).then(|| format!("`{name}` did not ask for the floor"))
}

/// One side or the other.
fn picks_side(body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    if ruling.side.is_none() {
        return Some("the verdict must pick a side".into());
    }
    let own = &HEDGES[..REFUSALS];
    hedge(&ruling.because, own).map(|phrase| format!("`{phrase}` does not pick a side"))
}

/// Something to do, and not everything at once.
fn recommends(body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    if ruling.recommendation.trim().is_empty() {
        return Some("the recommendation is empty; say what to do".into());
    }
    hedge(&ruling.recommendation, HEDGES).map(|phrase| format!("`{phrase}` recommends nothing"))
}

/// Ways of not choosing. The first few refuse to choose wherever they stand; the others may well be
/// said of a part of a debate, but not of what to do.
#[rustfmt::skip]
const HEDGES: &[&str] = &[
    "both approaches have merit", "both have merit", "both sides have merit",
    "both options have merit", "both positions have merit", "both approaches are valid",
    "neither side wins", "it is a tie", "it's a tie", "各有优劣", "各有千秋", "都有可取之处",
    "both are equally valid", "both sides are right", "equally valid", "equally strong",
    "都有道理",
];
const REFUSALS: usize = 12;

/// The first of these phrases that is one's own: what stands in quotation marks is somebody else's.
fn hedge(text: &str, phrases: &'static [&'static str]) -> Option<&'static str> {
    let text = text.replace(['\u{201c}', '\u{201d}', '\u{300c}', '\u{300d}'], "\"");
    let own: String = text.split('"').step_by(2).collect();
    let flat = digest::squeeze(&own).to_lowercase();
    phrases.iter().copied().find(|hedge| flat.contains(hedge))
}

/// A verdict rests on turns that were taken.
fn cites_record(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let cites = &ruling.cites;
    let said = |cited: &&Cue| debate.before(cue).any(|(past, _)| past == **cited);
    if cites.is_empty() {
        return Some("the verdict must cite the turns it rests on".into());
    }
    let wrong = cites.iter().find(|cited| !said(cited))?;
    Some(format!("nothing was said at {wrong}"))
}

/// Where both sides answered before they heard each other, the verdict says what came of that.
fn says_what_changed(body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let missing = ruling.changed.as_ref().is_none_or(|it| it.because.trim().is_empty());
    missing.then(|| {
        "`changed` is missing: say whether the debate changed the decision the sealed answers would \
         have led to, and on what"
            .into()
    })
}

/// The report has nine, none of them empty.
fn nine_sections(body: &Body) -> Option<String> {
    let Body::Sections { sections } = body else { return None };
    let full = sections.iter().filter(|section| !section.text.trim().is_empty()).count();
    (full != 9).then(|| format!("{full} sections; the report has nine"))
}

fn bare(claim: &Claim) -> bool {
    claim.evidence.iter().all(|evidence| evidence.trim().is_empty())
}

fn tick(id: &str) -> String {
    format!("`{id}`")
}

/// What this seat has said before.
fn own(debate: &Debate, cue: Cue) -> impl Iterator<Item = (Cue, &Body)> {
    debate.before(cue).filter(move |(past, _)| past.seat == cue.seat)
}

/// The claims of the other side, as of this turn.
fn against(debate: &Debate, cue: Cue) -> impl Iterator<Item = &Claim> {
    let side = |cue: Cue| debate.seat(cue).role.side();
    let other = side(cue).map(Side::other);
    debate
        .before(cue)
        .filter(move |(past, _)| other.is_some() && side(*past) == other)
        .flat_map(|(_, body)| body.claims())
}
