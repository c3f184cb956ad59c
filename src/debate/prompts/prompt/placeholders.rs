//! Values of prompt placeholders that do not depend on a single turn (rules, audience, report
//! goal), and the text form of turns in a transcript.
use super::PromptContext;
use crate::debate::claims::ledger::claims_to_check;
use crate::debate::record::body::{Body, Novelty};
use crate::debate::record::stances;
use crate::debate::setup::format::{ReplyKind, Role, Side};
use crate::debate::setup::report_sections;
use crate::debate::setup::rule::Rule;
use crate::debate::text::{language, style};
use std::collections::BTreeMap;

impl PromptContext<'_> {
    /// Value of a placeholder, or an empty string for an unknown name.
    pub(super) fn placeholder_value(&self, name: &str) -> String {
        let (debate, cue) = (self.debate, self.cue);
        match name {
            "seat" => self.seat().name.clone(),
            "rules" => self.rules_text(),
            "audience" => self.audience_list(),
            "contested" => self.contested_claims(),
            "language" => language::detect(debate.topic_at(cue)).name().into(),
            "length" => {
                let limits = &debate.setup().limits;
                format!("{} to {} characters", limits.shortest, limits.longest)
            }
            "letter" => stances::stance_letter(debate, cue).to_string(),
            "words" => stances::max_words(debate).to_string(),
            "goal" => match self.format_option("goal") {
                "" => format!("the best answer to: {}", debate.topic_at(cue)),
                goal => goal.into(),
            },
            "readers" => match self.format_option("audience") {
                "team" => "the user's team, which will have to live with the decision".into(),
                "public" => "anybody: explain what an outsider does not know".into(),
                _ => "the user alone, who decides".to_owned(),
            },
            "decision" => match self.format_option("decision_type") {
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

    fn format_option(&self, name: &str) -> &str {
        self.debate.terms().get(name).map_or("", String::as_str)
    }

    /// Rules listed in the prompt: those of this phase, and for a scoring phase also those of the
    /// act's speeches. For a report, its section headings.
    fn rules_text(&self) -> String {
        let setup = self.debate.setup();
        let phase = setup.phase(self.cue);
        if phase.rules.iter().any(|(rule, _)| *rule == Rule::NineSections) {
            return report_sections::numbered_headings(language::detect(
                self.debate.topic_at(self.cue),
            ))
            .join("\n");
        }
        let mut rules: Vec<Rule> = vec![];
        let phases = &setup.act(self.cue).phases;
        let is_scoring = phase.reply == ReplyKind::Score;
        for row in
            phases.iter().filter(|row| row.reply == ReplyKind::Speech && is_scoring).chain([phase])
        {
            let new = row.rules.iter().map(|(rule, _)| *rule).filter(|it| !rules.contains(it));
            let new: Vec<Rule> = new.collect();
            rules.extend(new);
        }
        if rules.is_empty() {
            return "- none but those of the debate itself".into();
        }
        rules.iter().map(|rule| format!("- {}", rule.description())).collect::<Vec<_>>().join("\n")
    }

    fn audience_list(&self) -> String {
        let horizon = self.debate.wave_start(self.cue);
        let listener = |(index, seat): (u8, &crate::debate::setup::seat::Seat)| {
            let mut replies =
                self.debate.replies_in(..horizon).filter(|(past, _)| past.seat == index);
            let spoke = replies.any(|(_, body)| body.kind() == ReplyKind::Speech);
            let status = if spoke { "has spoken" } else { "has not spoken yet" };
            (seat.role == Role::Audience).then(|| match seat.kind.as_str() {
                kind if kind.is_empty() || kind == seat.name => {
                    format!("- {}: {status}", seat.name)
                }
                kind => format!("- {} ({kind}): {status}", seat.name),
            })
        };
        let seats = (0u8..).zip(self.debate.seats_at(self.cue));
        let lines: Vec<String> = seats.filter_map(listener).collect();
        if lines.is_empty() { "- nobody".into() } else { lines.join("\n") }
    }

    /// The contested claims. The judge must fill in a `checks` entry for each.
    fn contested_claims(&self) -> String {
        let entries = claims_to_check(self.debate, self.debate.wave_start(self.cue));
        if entries.is_empty() {
            return "No claim is contested: `checks` is an empty list.".into();
        }
        let mut by_side: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for entry in &entries {
            let label =
                self.debate.side_label(self.cue, entry.side).unwrap_or(entry.side.role_name());
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
    pub(super) fn render_body(&self, body: &Body) -> String {
        let has_new_wording = self.debate.setup().wording >= 3;
        let text = match body {
            Body::Speech { .. } => super::speech_with_claims(body, has_new_wording),
            Body::Petition { supports: Some(side), claim, novelty, .. } => {
                let contribution = match novelty {
                    Novelty::New => "something new",
                    Novelty::Reinforcement => "a reinforcement",
                };
                format!("Asks to speak for {}, with {contribution}: {claim}", self.side_name(*side))
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
                for (side, side_marks) in [(Side::Pro, pro), (Side::Con, con)] {
                    lines.push(format!("{}: {}", self.side_name(side), marks(side_marks)));
                }
                for foul in fouls {
                    let owner = self.side_name(foul.side);
                    lines.push(format!("Foul of {owner}: {} {}", foul.kind, foul.note));
                }
                lines.push(comment.clone());
                lines.join("\n")
            }
            Body::Ruling { admits, because, .. } => match admits {
                Some(name) => format!("Lets `{name}` speak: {because}"),
                None => format!("Lets nobody speak: {because}"),
            },
            _ => body.to_text(),
        };
        self.strip_style_for_judges(text)
    }

    /// Strips Markdown style for judges and audiences, from wording version 3 on.
    pub(super) fn strip_style_for_judges(&self, text: String) -> String {
        let is_judge = matches!(self.seat().role, Role::Judge | Role::Mirror | Role::Audience);
        let has_new_wording = self.debate.setup().wording >= 3;
        if has_new_wording && is_judge { style::strip_style(&text) } else { text }
    }

    fn side_name(&self, side: Side) -> String {
        match self.debate.side_label(self.cue, side) {
            Some(label) => format!("Side {label}"),
            None => side.role_name().into(),
        }
    }
}
