//! A short label for every event of a debate. The timeline, the transcript and the live updates
//! share it.
use super::html::truncate;
use crate::debate::{Amendment, Cue, Debate, DebateOutcome, Event};
use crate::report::participants::speaker_title;
use crate::report::sanitize::one_line;

/// Maximum length of a label, in characters.
const MAX_LABEL_CHARS: usize = 160;
/// Maximum number of turns named in the label of one event.
const MAX_NAMED_TURNS: usize = 4;
/// Characters shown of the name of an act.
const MAX_ACT_CHARS: usize = 40;

/// Describes an event, without the text of any reply.
pub(super) fn event_label(debate: &Debate, event: &Event) -> String {
    let speaker = |cue: &Cue| {
        if debate.has_cue(*cue) {
            format!("{} ({})", one_line(&speaker_title(debate, *cue)), round_label(debate, *cue))
        } else {
            "somebody unknown".into()
        }
    };
    let label = match event {
        Event::Asked { cues, .. } => {
            let mut names: Vec<String> = cues.iter().take(MAX_NAMED_TURNS).map(speaker).collect();
            if cues.len() > names.len() {
                names.push(format!("{} more", cues.len() - names.len()));
            }
            format!("Asked: {}", names.join(", "))
        }
        Event::Refused { cue, .. } => format!("Asked once more: {}", speaker(cue)),
        Event::Spoke { cue, .. } => format!("Answered: {}", speaker(cue)),
        Event::Failed { cue, failure } => format!("{}: {}", failure.trouble.as_str(), speaker(cue)),
        Event::Interjected { .. } => "A remark of the user".into(),
        Event::Held => "The user asked for a pause".into(),
        Event::Continued { before } if before.round > 0 => {
            format!("The user let round {} begin", before.round)
        }
        Event::Continued { .. } => "The user let it go on".into(),
        Event::Amended { change, because } => {
            let because = one_line(because);
            let reason = if because.is_empty() { because } else { format!(" ({because})") };
            format!("Changed: {}{reason}", describe_change(debate, change))
        }
        Event::Concluded { because: Some(reason) } => {
            format!("On to the ending: {}", one_line(reason))
        }
        Event::Concluded { because: None } => "The user asked for the ending".into(),
        Event::Cancelled { .. } => "It was stopped".into(),
        Event::Closed { outcome } => describe_outcome(outcome),
        Event::Reopened { from } => format!("Taken up again at {}", speaker(from)),
        Event::Decided { text } => format!("The user decided: {}", one_line(text)),
        Event::Learned { proof, note, .. } => {
            format!("The verdict turned out {}: {}", proof.as_str(), one_line(note))
        }
        Event::Kept { keep: true } => "The record is kept".into(),
        Event::Kept { keep: false } => "The record is not kept".into(),
    };
    truncate(label.trim_end_matches([':', ' ']), MAX_LABEL_CHARS)
}

/// For example `round 2`, or the name of the act outside of rounds.
pub(super) fn round_label(debate: &Debate, cue: Cue) -> String {
    match cue.round {
        0 => truncate(&one_line(&debate.setup().act(cue).name), MAX_ACT_CHARS),
        round => format!("round {round}"),
    }
}

fn describe_change(debate: &Debate, change: &Amendment) -> String {
    match change {
        Amendment::Seat { seat, voice } => {
            let name = debate.seats().get(usize::from(*seat)).map_or("", |seat| seat.title());
            format!("{} is now {voice}", one_line(name))
        }
        Amendment::Limit { .. } => "what may be spent".into(),
        Amendment::Plan { rounds: Some(rounds), .. } => format!("{rounds} rounds"),
        Amendment::Plan { .. } => "the plan".into(),
        Amendment::Terms { .. } => "its terms".into(),
        Amendment::Topic { topic } => format!("the question is now: {}", one_line(topic)),
    }
}

fn describe_outcome(outcome: &DebateOutcome) -> String {
    match outcome {
        DebateOutcome::Completed => "It came to its end".into(),
        DebateOutcome::Ended => "It was ended".into(),
        DebateOutcome::Settled { after } => format!("Nothing was left to say after round {after}"),
        DebateOutcome::Curtailed { phase, .. } => format!("It ended early: `{}`", one_line(phase)),
        DebateOutcome::Aborted { phase, .. } => format!("It was aborted: `{}`", one_line(phase)),
        DebateOutcome::Uncontested { .. } => "It ended uncontested".into(),
        DebateOutcome::Forfeited { by } => format!("The {} lost by silence", by.role_name()),
        DebateOutcome::Cancelled => "It was cancelled".into(),
    }
}
