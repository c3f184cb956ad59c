//! Options that only some formats take, shared by `run` and `review`: the clap struct
//! [`FormatOptionArgs`] and the parsers of `--role` and `--listener`.
use super::exit::CliError;
use crate::options::{AuditMode, DebateOptions, ListenerOption, PerSide, RoleOption};

/// Options of single formats; `debate formats NAME` shows which apply.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Of single formats")]
pub struct FormatOptionArgs {
    /// Research: a role, as in `--role "Pragmatist=argue for the cheap way@claude"`; 2 to 4
    #[arg(long, value_name = "NAME=STANCE[@SEAT]")]
    pub role: Vec<String>,
    /// Default for seats that are not named: a seat, or a model such as `gpt-5.5`
    #[arg(long, value_name = "SEAT")]
    pub model: Option<String>,
    /// Research: the question behind the topic
    #[arg(long, value_name = "TEXT")]
    pub goal: Option<String>,
    /// Research: audience of the report: self, team, public [default: self]
    #[arg(long, value_name = "WHO")]
    pub readers: Option<String>,
    /// Research: personal-choice, team-standardization, market-analysis [default: personal-choice]
    #[arg(long, value_name = "WHICH")]
    pub decision_type: Option<String>,
    /// Research: audit factual claims: auto, true, false [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub evidence_round: Option<AuditMode>,
    /// Tribunal: listener who votes, as in `--listener risk-averse=claude*2`; `none` for none
    /// [default: one of each type]
    #[arg(long, value_name = "TYPE[=SEAT][*WEIGHT]")]
    pub listener: Vec<String>,
    /// Tribunal: weight of the judge, 0 to 1; the audience has the rest
    #[arg(long, value_name = "X")]
    pub judge_share: Option<f64>,
    /// Tribunal: weight of the audience
    #[arg(long, value_name = "X")]
    pub audience_share: Option<f64>,
    /// Tribunal: allow a debater to judge; the verdict says so
    #[arg(long)]
    pub same_judge: bool,
    /// Dialectic: another partner, who questions the lead; may be repeated
    #[arg(long, value_name = "SEAT")]
    pub add_partner: Vec<String>,
    /// Position of the proposer
    #[arg(long, value_name = "TEXT")]
    pub stance_proposer: Option<String>,
    /// Position of the challenger
    #[arg(long, value_name = "TEXT")]
    pub stance_challenger: Option<String>,
    /// Style of the proposer: rational, aggressive, conservative, technical, ...
    #[arg(long, value_name = "TEXT")]
    pub style_proposer: Option<String>,
    /// Style of the challenger
    #[arg(long, value_name = "TEXT")]
    pub style_challenger: Option<String>,
}

impl FormatOptionArgs {
    /// Converts the flags to options, which the plan of a debate validates.
    pub(super) fn parse(&self) -> Result<DebateOptions, CliError> {
        let listeners = match self.listener.as_slice() {
            [] => None,
            [none] if none == "none" => Some(vec![]),
            all => Some(all.iter().map(|text| parse_listener(text)).collect::<Result<_, _>>()?),
        };
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        Ok(DebateOptions {
            roles: self.role.iter().map(|text| parse_role(text)).collect::<Result<_, _>>()?,
            model: self.model.clone(),
            listeners,
            stances: PerSide {
                pro: text(&self.stance_proposer),
                con: text(&self.stance_challenger),
            },
            styles: PerSide { pro: text(&self.style_proposer), con: text(&self.style_challenger) },
            goal: self.goal.clone(),
            audience: self.readers.clone(),
            decision_type: self.decision_type.clone(),
            evidence_round: self.evidence_round,
            judge_share: self.judge_share,
            audience_share: self.audience_share,
            same_judge: self.same_judge.then_some(true),
            partners: self.add_partner.clone(),
            ..DebateOptions::default()
        })
    }
}

/// Parses `NAME=STANCE[@SEAT]`. The text after the last `@` is a seat only if it has no spaces.
fn parse_role(text: &str) -> Result<RoleOption, CliError> {
    let (name, stance) = text.split_once('=').ok_or_else(|| {
        CliError::Usage(
            format!("`--role {text}` has no `=`"),
            "write it as in `--role \"Pragmatist=argue for the cheap way@claude\"`".into(),
        )
    })?;
    let seat = stance.rsplit_once('@').filter(|(_, seat)| !seat.contains(char::is_whitespace));
    let (stance, model) =
        seat.map_or((stance, None), |(stance, seat)| (stance, Some(seat.to_owned())));
    Ok(RoleOption { name: name.trim().into(), stance: stance.trim().into(), model })
}

/// Parses `TYPE[=SEAT][*WEIGHT]`.
pub(super) fn parse_listener(text: &str) -> Result<ListenerOption, CliError> {
    let (rest, weight) = match text.rsplit_once('*') {
        Some((rest, weight)) => {
            let weight = weight.parse().map_err(|_| {
                CliError::Usage(
                    format!("`--listener {text}`: `{weight}` is no weight"),
                    "a weight is a whole number, as in `--listener risk-averse=claude*2`".into(),
                )
            })?;
            (rest, Some(weight))
        }
        None => (text, None),
    };
    let (kind, model) = match rest.split_once('=') {
        Some((kind, seat)) => (kind, Some(seat.to_owned())),
        None => (rest, None),
    };
    Ok(ListenerOption { kind: kind.trim().into(), model, weight })
}
