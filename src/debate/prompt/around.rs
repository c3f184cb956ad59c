//! Values of prompt placeholders that do not depend on a single turn (rules, audience, report
//! goal), and the text form of turns in a transcript.
use super::Page;
use crate::debate::body::{Body, Kind, Novelty};
use crate::debate::format::{Role, Side};
use crate::debate::language;
use crate::debate::ledger::contested;
use crate::debate::nine;
use crate::debate::rules::{Rule, research};
use crate::debate::style;
use std::collections::BTreeMap;

impl Page<'_> {
    /// Value of a placeholder, or an empty string for an unknown name.
    pub(super) fn around(&self, name: &str) -> String {
        let (debate, cue) = (self.debate, self.cue);
        match name {
            "seat" => self.seat().name.clone(),
            "rules" => self.rules(),
            "audience" => self.audience(),
            "contested" => self.contested(),
            "language" => language::of(debate.topic(cue)).name().into(),
            "length" => {
                let limits = &debate.setup().limits;
                format!("{} to {} characters", limits.shortest, limits.longest)
            }
            "letter" => research::letter(debate, cue).to_string(),
            "words" => research::most_words(debate).to_string(),
            "goal" => match self.term("goal") {
                "" => format!("the best answer to: {}", debate.topic(cue)),
                goal => goal.into(),
            },
            "readers" => match self.term("audience") {
                "team" => "the user's team, which will have to live with the decision".into(),
                "public" => "anybody: explain what an outsider does not know".into(),
                _ => "the user alone, who decides".to_owned(),
            },
            "decision" => match self.term("decision_type") {
                "team-standardization" => {
                    "a direct recommendation with its rationale, what the migration costs, and an \
                     assessment of the risks"
                }
                "market-analysis" => {
                    "a judgment of the trend, and when to adopt it or to invest in it"
                }
                _ => "a direct recommendation and its rationale",
            }
            .into(),
            _ => String::new(),
        }
    }

    fn term(&self, name: &str) -> &str {
        self.debate.terms().get(name).map_or("", String::as_str)
    }

    /// Rules listed in the prompt: those of this phase, and for a scoring phase also those of the
    /// act's speeches. For a report, its section headings.
    fn rules(&self) -> String {
        let setup = self.debate.setup();
        let phase = setup.phase(self.cue);
        if phase.rules.iter().any(|(rule, _)| *rule == Rule::NineSections) {
            return nine::asked(language::of(self.debate.topic(self.cue))).join("\n");
        }
        let mut rules: Vec<Rule> = vec![];
        let act = &setup.act(self.cue).phases;
        let marked = phase.reply == Kind::Score;
        for row in act.iter().filter(|row| row.reply == Kind::Speech && marked).chain([phase]) {
            let new = row.rules.iter().map(|(rule, _)| *rule).filter(|it| !rules.contains(it));
            let new: Vec<Rule> = new.collect();
            rules.extend(new);
        }
        if rules.is_empty() {
            return "- none but those of the debate itself".into();
        }
        rules.iter().map(|rule| format!("- {}", rule.asks())).collect::<Vec<_>>().join("\n")
    }

    fn audience(&self) -> String {
        let horizon = self.debate.horizon(self.cue);
        let listener = |(nth, seat): (u8, &crate::debate::seat::Seat)| {
            let mut own = self.debate.spoken(..horizon).filter(|(past, _)| past.seat == nth);
            let spoke = own.any(|(_, body)| body.kind() == Kind::Speech);
            let has = if spoke { "has spoken" } else { "has not spoken yet" };
            (seat.role == Role::Audience).then(|| match seat.kind.as_str() {
                kind if kind.is_empty() || kind == seat.name => format!("- {}: {has}", seat.name),
                kind => format!("- {} ({kind}): {has}", seat.name),
            })
        };
        let seats = (0u8..).zip(self.debate.seats_at(self.cue));
        let lines: Vec<String> = seats.filter_map(listener).collect();
        if lines.is_empty() { "- nobody".into() } else { lines.join("\n") }
    }

    /// The contested claims. The judge must fill in a `checks` entry for each.
    fn contested(&self) -> String {
        let all = contested(self.debate, self.debate.horizon(self.cue));
        if all.is_empty() {
            return "No claim is contested: `checks` is an empty list.".into();
        }
        let mut by_side: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for entry in &all {
            let label = self.debate.label_for(self.cue, entry.side).unwrap_or(entry.side.word());
            by_side.entry(label.into()).or_default().push(&entry.claim.id);
        }
        let lines = by_side.iter().map(|(label, ids)| format!("- of {label}: {}", ids.join(", ")));
        format!(
            "Contested claims, about each of which `checks` must have an entry:\n{}",
            lines.collect::<Vec<_>>().join("\n")
        )
    }

    /// Text of a turn as this seat sees it: with the side names it knows, and for judges and
    /// audiences without Markdown style.
    pub(super) fn said(&self, body: &Body) -> String {
        let newer = self.debate.setup().wording >= 3;
        let text = match body {
            Body::Speech { .. } => super::spoken(body, newer),
            Body::Petition { supports: Some(side), claim, novelty, .. } => {
                let what = match novelty {
                    Novelty::New => "something new",
                    Novelty::Reinforcement => "a reinforcement",
                };
                format!("Asks to speak for {}, with {what}: {claim}", self.called(*side))
            }
            Body::Petition { supports: None, .. } => "Does not ask for the floor.".into(),
            Body::Score { pro, con, fouls, comment } => {
                let marks = |marks: &BTreeMap<String, u8>| {
                    let mark = |(name, tenths): (&String, &u8)| {
                        format!("{name} {:.1}", f64::from(*tenths) / 10.0)
                    };
                    marks.iter().map(mark).collect::<Vec<_>>().join(", ")
                };
                let mut lines = vec![];
                for (side, own) in [(Side::Pro, pro), (Side::Con, con)] {
                    lines.push(format!("{}: {}", self.called(side), marks(own)));
                }
                for foul in fouls {
                    let whose = self.called(foul.side);
                    lines.push(format!("Foul of {whose}: {} {}", foul.kind, foul.note));
                }
                lines.push(comment.clone());
                lines.join("\n")
            }
            Body::Ruling { admits, because, .. } => match admits {
                Some(name) => format!("Lets `{name}` speak: {because}"),
                None => format!("Lets nobody speak: {because}"),
            },
            _ => body.text(),
        };
        self.even(text)
    }

    /// Strips Markdown style for judges and audiences, from wording version 3 on.
    pub(super) fn even(&self, text: String) -> String {
        let judges = matches!(self.seat().role, Role::Judge | Role::Mirror | Role::Audience);
        let newer = self.debate.setup().wording >= 3;
        if newer && judges { style::plain(&text) } else { text }
    }

    fn called(&self, side: Side) -> String {
        match self.debate.label_for(self.cue, side) {
            Some(label) => format!("Side {label}"),
            None => side.word().into(),
        }
    }
}
