//! Checks of participants and rounds, before anything is asked.
use super::{App, AppError};
use crate::debate::{Debate, Participant, Role, Seat, next};

impl App {
    /// Checks that all these participants are available.
    pub fn check_available(&self, participants: &[&Participant]) -> Result<(), AppError> {
        Ok(participants
            .iter()
            .try_for_each(|participant| self.providers.check_available(participant))?)
    }

    /// Checks that the participants that may still be asked are available. In the final act these
    /// are only the seats that speak there.
    pub fn check_remaining_seats(&self, debate: &Debate, seats: &[Seat]) -> Result<(), AppError> {
        let setup = debate.setup();
        let final_act = setup.ending_act();
        let in_final_act = next(debate).first_cue().is_some_and(|cue| cue.act == final_act);
        let speaks_in_final_act = |seat: &Seat| {
            let phases = &setup.format.acts[usize::from(final_act)].phases;
            phases.iter().any(|phase| phase.speakers.roles().contains(&seat.role))
        };
        for seat in seats.iter().filter(|seat| !in_final_act || speaks_in_final_act(seat)) {
            self.providers.check_available(&seat.voice)?;
        }
        Ok(())
    }

    /// Validates a number of rounds against the format's range.
    pub fn check_rounds(&self, format: &str, rounds: u64) -> Result<u8, AppError> {
        let offer = &self.catalog.find(format)?.offer;
        let valid = u8::try_from(rounds).ok().filter(|rounds| offer.rounds.contains(rounds));
        let (least, most) = (*offer.rounds.start(), *offer.rounds.end());
        valid.ok_or(AppError::RoundsOutOfRange { asked: rounds, least, most })
    }

    /// Checks that the two sides are not the same participant.
    pub(crate) fn check_sides_differ(&self, seats: &[Seat]) -> Result<(), AppError> {
        let side = |role: Role| seats.iter().find(|seat| seat.role == role);
        match (side(Role::Pro), side(Role::Con)) {
            (Some(pro), Some(con)) => {
                let conflict = self.providers.side_conflict(&pro.voice, &con.voice);
                conflict.map_or(Ok(()), |why| Err(AppError::SideConflict(why)))
            }
            _ => Ok(()),
        }
    }

    /// Checks that these participants can sit together and are available.
    pub fn check_seats(&self, seats: &[Seat]) -> Result<(), AppError> {
        self.check_sides_differ(seats)?;
        for seat in seats {
            self.providers.check_available(&seat.voice)?;
        }
        Ok(())
    }
}
