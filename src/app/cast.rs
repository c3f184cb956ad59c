//! [`Cast`]: the participants of a debate.
use crate::debate::Participant;
use std::path::Path;

/// The participants of a debate.
#[derive(Clone, Debug)]
pub struct Cast {
    /// Argues for, or leads a dialogue.
    pub proposer: Participant,
    /// Argues against, or questions the lead.
    pub challenger: Participant,
    /// Rules, and summarizes long debates.
    pub judge: Participant,
    /// No judge, because none is available.
    pub no_judge: bool,
    /// Additional judges.
    pub panel: Vec<Participant>,
    /// Additional partners, who question the lead.
    pub partners: Vec<Participant>,
    /// Roles of a research debate. Default: two that argue for and against.
    pub roles: Vec<ResearchRole>,
    /// Audience members, who vote.
    pub audience: Vec<Listener>,
    /// Names of the two sides, where the default names are not used.
    pub side_names: [Option<String>; 2],
    /// Seats that were filled automatically, with reasons.
    pub choices: Vec<String>,
}

impl Cast {
    /// The three main seats, and no others.
    pub fn new(proposer: Participant, challenger: Participant, judge: Participant) -> Cast {
        Cast {
            proposer,
            challenger,
            judge,
            no_judge: false,
            panel: vec![],
            partners: vec![],
            roles: vec![],
            audience: vec![],
            side_names: [None, None],
            choices: vec![],
        }
    }

    /// One participant in all three main seats.
    pub fn solo(participant: Participant) -> Cast {
        Cast::new(participant.clone(), participant.clone(), participant)
    }
}

/// A role of a research debate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResearchRole {
    /// Heading of its reports.
    pub name: String,
    /// What it argues for.
    pub stance: String,
    pub participant: Participant,
}

/// An audience member, who listens and votes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Type, one of those the format has templates for.
    pub kind: String,
    pub participant: Participant,
    /// Weight of its vote.
    pub weight: u16,
}

/// Makes the path of a script absolute, so that the debate can be resumed from any folder.
pub fn with_absolute_script(participant: Participant, folder: &Path) -> Participant {
    match participant {
        Participant::Model { tool, model: Some(file) } if tool == "script" => {
            let path = folder.join(&file).display().to_string();
            Participant::Model { tool, model: Some(path) }
        }
        participant => participant,
    }
}
