//! Read access to [`Debate`]. Methods ending in `_at` return the value when that cue was asked. The
//! scheduler, prompts, rules, reports and front ends all read the state through these methods.
//! `fold` has the writing side.
use super::{Debate, RecordedFeedback, Remark, SeatTransfer};
use crate::debate::record::body::Body;
use crate::debate::record::event::{DebateOutcome, RejectedReply, Reply, TurnFailure};
use crate::debate::record::schedule_cursor::ScheduleCursor;
use crate::debate::setup::budget::{Budget, Spend};
use crate::debate::setup::cue::{Cue, Position};
use crate::debate::setup::debate_setup::{HoldPoint, Setup};
use crate::debate::setup::format::{MAX_OPEN_ROUNDS, Role, Side};
use crate::debate::setup::seat::Seat;
use std::collections::BTreeMap;
use std::ops::RangeBounds;

impl Debate {
    /// Setup the debate was opened with.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }
    /// Whether a prompt that contains this remark has been sent.
    pub fn was_heard(&self, remark: &Remark) -> bool {
        self.asked.range(remark.from..).next().is_some()
    }
    /// The current topic.
    pub fn current_topic(&self) -> &str {
        &self.current_settings().topic
    }
    /// The current seats.
    pub fn seats(&self) -> &[Seat] {
        &self.current_settings().seats
    }
    /// The current seat of a cue.
    pub fn seat(&self, cue: Cue) -> &Seat {
        &self.seats()[usize::from(cue.seat)]
    }
    /// The first seat with this role.
    pub fn find_seat(&self, role: Role) -> Option<&Seat> {
        self.seats().iter().find(|seat| seat.role == role)
    }
    /// Whether this role has a seat and the format uses it.
    pub fn has_active_role(&self, role: Role) -> bool {
        self.setup.format.uses_role(role) && self.find_seat(role).is_some()
    }
    /// The seats when this cue was asked.
    pub fn seats_at(&self, cue: Cue) -> &[Seat] {
        &self.settings_at(cue).seats
    }
    /// Number of rounds currently requested.
    pub fn rounds(&self) -> u8 {
        self.current_settings().rounds
    }
    /// Number of rounds requested when this cue was asked.
    pub fn rounds_at(&self, cue: Cue) -> u8 {
        self.settings_at(cue).rounds
    }
    /// Points at which the debate waits for the user.
    pub fn holds(&self) -> &[HoldPoint] {
        &self.holds
    }
    /// Options of the format by name.
    pub fn terms(&self) -> &BTreeMap<String, String> {
        &self.terms
    }
    /// Whether the user asked for a hold.
    pub fn is_held(&self) -> bool {
        self.held
    }
    /// How the debate ended, if it has.
    pub fn outcome(&self) -> Option<&DebateOutcome> {
        self.outcome.as_ref()
    }
    /// Remarks by the user.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
    /// Seats given to another participant, in order.
    pub fn seat_transfers(&self) -> &[SeatTransfer] {
        &self.seat_transfers
    }
    /// The topic when this cue was asked, or if it were asked now.
    pub fn topic_at(&self, cue: Cue) -> &str {
        &self.settings_at(cue).topic
    }
    /// Whether the debate was asked to end.
    pub fn is_concluded(&self) -> bool {
        self.concluded
    }
    /// The latest round the user allowed to begin.
    pub fn continued_until(&self) -> Option<Position> {
        self.continued
    }
    /// Total spend over all takes.
    pub fn spent(&self) -> Spend {
        self.spent
    }
    /// The current spending limits.
    pub fn budget(&self) -> Budget {
        self.budget
    }
    /// Number of times the debate was reopened. Take and cue identify a prompt.
    pub fn take_number(&self) -> u16 {
        self.take
    }
    /// Reason for cancelling or concluding, if one was given.
    pub fn end_reason(&self) -> Option<&str> {
        match self.outcome {
            Some(DebateOutcome::Cancelled) => self.cancelled_because.as_deref(),
            _ => self.concluded_because.as_deref(),
        }
    }
    /// The user's decision.
    pub fn decision(&self) -> Option<&str> {
        self.decision.as_deref()
    }
    /// Whether the verdict proved right, if that is known.
    pub fn feedback(&self) -> Option<&RecordedFeedback> {
        self.feedback.as_ref()
    }
    /// Whether to keep the written record, if the user said so.
    pub fn keep_record(&self) -> Option<bool> {
        self.keep_record
    }
    /// Whether this cue has been asked.
    pub fn was_asked(&self, cue: Cue) -> bool {
        self.asked.contains_key(cue)
    }
    /// Deadline of an awaited reply in Unix milliseconds, if it has one.
    pub fn deadline(&self, cue: Cue) -> Option<i64> {
        self.asked.get(cue).copied().flatten()
    }
    /// The rejected first reply at this cue, if there is one.
    pub fn rejected_reply(&self, cue: Cue) -> Option<&RejectedReply> {
        self.refused.get(cue)
    }
    /// The recorded turn at a cue: a reply or a failure.
    pub fn turn(&self, cue: Cue) -> Option<&Result<Reply, TurnFailure>> {
        self.turns.get(cue)
    }
    /// The failure at a cue, if its turn failed.
    pub fn failure(&self, cue: Cue) -> Option<&TurnFailure> {
        self.turns.get(cue)?.as_ref().err()
    }
    /// All recorded turns, in debate order.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = (Cue, &Result<Reply, TurnFailure>)> {
        self.turns_in(..)
    }
    /// Recorded turns in a range of cues.
    pub fn turns_in(
        &self,
        cues: impl RangeBounds<Cue>,
    ) -> impl DoubleEndedIterator<Item = (Cue, &Result<Reply, TurnFailure>)> {
        self.turns.range(cues)
    }
    /// Replies in a range of cues, without failed turns.
    pub fn replies_in(
        &self,
        cues: impl RangeBounds<Cue>,
    ) -> impl DoubleEndedIterator<Item = (Cue, &Body)> {
        self.turns_in(cues).filter_map(|(cue, turn)| Some((cue, &turn.as_ref().ok()?.body)))
    }
    /// Whether a side has made a speech.
    pub fn has_side_spoken(&self, side: Side) -> bool {
        let seats = self.seats();
        self.turns.speakers().any(|seat| seats[usize::from(seat)].role.side() == Some(side))
    }
    /// First speech of a seat, if it has made one.
    pub(in crate::debate) fn first_speech(&self, seat: u8) -> Option<Cue> {
        self.turns.first_speech(seat)
    }
    /// Where the scheduler resumes.
    pub(in crate::debate) fn schedule_cursor(&self) -> &ScheduleCursor {
        &self.schedule_cursor
    }
    /// Failed turns. A debate that ends with any of them is degraded.
    pub fn failed_turns(&self) -> impl Iterator<Item = (Cue, &TurnFailure)> {
        self.turns.failed_cues().filter_map(|cue| Some((cue, self.failure(cue)?)))
    }
    /// Tool that played a cue: from the envelope, else from the seat at that time.
    pub fn tool_at(&self, cue: Cue) -> &str {
        let envelope = match self.turns.get(cue) {
            Some(Ok(reply)) => Some(&reply.envelope),
            Some(Err(failure)) => Some(&failure.envelope),
            None => None,
        };
        let tool = envelope.map(|envelope| envelope.tool.as_str()).filter(|tool| !tool.is_empty());
        let seat = || self.seats_at(cue).get(usize::from(cue.seat)).unwrap_or(self.seat(cue));
        tool.unwrap_or_else(|| seat().voice.tool())
    }
    /// Returns the first cue of this cue's wave. Only earlier turns are visible to the seat, so
    /// seats of a parallel phase never see each other, in whatever order the replies arrive.
    pub fn wave_start(&self, cue: Cue) -> Cue {
        *self.setup.wave(cue).start()
    }

    /// Iterates over all replies before this cue's wave, visible to the seat or not.
    pub fn replies_before(&self, cue: Cue) -> impl DoubleEndedIterator<Item = (Cue, &Body)> {
        self.replies_in(..self.wave_start(cue))
    }
    /// Whether a cue exists in this debate.
    pub fn has_cue(&self, cue: Cue) -> bool {
        self.setup.has_phase(cue)
            && usize::from(cue.seat) < self.seats().len()
            && cue.round <= MAX_OPEN_ROUNDS
    }
    /// Whether a turn was asked or recorded.
    pub(in crate::debate) fn has_begun(&self) -> bool {
        !self.asked.is_empty() || !self.turns.is_empty()
    }
    /// Cues that were asked, in debate order.
    pub(in crate::debate) fn asked_cues(&self) -> impl Iterator<Item = Cue> {
        self.asked.keys()
    }
}
