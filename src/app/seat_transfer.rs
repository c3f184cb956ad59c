//! Seat transfer: which seats a name stands for, and the commands that give them to another
//! participant.
use crate::app::{App, AppError};
use crate::debate::{Amendment, Debate, Participant, Role, Seat};
use crate::engine::command::Command;

/// Whether a name means this seat. `judge` also means the mirror, scribe and auditor seats.
fn is_named(seat: &Seat, name: &str) -> bool {
    let matches_role = match name.to_lowercase().as_str() {
        "proposer" => matches!(seat.role, Role::Pro | Role::Lead),
        "challenger" => matches!(seat.role, Role::Con | Role::Partner),
        "judge" => {
            matches!(seat.role, Role::Judge | Role::Mirror | Role::Scribe | Role::Auditor)
        }
        _ => false,
    };
    matches_role || seat.name.to_lowercase() == name.to_lowercase()
}

impl App {
    /// Commands that transfer seats, and the seats afterwards. A seat that already has the
    /// participant is skipped. The reason in the record names the client and the time.
    pub fn transfer_seats(
        &self,
        debate: &Debate,
        transfers: &[(String, Participant)],
    ) -> Result<(Vec<Command>, Vec<Seat>), AppError> {
        let mut seats: Vec<Seat> = debate.seats().to_vec();
        let mut commands = vec![];
        for (name, participant) in transfers {
            if !seats.iter().any(|seat| is_named(seat, name)) {
                let names: Vec<&str> = seats.iter().map(|seat| seat.name.as_str()).collect();
                return Err(AppError::UnknownSeat { name: name.clone(), names: names.join(", ") });
            }
            for (index, seat) in (0u8..).zip(&mut seats).filter(|(_, seat)| is_named(seat, name)) {
                if seat.voice != *participant {
                    seat.voice = participant.clone();
                    let change = Amendment::Seat { seat: index, voice: participant.clone() };
                    commands.push(Command::Amend { change, because: self.transfer_reason() });
                }
            }
        }
        if !commands.is_empty() {
            self.check_sides_differ(&seats)?;
        }
        Ok((commands, seats))
    }

    /// As in `handed over by the user through claude-code, 2026-11-16T09:12:44Z`.
    fn transfer_reason(&self) -> String {
        let now = self.clock.now();
        let time = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        format!("handed over by the user through {}, {time:.0}", self.client_name())
    }
}
