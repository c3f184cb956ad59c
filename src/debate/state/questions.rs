//! What can be asked of a debate.
use super::{Debate, Handed, Lesson, Remark};
use crate::debate::body::{Body, Kind};
use crate::debate::envelope::Spend;
use crate::debate::event::{Attempt, Cue, Failure, Outcome, Reply, Stand};
use crate::debate::format::{Role, Side};
use crate::debate::seat::Seat;
use crate::debate::setup::{Budget, Hold, Setup};
use std::collections::BTreeMap;
use std::ops::RangeBounds;

impl Debate {
    /// As it was opened.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }
    /// Whether anyone who may hear a remark has been asked since it was made.
    pub fn was_heard(&self, remark: &Remark) -> bool {
        self.asked.range(remark.from..).next().is_some()
    }
    /// The question as it stands now.
    pub fn question(&self) -> &str {
        &self.now().topic
    }
    /// As they sit now.
    pub fn seats(&self) -> &[Seat] {
        &self.now().seats
    }
    /// Who sits at a cue now.
    pub fn seat(&self, cue: Cue) -> &Seat {
        &self.seats()[usize::from(cue.seat)]
    }
    /// The first seat with this role.
    pub fn seated(&self, role: Role) -> Option<&Seat> {
        self.seats().iter().find(|seat| seat.role == role)
    }
    /// Whether somebody with this role is seated and has something to do.
    pub fn takes_part(&self, role: Role) -> bool {
        self.setup.format.seats(role) && self.seated(role).is_some()
    }
    /// Who sat where when this cue was asked.
    pub fn seats_at(&self, cue: Cue) -> &[Seat] {
        &self.era(cue).seats
    }
    /// How many are asked for now.
    pub fn rounds(&self) -> u8 {
        self.now().rounds
    }
    /// How many were asked for when this cue was asked.
    pub fn rounds_at(&self, cue: Cue) -> u8 {
        self.era(cue).rounds
    }
    /// Where the floor is the user's now.
    pub fn holds(&self) -> &[Hold] {
        &self.holds
    }
    /// What the format was told besides, by name.
    pub fn terms(&self) -> &BTreeMap<String, String> {
        &self.terms
    }
    /// Whether the user asked for the floor.
    pub fn held(&self) -> bool {
        self.held
    }
    /// How it ended, if it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }
    /// What the user said.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
    /// Seats that changed hands, in the order they did.
    pub fn handed(&self) -> &[Handed] {
        &self.handed
    }
    /// The question as it stood when this cue was asked, or would be.
    pub fn topic(&self, cue: Cue) -> &str {
        &self.era(cue).topic
    }
    /// Whether someone asked to end it.
    pub fn concluded(&self) -> bool {
        self.concluded
    }
    /// The furthest round the user let begin.
    pub fn continued(&self) -> Option<Stand> {
        self.continued
    }
    /// By every take.
    pub fn spent(&self) -> Spend {
        self.spent
    }
    /// What may be spent in all.
    pub fn budget(&self) -> Budget {
        self.budget
    }
    /// How often it was reopened. With a cue, it names a prompt for good.
    pub fn take(&self) -> u16 {
        self.take
    }
    /// Why it was cut short, if it was and somebody has said so.
    pub fn because(&self) -> Option<&str> {
        match self.outcome {
            Some(Outcome::Cancelled) => self.cancelled_because.as_deref(),
            _ => self.concluded_because.as_deref(),
        }
    }
    /// What the user made of it.
    pub fn decision(&self) -> Option<&str> {
        self.decision.as_deref()
    }
    /// What became of the verdict in the world, if that is known.
    pub fn learned(&self) -> Option<&Lesson> {
        self.learned.as_ref()
    }
    /// Whether the written record is to stay, if the user said so.
    pub fn kept(&self) -> Option<bool> {
        self.kept
    }
    /// Whether this seat has been told what to answer.
    pub fn was_asked(&self, cue: Cue) -> bool {
        self.asked.contains_key(&cue)
    }
    /// Until when an awaited reply may come, if it has been asked for and may be late.
    pub fn deadline(&self, cue: Cue) -> Option<i64> {
        self.asked.get(&cue).copied().flatten()
    }
    /// What this seat answered first, if that was not taken.
    pub fn refused(&self, cue: Cue) -> Option<&Attempt> {
        self.refused.get(&cue)
    }
    /// A taken turn.
    pub fn turn(&self, cue: Cue) -> Option<&Result<Reply, Failure>> {
        self.turns.get(&cue)
    }
    /// A lost turn.
    pub fn failure(&self, cue: Cue) -> Option<&Failure> {
        self.turns.get(&cue)?.as_ref().err()
    }
    /// Every taken turn, in the order of the debate.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = (Cue, &Result<Reply, Failure>)> {
        self.within(..)
    }
    /// The taken turns among these cues.
    pub fn within(
        &self,
        cues: impl RangeBounds<Cue>,
    ) -> impl DoubleEndedIterator<Item = (Cue, &Result<Reply, Failure>)> {
        self.turns.range(cues).map(|(cue, turn)| (*cue, turn))
    }
    /// What was said among these cues, leaving out what failed.
    pub fn spoken(
        &self,
        cues: impl RangeBounds<Cue>,
    ) -> impl DoubleEndedIterator<Item = (Cue, &Body)> {
        self.within(cues).filter_map(|(cue, turn)| Some((cue, &turn.as_ref().ok()?.body)))
    }
    /// Whether a side has made a speech.
    pub fn spoke(&self, side: Side) -> bool {
        self.spoken(..).any(|(cue, body)| {
            body.kind() == Kind::Speech && self.seat(cue).role.side() == Some(side)
        })
    }
    /// A debate that came to its end with something missing is a degraded success.
    pub fn missing(&self) -> impl Iterator<Item = (Cue, &Failure)> {
        self.turns().filter_map(|(cue, turn)| Some((cue, turn.as_ref().err()?)))
    }
    /// The tool that spoke at a cue: as its envelope says, or as the seat was held then.
    pub fn tool(&self, cue: Cue) -> &str {
        let envelope = match self.turns.get(&cue) {
            Some(Ok(reply)) => Some(&reply.envelope),
            Some(Err(failure)) => Some(&failure.envelope),
            None => None,
        };
        let tool = envelope.map(|envelope| envelope.tool.as_str()).filter(|tool| !tool.is_empty());
        let seat = || self.seats_at(cue).get(usize::from(cue.seat)).unwrap_or(self.seat(cue));
        tool.unwrap_or_else(|| seat().voice.tool())
    }
}
