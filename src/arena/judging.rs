//! Judges of an arena, and the request that starts the debate of a room with them.
use super::limits::ArenaLimits;
use super::room::Room;
use crate::app::{Cast, DebateContext, FixedSeating, Listener, Seating, StartPolicy, StartRequest};
use crate::debate::{Budget, Participant};
use crate::options::DebateOptions;
use std::path::Path;

/// Judges, audience and budget of every debate in the arena.
#[derive(Clone, Debug, Default)]
pub struct JudgingConfig {
    /// The first is the judge, the others form the panel. If empty, debates are not judged.
    pub judges: Vec<Participant>,
    /// Participants that vote.
    pub audience: Vec<Listener>,
    /// Budget of each debate.
    pub budget: Budget,
    /// Why these judges were selected, if the user named none.
    pub seat_choices: Vec<String>,
}

impl JudgingConfig {
    /// The request that starts the debate of a room: bots argue, and the judges were chosen when
    /// the server started.
    pub(super) fn start_request(
        &self,
        room: &Room,
        limits: &ArenaLimits,
        folder: &Path,
    ) -> StartRequest {
        use crate::debate::Side::{Con, Pro};
        let JudgingConfig { judges, audience, budget, seat_choices } = self;
        let judge = judges.first().cloned();
        let bot_on = |side| room.bot_on_side(side);
        let cast = Cast {
            no_judge: judge.is_none(),
            panel: judges.iter().skip(1).cloned().collect(),
            audience: audience.clone(),
            side_names: [Pro, Con].map(|side| bot_on(side).map(|it| it.identifier.clone())),
            choices: seat_choices.clone(),
            ..Cast::new(Participant::Bot, Participant::Bot, judge.unwrap_or(Participant::Bot))
        };
        let options = DebateOptions {
            format: Some("arena".into()),
            rounds: Some(room.rounds.into()),
            await_seconds: Some(limits.speech_seconds),
            ..DebateOptions::default()
        };
        let bot_terms = [("supporting_bot", Pro), ("opposing_bot", Con)];
        let bot_terms =
            bot_terms.map(|(term, side)| (term, bot_on(side).map(|it| it.name.clone())));
        let bot_terms =
            bot_terms.into_iter().filter_map(|(term, name)| Some((term.to_owned(), name?)));
        let (policy, folder) = (StartPolicy::unattended(), folder.to_owned());
        StartRequest {
            seating: Seating::Fixed(Box::new(FixedSeating {
                cast,
                context: DebateContext::default(),
                check_available: false,
            })),
            budget: Some(*budget),
            terms: bot_terms.chain([("arena".to_owned(), room.id.clone())]).collect(),
            ..StartRequest::new(&room.topic, options, policy, folder)
        }
    }
}
