//! What a format may be told besides the question and who argues it, as it is typed.
use super::exit::Failed;
use crate::engine::particulars::{Both, Flag, Particulars, WantedListener, WantedRole};

/// Flags of single formats; `debate formats NAME` says which belong to which.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Of single formats")]
pub struct Wanted {
    /// Research: a stance, as in `--role "Pragmatist=argue for the cheap way@claude"`; two to four
    #[arg(long, value_name = "NAME=STANCE[@SEAT]")]
    pub role: Vec<String>,
    /// Who speaks for every seat nobody else was named for: a seat, or a model such as `gpt-5.5`
    #[arg(long, value_name = "SEAT")]
    pub model: Option<String>,
    /// Research: the question behind the topic
    #[arg(long, value_name = "TEXT")]
    pub goal: Option<String>,
    /// Research: who reads the report: self (usual), team, public
    #[arg(long, value_name = "WHO")]
    pub readers: Option<String>,
    /// Research: personal-choice (usual), team-standardization, market-analysis
    #[arg(long, value_name = "WHICH")]
    pub decision_type: Option<String>,
    /// Research: whether factual claims are audited: auto (usual), true, false
    #[arg(long, value_name = "WHEN")]
    pub evidence_round: Option<Flag>,
    /// Tribunal: somebody who listens and votes, as in `--listener risk-averse=claude*2`; one of each
    /// type if none is given, nobody for `none`
    #[arg(long, value_name = "TYPE[=SEAT][*WEIGHT]")]
    pub listener: Vec<String>,
    /// Tribunal: what the judge counts, from 0 to 1; the audience counts the rest
    #[arg(long, value_name = "X")]
    pub judge_share: Option<f64>,
    /// Tribunal: what the audience counts
    #[arg(long, value_name = "X")]
    pub audience_share: Option<f64>,
    /// Tribunal: one of those who argue may judge; the verdict says so
    #[arg(long)]
    pub same_judge: bool,
    /// What the side for is to hold
    #[arg(long, value_name = "TEXT")]
    pub stance_proposer: Option<String>,
    /// What the side against is to hold
    #[arg(long, value_name = "TEXT")]
    pub stance_challenger: Option<String>,
    /// How the side for is to argue: rational, aggressive, conservative, technical, ...
    #[arg(long, value_name = "TEXT")]
    pub style_proposer: Option<String>,
    /// How the side against is to argue
    #[arg(long, value_name = "TEXT")]
    pub style_challenger: Option<String>,
}

impl Wanted {
    /// As every door has them.
    pub(super) fn read(&self) -> Result<Particulars, Failed> {
        let listeners = match self.listener.as_slice() {
            [] => None,
            [none] if none == "none" => Some(vec![]),
            all => Some(all.iter().map(|text| listener(text)).collect::<Result<_, _>>()?),
        };
        let text = |said: &Option<String>| said.clone().unwrap_or_default();
        Ok(Particulars {
            roles: self.role.iter().map(|text| role(text)).collect::<Result<_, _>>()?,
            model: self.model.clone(),
            listeners,
            stances: Both { pro: text(&self.stance_proposer), con: text(&self.stance_challenger) },
            styles: Both { pro: text(&self.style_proposer), con: text(&self.style_challenger) },
            goal: self.goal.clone(),
            audience: self.readers.clone(),
            decision_type: self.decision_type.clone(),
            evidence_round: self.evidence_round,
            judge_share: self.judge_share,
            audience_share: self.audience_share,
            same_judge: self.same_judge,
            ..Particulars::default()
        })
    }
}

/// `NAME=STANCE`, and who argues it after the last `@` if what follows could be a seat.
fn role(text: &str) -> Result<WantedRole, Failed> {
    let (name, stance) = text.split_once('=').ok_or_else(|| {
        Failed::Usage(
            format!("`--role {text}` has no `=`"),
            "write it as in `--role \"Pragmatist=argue for the cheap way@claude\"`".into(),
        )
    })?;
    let seat = stance.rsplit_once('@').filter(|(_, seat)| !seat.contains(char::is_whitespace));
    let (stance, model) =
        seat.map_or((stance, None), |(stance, seat)| (stance, Some(seat.to_owned())));
    Ok(WantedRole { name: name.trim().into(), stance: stance.trim().into(), model })
}

/// `TYPE`, `TYPE=SEAT`, `TYPE*WEIGHT` or all of it.
pub(super) fn listener(text: &str) -> Result<WantedListener, Failed> {
    let (rest, weight) = match text.rsplit_once('*') {
        Some((rest, weight)) => {
            let weight = weight.parse().map_err(|_| {
                Failed::Usage(
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
    Ok(WantedListener { kind: kind.trim().into(), model, weight })
}
