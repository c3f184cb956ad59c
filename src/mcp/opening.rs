//! `start_debate`: from what a model asks for to a debate being played.
use super::args::{Options, StartDebate};
use super::attend::{Seen, Waiting};
use super::change::millionths;
use super::check;
use super::complaint::{Complaint, call};
use super::server::Server;
use crate::debate::setup::LONGEST_TOPIC;
use crate::debate::{Budget, Effort, Hold, Voice};
use crate::engine::opening::{found_again, judge_for};
use crate::engine::{Opening, Place, Query};
use serde_json::Value;

impl Server {
    /// Opens a debate, has its first round played, and waits for it. Whoever asked is also told of
    /// an unfinished debate about the same question.
    pub(super) async fn start(
        &self,
        args: &StartDebate,
        place: &Place,
        waiting: &Waiting,
    ) -> Result<(Seen, Option<String>), Complaint> {
        let opening = self.opening(args)?;
        let before = self.unfinished(&opening.topic, place);
        let job = self.hub.desk.open(&opening, place)?;
        let id = job.id().to_owned();
        self.hub.play(job);
        Ok((self.hub.attend(&id, place, waiting).await?, before))
    }

    fn opening(&self, args: &StartDebate) -> Result<Opening, Complaint> {
        let topic = args.topic.split_whitespace().collect::<Vec<_>>().join(" ");
        if topic.is_empty() {
            return Err(Complaint::NoTopic);
        }
        check::text("topic", &topic, LONGEST_TOPIC)?;
        let format = check::short("format", args.format.as_deref())?.unwrap_or("duel");
        let proposer = self.seat("proposer", args.proposer.as_deref())?;
        let challenger = self.seat("challenger", args.challenger.as_deref())?;
        let (proposer, challenger) = self.sides(proposer, challenger);
        let judge = self.seat("judge", args.judge.as_deref())?;
        let judge = judge_for(judge, &proposer, &challenger, Voice::Host);
        let options = options(args, format)?;
        let mut holds = vec![];
        holds.extend(options.confirm_plan.then_some(Hold::Start));
        holds.extend(options.pause.unwrap_or(true).then_some(Hold::Rounds));
        let context = check::short("context", args.context.as_deref())?.unwrap_or("none");
        let cost = |amount| {
            let why = format!("max_cost is {amount}; it is an amount such as 0.50");
            millionths(amount).ok_or(Complaint::Options { why, format: format.into() })
        };
        Ok(Opening {
            format: format.into(),
            rounds: args.rounds.map(|rounds| self.hub.desk.fits(format, rounds)).transpose()?,
            effort: effort(args.effort.as_deref())?,
            brief: self.hub.desk.brief(context)?,
            budget: Budget {
                cost: options.max_cost.map(cost).transpose()?,
                tokens: options.max_tokens,
                ..Budget::default()
            },
            turn_seconds: options.turn_seconds,
            await_seconds: options.await_seconds,
            holds,
            ..Opening::new(&topic, proposer, challenger, judge)
        })
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

    /// Whoever was not named is the first model that can play and is not on the other side; where
    /// there is none, the host.
    fn sides(&self, proposer: Option<Voice>, challenger: Option<Voice>) -> (Voice, Voice) {
        let free = |other: Option<&Voice>| {
            let mut able = self.hub.desk.listing(false).into_iter();
            let tool = other.map(Voice::tool);
            let fits = able.find(|it| it.model && it.playable && Some(it.seat.as_str()) != tool);
            fits.and_then(|it| it.seat.parse().ok()).unwrap_or(Voice::Host)
        };
        let proposer = proposer.unwrap_or_else(|| free(challenger.as_ref()));
        let challenger = challenger.unwrap_or_else(|| free(Some(&proposer)));
        (proposer, challenger)
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
