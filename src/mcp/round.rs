//! Handler of `continue_round`: records the host's speech, the user's remark and the user's
//! decision, then waits for the debate. Every step is idempotent, because clients retry calls.
use super::args::ContinueRound;
use super::attend::{Seen, Waiting};
use super::change::changes;
use super::check;
use super::coming_back::Meant;
use super::complaint::Complaint;
use super::server::Server;
use super::standing::{asked_of_host, is_plan};
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::state::Remark;
use crate::debate::verdict::judgment;
use crate::debate::{Cue, Debate, PauseReason, Position, ReplyKind, Status, Step, next, status};
use crate::engine::{AppError, ArchiveError, Command, SessionError, Workspace};

/// Values of the `decision` argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Continue,
    Confirm,
    Change,
    Steer,
    Deepen,
    Cancel,
    End,
    Keep,
    Discard,
    Retry,
    TakeOver,
    Import,
}

const DECISIONS: [(&str, Decision); 12] = [
    ("continue", Decision::Continue),
    ("confirm", Decision::Confirm),
    ("change", Decision::Change),
    ("steer", Decision::Steer),
    ("deepen", Decision::Deepen),
    ("cancel", Decision::Cancel),
    ("end", Decision::End),
    ("keep", Decision::Keep),
    ("discard", Decision::Discard),
    ("retry", Decision::Retry),
    ("take_over", Decision::TakeOver),
    ("import", Decision::Import),
];

impl Server {
    /// Records the arguments as commands, continues the debate and waits for it.
    pub(super) async fn go_on(
        &self,
        args: &ContinueRound,
        place: &Workspace,
        waiting: &Waiting,
    ) -> Result<(Seen, Vec<String>), Complaint> {
        let turn = check::short("turn", args.turn.as_deref())?;
        let decision = decision(args.decision.as_deref())?;
        if let Some(say) = &args.say {
            check::text("say", say, check::REMARK)?;
        }
        if let Some(speech) = &args.speech {
            check::text("speech", speech, check::SPEECH)?;
        }
        if decision == Some(Decision::Import) {
            return self.import(args, place, waiting).await;
        }
        let Meant { id, told } = self.meant_by(args.debate_id.as_deref(), turn, place)?;
        let notes = self.taken_up(&id, place, told).await?;
        let place = &self.place_of(&id, place)?;
        {
            let _recording = self.hub.recording(&id).await;
            self.record(&id, place, turn, decision, args).await?;
        }
        Ok((self.hub.attend(&id, place, waiting).await?, notes))
    }

    /// Records the speech, then the remark, then the decision.
    async fn record(
        &self,
        id: &str,
        place: &Workspace,
        turn: Option<&str>,
        decision: Option<Decision>,
        args: &ContinueRound,
    ) -> Result<(), Complaint> {
        if let Some(turn) = turn {
            let debate = self.debate(id)?;
            which(turn)
                .filter(|(_, cue)| debate.has_cue(*cue))
                .ok_or_else(|| Complaint::BadTurn(turn.into(), id.into()))?;
        }
        // Take the lease first, so that the commands below are recorded by this process.
        if decision == Some(Decision::TakeOver) {
            self.take_over(id, place).await?;
        }
        if let Some(speech) = &args.speech {
            self.reply(id, place, turn, speech, "continue_round").await?;
        }
        let say = args.say.as_deref().map(str::trim);
        let about = [Decision::Change, Decision::Steer, Decision::Deepen];
        if let Some(say) = say.filter(|_| !decision.is_some_and(|it| about.contains(&it))) {
            self.remark(id, place, turn.filter(|_| args.speech.is_none()), say).await?;
        }
        match decision {
            Some(decision) => self.decide(id, place, decision, turn, say).await,
            None if args.speech.is_none() => self.let_begin(id, place, turn).await,
            None => Ok(()),
        }
    }

    pub(super) fn debate(&self, id: &str) -> Result<Debate, Complaint> {
        Ok(self.hub.desk.read(id)?.1)
    }

    /// Records the reply of the host or of a person. Repeating the same text has no effect.
    pub(super) async fn reply(
        &self,
        id: &str,
        place: &Workspace,
        turn: Option<&str>,
        text: &str,
        tool: &str,
    ) -> Result<(), Complaint> {
        let debate = self.debate(id)?;
        let due = asked_of_host(&debate);
        let turn = turn.ok_or(Complaint::NoTurn { due: due.clone(), id: id.into() })?;
        let (take, cue) = which(turn)
            .filter(|(_, cue)| debate.has_cue(*cue))
            .ok_or_else(|| Complaint::BadTurn(turn.into(), id.into()))?;
        let seat = debate.seat(cue);
        if !seat.voice.is_awaited() {
            return Err(Complaint::NotYours {
                turn: turn.into(),
                role: seat.role.title().into(),
                tool: seat.voice.to_string(),
                id: id.into(),
            });
        }
        let ruling = debate.setup().phase(cue).reply == ReplyKind::Verdict;
        if tool == "verdict" && !ruling {
            return Err(Complaint::WrongTool {
                turn: turn.into(),
                wants: "speech".into(),
                tool: "continue_round".into(),
                id: id.into(),
            });
        }
        let taken = debate.turn(cue).is_some();
        if let (false, Some(_)) = (taken, debate.outcome()) {
            return Err(ended(&debate, "a speech"));
        }
        let command = Command::Reply { take, cue, text: text.into() };
        self.command(id, place, vec![command]).await.map_err(|error| match error {
            AppError::Session(SessionError::TurnTaken(_)) => {
                Complaint::Taken { turn: turn.into(), id: id.into() }
            }
            AppError::Session(SessionError::Illegal(_)) => {
                Complaint::NotDue { turn: turn.into(), due, id: id.into() }
            }
            AppError::Session(SessionError::ReplyRejected(found)) => {
                let says: Vec<_> = found.into_iter().map(|found| found.says).collect();
                Complaint::Mend { turn: turn.into(), why: says.join("; "), ruling, id: id.into() }
            }
            AppError::Session(SessionError::ReplyUnparsable(why)) => {
                // Strip the error code, which is meant for the record.
                let why = match why.split_once(": ") {
                    Some((code, why)) if code.starts_with("PARSE_ERROR") => why.into(),
                    _ => why,
                };
                Complaint::Mend { turn: turn.into(), why, ruling, id: id.into() }
            }
            error => error.into(),
        })
    }

    /// Records a remark for both sides. After the end, records it as the user's decision.
    async fn remark(
        &self,
        id: &str,
        place: &Workspace,
        turn: Option<&str>,
        say: &str,
    ) -> Result<(), Complaint> {
        let debate = self.debate(id)?;
        let text = say.to_owned();
        // The same text again is a retry by the client, if the remark was not delivered yet or the
        // turn is past.
        let past = turn.and_then(which).is_some_and(|(_, cue)| debate.was_asked(cue));
        let over = debate.outcome().is_some();
        let again =
            |remark: &Remark| remark.text == say && (past || over || !debate.was_heard(remark));
        if debate.remarks().iter().any(again) {
            return Ok(());
        }
        let step = next(&debate);
        let command = if over {
            if debate.decision() == Some(say) {
                return Ok(());
            }
            Command::Decide { text }
        } else if step.first_cue().is_none_or(|cue| cue.act == debate.setup().ending_act()) {
            return Err(Complaint::Unheard { id: id.into() });
        } else {
            Command::Interject { text }
        };
        Ok(self.command(id, place, vec![command]).await?)
    }

    /// Starts the next round if the debate is paused before it. A turn id of an earlier round only
    /// waits, which makes retries safe. Plans and imported debates need an explicit decision.
    async fn let_begin(
        &self,
        id: &str,
        place: &Workspace,
        turn: Option<&str>,
    ) -> Result<(), Complaint> {
        let debate = self.debate(id)?;
        if is_plan(&debate) || debate.is_held() {
            return Ok(());
        }
        self.let_go(id, place, &debate, turn).await
    }

    pub(super) async fn let_go(
        &self,
        id: &str,
        place: &Workspace,
        debate: &Debate,
        turn: Option<&str>,
    ) -> Result<(), Complaint> {
        match next(debate) {
            Step::Hold { next, pause: PauseReason::UserHold } => {
                self.hub.desk.check_remaining_seats(debate, debate.seats())?;
                let meant =
                    turn.is_none_or(|turn| which(turn) == Some((debate.take_number(), next)));
                let before: Position = next.position();
                if !meant {
                    return Ok(());
                }
                match self.command(id, place, vec![Command::Continue { before }]).await {
                    // Another client continued it first.
                    Err(AppError::Session(SessionError::Illegal(_))) => Ok(()),
                    done => Ok(done?),
                }
            }
            Step::Hold { pause: PauseReason::BudgetExhausted { spent, .. }, .. } => {
                let cost = spent.cost as f64 / 1e6;
                let spent = format!("{cost:.2}, {} tokens", spent.tokens);
                Err(Complaint::Spent { id: id.into(), spent, step: super::next::spent(debate) })
            }
            _ => Ok(()),
        }
    }

    async fn decide(
        &self,
        id: &str,
        place: &Workspace,
        decision: Decision,
        turn: Option<&str>,
        say: Option<&str>,
    ) -> Result<(), Complaint> {
        let debate = self.debate(id)?;
        let over = debate.outcome().is_some();
        match decision {
            Decision::Continue | Decision::Confirm if over => Err(ended(&debate, "going on")),
            Decision::Change | Decision::Steer | Decision::Deepen if over => {
                Err(ended(&debate, "a change"))
            }
            Decision::Cancel if over && status::status(&debate) != Status::Cancelled => {
                Err(ended(&debate, "cancelling"))
            }
            Decision::Cancel | Decision::End if over => Ok(()),
            Decision::Retry if !over => Ok(()),
            Decision::Retry => {
                let from = debate.reopen_cue().ok_or_else(|| Complaint::Whole { id: id.into() })?;
                self.hub.desk.check_remaining_seats(&debate, debate.seats())?;
                Ok(self.command(id, place, vec![Command::Reopen { from }]).await?)
            }
            Decision::Continue => self.let_go(id, place, &debate, turn).await,
            Decision::Confirm if is_plan(&debate) => self.let_go(id, place, &debate, None).await,
            // Only a plan needs confirmation. Take-over and import were handled earlier.
            Decision::Confirm | Decision::TakeOver | Decision::Import => Ok(()),
            Decision::Cancel => {
                match self.command(id, place, vec![Command::Cancel { because: None }]).await {
                    // Another client ended it first.
                    Err(AppError::Session(SessionError::Illegal(_))) => Ok(()),
                    done => Ok(done?),
                }
            }
            Decision::End => self.conclude(id, place).await,
            Decision::Change => {
                let say = say.ok_or_else(|| Complaint::Change { why: "it is missing".into() })?;
                let changes = changes(say, &debate, &self.hub.desk, &self.config.current_dir)?;
                if changes.is_empty() {
                    return Ok(());
                }
                self.command(id, place, changes).await.map_err(|error| match error {
                    AppError::Session(SessionError::Illegal(_)) => {
                        Complaint::Unchangeable(say.chars().take(200).collect(), id.into())
                    }
                    error => error.into(),
                })
            }
            Decision::Steer | Decision::Deepen => {
                let word = if decision == Decision::Steer { "steer" } else { "deepen" };
                let say = say
                    .filter(|say| !say.is_empty())
                    .ok_or_else(|| Complaint::About { decision: word.into(), id: id.into() })?;
                let (again, commands) = if decision == Decision::Steer {
                    check::text("say", say, MAX_TOPIC_CHARS)?;
                    let topic = say.split_whitespace().collect::<Vec<_>>().join(" ");
                    (debate.current_topic() == topic, Command::steer(topic).to_vec())
                } else {
                    let command = Command::deepen(say);
                    let same = |it: &Remark| {
                        matches!(&command, Command::Interject { text } if *text == it.text)
                            && !debate.was_heard(it)
                    };
                    (debate.remarks().iter().any(same), vec![command])
                };
                if !again {
                    self.command(id, place, commands).await?;
                }
                self.let_begin(id, place, turn).await
            }
            Decision::Keep | Decision::Discard if !over => {
                Err(Complaint::NotEnded { id: id.into(), what: "keeping the record".into() })
            }
            Decision::Keep | Decision::Discard => {
                let keep = decision == Decision::Keep;
                if debate.keep_record() == Some(keep) {
                    return Ok(());
                }
                Ok(self.command(id, place, vec![Command::Keep { keep }]).await?)
            }
        }
    }

    /// Skips to the ruling, unless the ending has begun.
    pub(super) async fn conclude(&self, id: &str, place: &Workspace) -> Result<(), Complaint> {
        let debate = self.debate(id)?;
        let ending = debate.setup().ending_act();
        let begun = next(&debate).first_cue().is_none_or(|cue| cue.act == ending);
        if debate.is_concluded() || begun {
            return Ok(());
        }
        if debate.replies_in(..).next().is_none() {
            return Err(Complaint::NothingSaid { id: id.into(), plan: is_plan(&debate) });
        }
        self.hub.desk.check_remaining_seats(&debate, debate.seats())?;
        match self.command(id, place, vec![Command::Conclude { because: None }]).await {
            // Another client concluded it first, so a ruling is coming.
            Err(AppError::Session(SessionError::Illegal(_))) => Ok(()),
            done => Ok(done?),
        }
    }

    /// Sends commands. While another process holds the lease, retries every 100 ms, 20 times.
    pub(super) async fn command(
        &self,
        id: &str,
        place: &Workspace,
        commands: Vec<Command>,
    ) -> Result<(), AppError> {
        let mut tries = 0;
        loop {
            match self.hub.command(id, place, commands.clone()).await {
                Err(AppError::Archive(ArchiveError::LeaseHeld { .. })) if tries < 20 => {
                    tries += 1;
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                }
                done => return done,
            }
        }
    }
}

/// Parses a turn id such as `0.1.0.0+2` into its take and its cue.
pub(super) fn which(turn: &str) -> Option<(u16, Cue)> {
    let (cue, take) = turn.split_once('+').unwrap_or((turn, "0"));
    Some((take.parse().ok()?, cue.parse().ok()?))
}

pub(super) fn ended(debate: &Debate, what: &str) -> Complaint {
    Complaint::Ended {
        id: debate.setup().id.clone(),
        status: status::status(debate).as_str().into(),
        what: what.into(),
        ruled: judgment(debate).is_some(),
    }
}

fn decision(said: Option<&str>) -> Result<Option<Decision>, Complaint> {
    let Some(said) = check::short("decision", said)? else { return Ok(None) };
    let known = DECISIONS.iter().find(|(word, _)| *word == said.to_lowercase());
    known.map(|(_, decision)| Some(*decision)).ok_or_else(|| Complaint::Word {
        name: "decision".into(),
        said: said.into(),
        allowed: DECISIONS.map(|(word, _)| word).join(", "),
    })
}
