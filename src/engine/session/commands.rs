//! Commands to a session: from handles of this process, and from other processes through the
//! archive's queue. Each batch becomes events in one transaction, or is refused.
use super::Session;
use crate::debate::{
    Body, Cue, Debate, Envelope, Event, FailureKind, IllegalEvent, Step, TurnFailure, next, reply,
};
use crate::engine::command::{AwaitedReply, Command};
use crate::engine::ports::{LeaseSignal, LogError, ProviderReply, QueuedCommandId};
use crate::engine::run::CommandRequest;
use crate::engine::session_error::SessionError;
use crate::engine::{reply_acceptance, turn};

impl Session {
    /// Handles a request of this process. A refused command is an error of the caller, not of the
    /// session.
    pub(super) async fn handle_request(&mut self, request: CommandRequest) {
        let CommandRequest { commands, result_sender } = request;
        let count = commands.len();
        let result = self.execute_all(commands, None).await;
        match &result {
            Ok(()) => tracing::debug!(debate = %self.id(), commands = count, "commands executed"),
            Err(error) => {
                let reason = refusal_reason(error);
                tracing::info!(debate = %self.id(), commands = count, reason, "commands refused");
            }
        }
        let _ = result_sender.send(result);
    }

    /// Handles a signal of another process. A refused command is the sender's error. If the lease
    /// is lost, the command stays in the queue for the new holder.
    pub(super) async fn handle_signal(&mut self, signal: LeaseSignal) -> Result<(), SessionError> {
        let (command_id, commands) = match signal {
            LeaseSignal::Lost { new_holder: by } => {
                tracing::info!(debate = %self.id(), new_holder = %by, "lease lost");
                return Err(LogError::LeaseLost { by }.into());
            }
            LeaseSignal::Commands { id: command_id, commands } => (command_id, commands),
        };
        match self.execute_all(commands, Some(command_id)).await {
            Err(lost @ SessionError::Log(LogError::LeaseLost { .. })) => return Err(lost),
            Err(error) => {
                let (id, reason) = (self.id(), refusal_reason(&error));
                tracing::info!(debate = %id, command = command_id.0, reason, "remote command refused");
                self.log.refuse_command(command_id, &error.to_string()).await;
            }
            Ok(()) => {
                tracing::info!(debate = %self.id(), command = command_id.0, "remote command executed");
            }
        }
        Ok(())
    }

    /// Executes a command, if it is legal now.
    #[cfg(test)]
    pub async fn execute(&mut self, command: Command) -> Result<(), SessionError> {
        self.execute_all(vec![command], None).await
    }

    /// Executes commands in one transaction, all of them or none.
    pub(crate) async fn execute_all(
        &mut self,
        commands: Vec<Command>,
        command_id: Option<QueuedCommandId>,
    ) -> Result<(), SessionError> {
        let (mut events, mut replies) = (vec![], vec![]);
        for command in commands {
            match command.into_event() {
                Ok(event) => events.push(event),
                Err(reply) => replies.push(reply),
            }
        }
        if replies.is_empty() {
            let is_noop = events.is_empty() && command_id.is_none();
            return if is_noop { Ok(()) } else { self.write(events, command_id).await };
        }
        // The next prompts must be built from redacted events.
        let mut events = self.reply_pipeline.gate.redact_value(events)?;
        let mut after = self.debate.clone();
        for event in &events {
            after.apply(event.clone())?;
        }
        for reply in replies {
            for event in self.reply_events(&after, reply)? {
                after.apply(event.clone())?;
                events.push(event);
            }
        }
        match (events.is_empty(), command_id) {
            (true, None) => Ok(()),
            (true, command_id) => self.write(events, command_id).await,
            (false, command_id) => self.write_turns(events, &[], command_id).await.map(drop),
        }
    }

    /// Events a reply of an awaited seat adds. Idempotent: the same text again adds nothing.
    fn reply_events(
        &self,
        debate: &Debate,
        AwaitedReply { take, cue, text }: AwaitedReply,
    ) -> Result<Vec<Event>, SessionError> {
        if !debate.has_cue(cue) {
            return Err(not_due_error(debate, cue).into());
        }
        if let (Some(Ok(recorded)), true) = (debate.turn(cue), take == debate.take_number()) {
            let text = self.reply_pipeline.sanitize(&text);
            let reparsed = reply::parse(debate, cue, &text);
            let is_same = reparsed.is_ok_and(|body: Body| body == recorded.body);
            return if is_same { Ok(vec![]) } else { Err(SessionError::TurnTaken(cue)) };
        }
        match next(debate) {
            Step::Speak { awaited, .. }
                if take == debate.take_number() && awaited.contains(&cue) => {}
            _ => return Err(not_due_error(debate, cue).into()),
        }
        let envelope =
            Envelope { tool: debate.seat(cue).voice.tool().into(), ..Envelope::default() };
        let kind = debate.setup().phase(cue).reply;
        let checked = self.reply_pipeline.process_blocking(kind, ProviderReply { text, envelope });
        let event = reply_acceptance::parse_reply(debate, cue, checked)?;
        let asked_event = if debate.was_asked(cue) {
            None
        } else {
            turn::build_asked_event(debate, &[], self.clock.now())
                .map(|(asked_event, _)| asked_event)
        };
        Ok(asked_event.into_iter().chain([event]).collect())
    }
}

/// Why a command was refused, for the log. The full message may quote a reply.
fn refusal_reason(error: &SessionError) -> &'static str {
    match error {
        SessionError::Illegal(_) => "not due",
        SessionError::ReplyRejected(_) => "reply breaks a rule",
        SessionError::ReplyUnparsable(_) => "reply cannot be parsed",
        SessionError::TurnTaken(_) => "turn already has a reply",
        SessionError::Log(LogError::LeaseLost { .. }) => "lease lost",
        SessionError::Log(LogError::CommandWithdrawn) => "withdrawn",
        SessionError::Log(LogError::WriteFailed(_)) => "cannot write",
        SessionError::NotRunning => "not running",
    }
}

fn not_due_error(debate: &Debate, cue: Cue) -> IllegalEvent {
    let failure = TurnFailure::new(FailureKind::Other, "not its turn");
    let event = Box::new(Event::Failed { cue, failure });
    IllegalEvent { event, due: next(debate) }
}
