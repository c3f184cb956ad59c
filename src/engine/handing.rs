//! Seats that change hands: which seats a name stands for, and what hands them over.
use super::command::Command;
use super::desk::{Desk, DeskError};
use crate::debate::{Change, Debate, Role, Seat, Voice};

/// Whether a seat is meant by a name. Whoever judges also judges with the sides swapped, sums up and
/// audits.
fn meant(seat: &Seat, name: &str) -> bool {
    let role = match name.to_lowercase().as_str() {
        "proposer" => matches!(seat.role, Role::Pro | Role::Lead),
        "challenger" => matches!(seat.role, Role::Con | Role::Partner),
        "judge" => {
            matches!(seat.role, Role::Judge | Role::Mirror | Role::Scribe | Role::Auditor)
        }
        _ => false,
    };
    role || seat.name.to_lowercase() == name.to_lowercase()
}

impl Desk {
    /// What hands these seats over, and how everyone sits then. A seat that is handed to whoever has
    /// it already is no change. The record says by whom and when it was done.
    pub fn hand_over(
        &self,
        debate: &Debate,
        handed: &[(String, Voice)],
    ) -> Result<(Vec<Command>, Vec<Seat>), DeskError> {
        let mut after: Vec<Seat> = debate.seats().to_vec();
        let mut commands = vec![];
        for (name, voice) in handed {
            if !after.iter().any(|seat| meant(seat, name)) {
                let names: Vec<&str> = after.iter().map(|seat| seat.name.as_str()).collect();
                return Err(DeskError::NoSeat { name: name.clone(), names: names.join(", ") });
            }
            for (nth, seat) in (0u8..).zip(&mut after).filter(|(_, seat)| meant(seat, name)) {
                if seat.voice != *voice {
                    seat.voice = voice.clone();
                    let change = Change::Seat { seat: nth, voice: voice.clone() };
                    commands.push(Command::Amend { change, because: self.by_the_user() });
                }
            }
        }
        if !commands.is_empty() {
            self.sides_differ(&after)?;
        }
        Ok((commands, after))
    }

    /// `handed over by the user through claude-code, 2026-11-16T09:12:44Z`
    fn by_the_user(&self) -> String {
        let now = self.clock.now();
        let time = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        format!("handed over by the user through {}, {time:.0}", self.who())
    }
}
