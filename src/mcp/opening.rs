//! `start_debate`: from what a model asks for to a debate being played.
use super::args::{Options, StartDebate};
use super::attend::{Seen, Waiting};
use super::check;
use super::complaint::{Complaint, call};
use super::server::Server;
use crate::debate::setup::LONGEST_TOPIC;
use crate::debate::{Budget, Effort, Hold, Voice, millionths};
use crate::engine::opening::{found_again, judge_for};
use crate::engine::{Opening, Place, Query};
use serde_json::Value;

/// Whom the user has named.
struct Named {
    proposer: Option<Voice>,
    challenger: Option<Voice>,
    judge: Option<Voice>,
}

/// Who is seated.
struct Seated {
    proposer: Voice,
    challenger: Voice,
    judge: Voice,
}

impl Server {
    /// Opens a debate, has its first round played, and waits for it. Whoever asked is also told who
    /// was chosen, and of an unfinished debate about the same question.
    pub(super) async fn start(
        &self,
        args: &StartDebate,
        place: &Place,
        waiting: &Waiting,
    ) -> Result<(Seen, Vec<String>), Complaint> {
        let (opening, chosen) = self.opening(args)?;
        let notes: Vec<String> =
            chosen.into_iter().chain(self.unfinished(&opening.topic, place)).collect();
        let job = self.hub.desk.open(&opening, place)?;
        let id = job.id().to_owned();
        self.hub.play(job);
        Ok((self.hub.attend(&id, place, waiting).await?, notes))
    }

    /// What was asked for, and whom nobody named.
    fn opening(&self, args: &StartDebate) -> Result<(Opening, Option<String>), Complaint> {
        let topic = args.topic.split_whitespace().collect::<Vec<_>>().join(" ");
        if topic.is_empty() {
            return Err(Complaint::NoTopic);
        }
        check::text("topic", &topic, LONGEST_TOPIC)?;
        let format = check::short("format", args.format.as_deref())?.unwrap_or("duel");
        let named = Named {
            proposer: self.seat("proposer", args.proposer.as_deref())?,
            challenger: self.seat("challenger", args.challenger.as_deref())?,
            judge: self.seat("judge", args.judge.as_deref())?,
        };
        let (Seated { proposer, challenger, judge }, chosen) = self.seats(named);
        let options = options(args, format)?;
        let mut holds = vec![];
        holds.extend(options.confirm_plan.then_some(Hold::Start));
        holds.extend(options.pause.unwrap_or(true).then_some(Hold::Rounds));
        let context = check::short("context", args.context.as_deref())?.unwrap_or("none");
        let cost = |amount| {
            let why = format!("max_cost is {amount}; it is an amount such as 0.50");
            millionths(amount).ok_or(Complaint::Options { why, format: format.into() })
        };
        let opening = Opening {
            format: format.into(),
            rounds: args.rounds.map(|rounds| self.hub.desk.fits(format, rounds)).transpose()?,
            effort: effort(args.effort.as_deref())?,
            brief: self.hub.desk.brief(context)?,
            budget: Budget {
                cost: options.max_cost.map(cost).transpose()?,
                tokens: options.max_tokens,
                milliseconds: options.max_minutes.map(|minutes| minutes.saturating_mul(60_000)),
            },
            turn_seconds: options.turn_seconds,
            await_seconds: options.await_seconds,
            holds,
            ..Opening::new(&topic, proposer, challenger, judge)
        };
        Ok((opening, chosen))
    }

    fn seat(&self, name: &str, said: Option<&str>) -> Result<Option<Voice>, Complaint> {
        let Some(said) = check::short(name, said)? else { return Ok(None) };
        let voice = said.parse::<Voice>().map_err(|error| Complaint::Seat {
            name: name.into(),
            said: said.into(),
            why: error.to_string(),
        })?;
        Ok(Some(found_again(voice, &self.config.folder)))
    }

    /// Whoever was not named is a tool that is installed and has no seat yet; where there is none,
    /// the host plays. A judge is a third tool if there is one, and never one of two tools that
    /// argue.
    fn seats(&self, named: Named) -> (Seated, Option<String>) {
        // Nobody is looked for whom nobody needs.
        let needed =
            named.proposer.is_none() || named.challenger.is_none() || named.judge.is_none();
        let listed = if needed { self.hub.desk.listing(false) } else { vec![] };
        let able = listed.into_iter().filter(|it| it.model && it.playable);
        let installed: Vec<String> = able.map(|it| it.seat).collect();
        let free = |taken: &[&Voice]| {
            let fits = |tool: &&String| taken.iter().all(|voice| voice.tool() != tool.as_str());
            installed.iter().find(fits).and_then(|tool| tool.parse().ok())
        };
        let mut chosen = vec![];
        let mut choose = |role: &str, voice: Option<Voice>, why: &str| {
            let voice = voice.unwrap_or(Voice::Host);
            chosen.push(format!("{role} {voice}{why}"));
            voice
        };
        let taken: Vec<&Voice> = named.challenger.iter().chain(&named.judge).collect();
        let other = free(&taken);
        let proposer = named.proposer.unwrap_or_else(|| choose("proposer", other, ""));
        let taken: Vec<&Voice> = [&proposer].into_iter().chain(&named.judge).collect();
        let other = free(&taken);
        let challenger = named.challenger.unwrap_or_else(|| choose("challenger", other, ""));
        let judge = named.judge.unwrap_or_else(|| match free(&[&proposer, &challenger]) {
            Some(third) => choose("judge", Some(third), ""),
            None if installed.iter().any(|tool| tool == proposer.tool()) => {
                choose("judge", None, ", because no third tool is installed")
            }
            None => judge_for(None, &proposer, &challenger, Voice::Host),
        });
        let chosen = (!chosen.is_empty()).then(|| format!("chosen: {}", chosen.join(", ")));
        (Seated { proposer, challenger, judge }, chosen)
    }

    /// An unfinished debate about the same question, which somebody may rather go on with.
    fn unfinished(&self, topic: &str, place: &Place) -> Option<String> {
        let root = Some(place.root.clone());
        let query = Query { root, unfinished: true, limit: Some(20), ..Query::default() };
        let cards = self.hub.desk.archive().list(&query).unwrap_or_default();
        let same = cards.into_iter().find(|card| card.topic == topic)?;
        let on = call("continue_round", &same.id, "");
        Some(format!("there is an unfinished debate about this already: {on} goes on with it"))
    }
}

fn options(args: &StartDebate, format: &str) -> Result<Options, Complaint> {
    let bad = |why: String| Complaint::Options { why, format: format.into() };
    let object = match &args.options {
        None => return Ok(Options::default()),
        // Some models write an object as a string.
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_err(|error| bad(error.to_string()))?
        }
        Some(value) => value.clone(),
    };
    if !object.is_object() {
        return Err(bad("an object is needed, such as {\"confirm_plan\": true}".into()));
    }
    serde_json::from_value(object).map_err(|error| bad(error.to_string()))
}

fn effort(said: Option<&str>) -> Result<Option<Effort>, Complaint> {
    let Some(said) = check::short("effort", said)? else { return Ok(None) };
    let all = [Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    let named = all.into_iter().find(|effort| effort.word() == said.to_lowercase());
    named.map(Some).ok_or_else(|| Complaint::Word {
        name: "effort".into(),
        said: said.into(),
        allowed: all.map(Effort::word).join(", "),
    })
}
