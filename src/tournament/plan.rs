//! Parser of tournament files (TOML). Validates everything before the first request to a model. The
//! entry point is [`TournamentPlan::parse`], called by `debate tournament`. Most other files here
//! take the plan as input.
use crate::app::cast::with_absolute_script;
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::{Budget, Effort, Participant, to_millionths};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Limit on games, to catch mistakes in the file.
pub(super) const MAX_GAMES: usize = 20_000;
/// Limit on names.
const MAX_NAME_CHARS: usize = 60;
/// Default number of concurrent games.
const DEFAULT_CONCURRENCY: usize = 2;
/// Default number of concurrent games per entrant.
const DEFAULT_CONCURRENCY_PER_ENTRANT: usize = 1;
/// Entrants a tournament needs.
const MIN_ENTRANTS: usize = 2;

/// A validated tournament file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TournamentPlan {
    /// Name, by which the archive finds its games.
    pub name: String,
    /// Format of every game.
    pub format: String,
    /// Round counts. Every game is played with each, and `None` is the format's default.
    pub rounds: Vec<Option<u8>>,
    pub motions: Vec<String>,
    pub entrants: Vec<TournamentEntrant>,
    /// One judge, or a panel.
    pub judges: Vec<Participant>,
    /// Reasoning effort of all participants.
    pub effort: Option<Effort>,
    /// What goes into the brief, in the syntax of `--context`.
    pub context: String,
    /// Maximum of concurrent games.
    pub max_concurrent: usize,
    /// Maximum of concurrent games per entrant.
    pub max_concurrent_per_entrant: usize,
    /// Budget of one game.
    pub game_budget: Budget,
    /// Budget of all games together.
    pub total_budget: Budget,
    /// Timeout of a turn.
    pub turn_seconds: Option<u32>,
}

/// An entrant of the tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TournamentEntrant {
    /// Name in the standings.
    pub name: String,
    pub participant: Participant,
}

/// Why a tournament file is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum TournamentFileError {
    #[error("{0}")]
    Toml(String),
    #[error(
        "the tournament needs a name of 1 to {MAX_NAME_CHARS} characters, without control characters"
    )]
    InvalidName,
    #[error("there are no motions")]
    NoMotions,
    #[error("motion {0} is empty, or longer than {MAX_TOPIC_CHARS} characters")]
    InvalidMotion(usize),
    #[error("motion {0} is listed twice")]
    DuplicateMotion(usize),
    #[error("there must be two entrants or more")]
    TooFewEntrants,
    #[error("two entrants are called `{0}`")]
    DuplicateEntrantName(String),
    #[error("entrants `{0}` and `{1}` are, or may be, the same model: their games are never rated")]
    SameModel(String, String),
    #[error("`{0}`: {1}")]
    InvalidSeat(String, String),
    #[error("`{0}` cannot play in a tournament: it waits for a person or another program")]
    NotAutomatic(String),
    #[error("there is no judge")]
    NoJudge,
    #[error("`rounds` is an empty list, or has a number twice")]
    InvalidRounds,
    #[error("`{0}` must be 1 or more")]
    ZeroConcurrency(&'static str),
    #[error("`{0}` is not a valid amount")]
    InvalidAmount(f64),
    #[error("the tournament has {0} games; the limit is {MAX_GAMES}")]
    TooManyGames(usize),
}

impl TournamentFileError {
    /// How to fix the file.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            TournamentFileError::Toml(_) => {
                "a tournament has `name`, `motions`, `entrants` and `judge`, as in:\n\
                 name = \"spring\"\nmotions = [\"Tabs or spaces?\"]\n\
                 entrants = [\"claude\", \"codex\"]\njudge = \"gemini\""
            }
            TournamentFileError::InvalidName => "name = \"spring\"",
            TournamentFileError::NoMotions | TournamentFileError::InvalidMotion(_) => {
                "motions = [\"Tabs or spaces?\"]"
            }
            TournamentFileError::DuplicateMotion(_) => {
                "remove one; `rounds = [1, 2]` plays each motion twice"
            }
            TournamentFileError::TooFewEntrants | TournamentFileError::InvalidSeat(..) => {
                "entrants = [\"claude\", \"codex:MODEL\"]"
            }
            TournamentFileError::DuplicateEntrantName(_) => {
                "entrants = [{ name = \"one\", seat = \"codex:MODEL\" }, ...]"
            }
            TournamentFileError::SameModel(..) => {
                "name two that differ; `debate models` shows who can play"
            }
            TournamentFileError::NotAutomatic(_) => "name models; `debate run` seats people",
            TournamentFileError::NoJudge => {
                "judge = \"gemini\", or judges = [\"gemini\", \"claude\"]"
            }
            TournamentFileError::InvalidRounds => "rounds = 2, or rounds = [1, 2]",
            TournamentFileError::ZeroConcurrency(_) => "leave it out for the default",
            TournamentFileError::InvalidAmount(_) => "give a number such as 0.50",
            TournamentFileError::TooManyGames(_) => {
                "leave out motions, entrants or numbers of rounds"
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TournamentFile {
    name: String,
    format: Option<String>,
    rounds: Option<OneOrMany<u8>>,
    #[serde(default)]
    motions: Vec<String>,
    #[serde(default)]
    entrants: Vec<EntrantField>,
    judge: Option<String>,
    #[serde(default)]
    judges: Vec<String>,
    effort: Option<Effort>,
    context: Option<String>,
    at_once: Option<usize>,
    at_once_per_entrant: Option<usize>,
    turn_seconds: Option<u32>,
    #[serde(default)]
    per_game: BudgetTable,
    #[serde(default)]
    in_all: BudgetTable,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum EntrantField {
    Seat(String),
    Named(EntrantTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntrantTable {
    name: Option<String>,
    seat: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetTable {
    #[serde(rename = "max_cost")]
    cost: Option<f64>,
    #[serde(rename = "max_tokens")]
    tokens: Option<u64>,
    #[serde(rename = "max_minutes")]
    minutes: Option<u64>,
}

impl BudgetTable {
    fn to_budget(&self) -> Result<Budget, TournamentFileError> {
        let cost = self
            .cost
            .map(|it| to_millionths(it).ok_or(TournamentFileError::InvalidAmount(it)))
            .transpose()?;
        let milliseconds = self.minutes.map(|it| it.saturating_mul(60_000));
        Ok(Budget { cost, tokens: self.tokens, milliseconds })
    }
}

impl TournamentPlan {
    /// Parses and validates a tournament file.
    pub(crate) fn parse(text: &str) -> Result<TournamentPlan, TournamentFileError> {
        let file: TournamentFile =
            toml::from_str(text).map_err(|error| TournamentFileError::Toml(error.to_string()))?;
        let name = valid_name(&file.name).ok_or(TournamentFileError::InvalidName)?;
        let rounds = match file.rounds {
            None => vec![None],
            Some(OneOrMany::One(rounds)) => vec![Some(rounds)],
            Some(OneOrMany::Many(rounds)) => rounds.into_iter().map(Some).collect(),
        };
        if rounds.is_empty() || rounds.iter().collect::<BTreeSet<_>>().len() < rounds.len() {
            return Err(TournamentFileError::InvalidRounds);
        }
        let motions = validate_motions(&file.motions)?;
        let entrants = parse_entrants(&file.entrants)?;
        let judges = file.judge.iter().chain(&file.judges);
        let judges: Vec<Participant> =
            judges.map(|judge| parse_participant(judge)).collect::<Result<_, _>>()?;
        if judges.is_empty() {
            return Err(TournamentFileError::NoJudge);
        }
        let at_least_one = |name, value: Option<usize>, default_value| match value {
            Some(0) => Err(TournamentFileError::ZeroConcurrency(name)),
            value => Ok(value.unwrap_or(default_value)),
        };
        let pairs = entrants.len() * (entrants.len() - 1);
        let games = pairs.saturating_mul(motions.len()).saturating_mul(rounds.len());
        if games > MAX_GAMES {
            return Err(TournamentFileError::TooManyGames(games));
        }
        Ok(TournamentPlan {
            name,
            format: file.format.unwrap_or("duel".into()),
            rounds,
            motions,
            entrants,
            judges,
            effort: file.effort,
            context: file.context.unwrap_or("none".into()),
            max_concurrent: at_least_one("at_once", file.at_once, DEFAULT_CONCURRENCY)?,
            max_concurrent_per_entrant: at_least_one(
                "at_once_per_entrant",
                file.at_once_per_entrant,
                DEFAULT_CONCURRENCY_PER_ENTRANT,
            )?,
            game_budget: file.per_game.to_budget()?,
            total_budget: file.in_all.to_budget()?,
            turn_seconds: file.turn_seconds.filter(|it| *it > 0),
        })
    }

    /// Makes the path of a script absolute, relative to the folder of the file, so that the game
    /// can resume from any folder. Game keys use the participant as written.
    pub(crate) fn resolve_participant(participant: &Participant, folder: &Path) -> Participant {
        with_absolute_script(participant.clone(), folder)
    }
}

fn validate_motions(motions: &[String]) -> Result<Vec<String>, TournamentFileError> {
    let all: Vec<String> = motions.iter().map(|motion| motion.trim().to_owned()).collect();
    if all.is_empty() {
        return Err(TournamentFileError::NoMotions);
    }
    let mut seen = BTreeSet::new();
    for (number, motion) in (1..).zip(&all) {
        if motion.is_empty() || motion.chars().count() > MAX_TOPIC_CHARS {
            return Err(TournamentFileError::InvalidMotion(number));
        }
        if !seen.insert(motion) {
            return Err(TournamentFileError::DuplicateMotion(number));
        }
    }
    Ok(all)
}

fn parse_entrants(fields: &[EntrantField]) -> Result<Vec<TournamentEntrant>, TournamentFileError> {
    let mut entrants: Vec<TournamentEntrant> = vec![];
    for entrant in fields {
        let (name, seat) = match entrant {
            EntrantField::Seat(seat) => (seat, seat),
            EntrantField::Named(it) => (it.name.as_ref().unwrap_or(&it.seat), &it.seat),
        };
        let participant = parse_participant(seat)?;
        let name = valid_name(name).unwrap_or_else(|| name_tail(name));
        if let Some(other) =
            entrants.iter().find(|it| it.participant.may_be_same_model(&participant))
        {
            return Err(TournamentFileError::SameModel(other.name.clone(), name));
        }
        if entrants.iter().any(|it| it.name == name) {
            return Err(TournamentFileError::DuplicateEntrantName(name));
        }
        entrants.push(TournamentEntrant { name, participant });
    }
    if entrants.len() < MIN_ENTRANTS {
        return Err(TournamentFileError::TooFewEntrants);
    }
    Ok(entrants)
}

/// Parses a participant, which must be a model or a script.
fn parse_participant(seat: &str) -> Result<Participant, TournamentFileError> {
    let participant: Participant =
        seat.parse().map_err(|error: crate::debate::seat::ParticipantError| {
            TournamentFileError::InvalidSeat(seat.to_owned(), error.to_string())
        })?;
    if participant.is_awaited() {
        return Err(TournamentFileError::NotAutomatic(participant.to_string()));
    }
    Ok(participant)
}

/// Last characters of a name that is too long, because paths differ at the end.
fn name_tail(name: &str) -> String {
    let chars: Vec<char> = name.chars().filter(|c| !c.is_control()).collect();
    chars[chars.len().saturating_sub(MAX_NAME_CHARS)..].iter().collect()
}

/// The trimmed name, if it is valid.
fn valid_name(name: &str) -> Option<String> {
    let name = name.trim();
    let has_valid_length = !name.is_empty() && name.chars().count() <= MAX_NAME_CHARS;
    (has_valid_length && !name.chars().any(char::is_control)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(
        name: &str,
        motions: usize,
        entrants: &[&str],
    ) -> Result<TournamentPlan, TournamentFileError> {
        let motions: Vec<String> = (0..motions).map(|number| format!("Motion {number}?")).collect();
        let text = format!(
            "name = {name:?}\nmotions = {motions:?}\nentrants = {entrants:?}\njudge = \"copilot\""
        );
        TournamentPlan::parse(&text)
    }

    #[test]
    fn tournament_has_at_most_20_000_games() {
        assert_eq!(MAX_GAMES, 20_000);
        let pair = ["claude", "codex"];
        assert_eq!(parse("t", 10_000, &pair).unwrap().motions.len(), 10_000);
        let too_many = TournamentFileError::TooManyGames(20_002);
        assert_eq!(parse("t", 10_001, &pair), Err(too_many));
    }

    #[test]
    fn tournament_needs_2_entrants() {
        assert_eq!(parse("t", 1, &["claude", "codex"]).unwrap().entrants.len(), MIN_ENTRANTS);
        assert_eq!(parse("t", 1, &["claude"]), Err(TournamentFileError::TooFewEntrants));
    }

    #[test]
    fn names_have_at_most_60_characters() {
        assert_eq!(MAX_NAME_CHARS, 60);
        let longest = "n".repeat(MAX_NAME_CHARS);
        let too_long = format!("a{longest}");
        let plan = parse(&longest, 1, &[&longest, "claude"]).unwrap();
        assert_eq!((&plan.name, &plan.entrants[0].name), (&longest, &longest));
        let result = parse(&too_long, 1, &["claude", "codex"]);
        assert_eq!(result, Err(TournamentFileError::InvalidName));
        // The name of an entrant is cut at the front.
        let plan = parse("t", 1, &[&too_long, "claude"]).unwrap();
        assert_eq!(plan.entrants[0].name, longest);
    }
}
