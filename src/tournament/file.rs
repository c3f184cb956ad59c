//! Parser of tournament files (TOML). Validates everything before the first request to a model.
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::{Budget, Effort, Participant, to_millionths};
use crate::engine::draft::with_absolute_script;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Limit on games, to catch mistakes in the file.
pub const MOST_GAMES: usize = 20_000;
/// Limit on names.
const LONGEST_NAME: usize = 60;
/// Default number of concurrent games.
const AT_ONCE: usize = 2;

/// A validated tournament file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Name, by which the archive finds its games.
    pub name: String,
    /// Format of every game.
    pub format: String,
    /// Round counts. Every game is played with each, and `None` is the format's default.
    pub rounds: Vec<Option<u8>>,
    pub motions: Vec<String>,
    pub entrants: Vec<Entrant>,
    /// One judge, or a panel.
    pub judges: Vec<Participant>,
    /// Reasoning effort of all participants.
    pub effort: Option<Effort>,
    /// What goes into the brief, in the syntax of `--context`.
    pub context: String,
    /// Maximum of concurrent games.
    pub at_once: usize,
    /// Maximum of concurrent games per entrant.
    pub at_once_per_entrant: usize,
    /// Budget of one game.
    pub per_game: Budget,
    /// Budget of all games together.
    pub in_all: Budget,
    /// Timeout of a turn.
    pub turn_seconds: Option<u32>,
}

/// An entrant of the tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// Name in the standings.
    pub name: String,
    pub voice: Participant,
}

/// Why a tournament file is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BadFile {
    #[error("{0}")]
    Toml(String),
    #[error("the tournament has no name of 1 to {LONGEST_NAME} plain characters")]
    Name,
    #[error("there are no motions")]
    NoMotions,
    #[error("motion {0} is empty, or longer than {MAX_TOPIC_CHARS} characters")]
    Motion(usize),
    #[error("motion {0} stands there twice")]
    MotionTwice(usize),
    #[error("there must be two entrants or more")]
    Entrants,
    #[error("two entrants are called `{0}`")]
    Namesakes(String),
    #[error("entrants `{0}` and `{1}` are, or may be, one model: what they play is never rated")]
    OneModel(String, String),
    #[error("`{0}`: {1}")]
    Seat(String, String),
    #[error("`{0}` is waited for, and a tournament is played without waiting for anybody")]
    Awaited(String),
    #[error("there is no judge")]
    NoJudge,
    #[error("`rounds` is an empty list, or has a number twice")]
    Rounds,
    #[error("`{0}` must be 1 or more")]
    AtOnce(&'static str),
    #[error("`{0}` is no amount")]
    Amount(f64),
    #[error("that makes {0} games; at most {MOST_GAMES} are played")]
    TooMany(usize),
}

impl BadFile {
    /// How to fix the file.
    pub fn hint(&self) -> &'static str {
        match self {
            BadFile::Toml(_) => {
                "a tournament has `name`, `motions`, `entrants` and `judge`, as in:\n\
                 name = \"spring\"\nmotions = [\"Tabs or spaces?\"]\n\
                 entrants = [\"claude\", \"codex\"]\njudge = \"gemini\""
            }
            BadFile::Name => "name = \"spring\"",
            BadFile::NoMotions | BadFile::Motion(_) => "motions = [\"Tabs or spaces?\"]",
            BadFile::MotionTwice(_) => "leave one out; `rounds = [1, 2]` plays each twice",
            BadFile::Entrants | BadFile::Seat(..) => "entrants = [\"claude\", \"codex:MODEL\"]",
            BadFile::Namesakes(_) => "entrants = [{ name = \"one\", seat = \"codex:MODEL\" }, ...]",
            BadFile::OneModel(..) => "name two that differ; `debate models` shows who can play",
            BadFile::Awaited(_) => "name models; `debate run` seats people",
            BadFile::NoJudge => "judge = \"gemini\", or judges = [\"gemini\", \"claude\"]",
            BadFile::Rounds => "rounds = 2, or rounds = [1, 2]",
            BadFile::AtOnce(_) => "leave it out for the usual number",
            BadFile::Amount(_) => "give a number such as 0.50",
            BadFile::TooMany(_) => "leave out motions, entrants or numbers of rounds",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    format: Option<String>,
    rounds: Option<OneOrMore<u8>>,
    #[serde(default)]
    motions: Vec<String>,
    #[serde(default)]
    entrants: Vec<WrittenEntrant>,
    judge: Option<String>,
    #[serde(default)]
    judges: Vec<String>,
    effort: Option<Effort>,
    context: Option<String>,
    at_once: Option<usize>,
    at_once_per_entrant: Option<usize>,
    turn_seconds: Option<u32>,
    #[serde(default)]
    per_game: WrittenBudget,
    #[serde(default)]
    in_all: WrittenBudget,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenEntrant {
    Seat(String),
    Named(NamedEntrant),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedEntrant {
    name: Option<String>,
    seat: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBudget {
    #[serde(rename = "max_cost")]
    cost: Option<f64>,
    #[serde(rename = "max_tokens")]
    tokens: Option<u64>,
    #[serde(rename = "max_minutes")]
    minutes: Option<u64>,
}

impl WrittenBudget {
    fn read(&self) -> Result<Budget, BadFile> {
        let cost = self.cost.map(|it| to_millionths(it).ok_or(BadFile::Amount(it))).transpose()?;
        let milliseconds = self.minutes.map(|it| it.saturating_mul(60_000));
        Ok(Budget { cost, tokens: self.tokens, milliseconds })
    }
}

impl Plan {
    /// Parses and validates a tournament file.
    pub fn read(text: &str) -> Result<Plan, BadFile> {
        let written: Written =
            toml::from_str(text).map_err(|error| BadFile::Toml(error.to_string()))?;
        let name = plain(&written.name).ok_or(BadFile::Name)?;
        let rounds = match written.rounds {
            None => vec![None],
            Some(OneOrMore::One(rounds)) => vec![Some(rounds)],
            Some(OneOrMore::More(rounds)) => rounds.into_iter().map(Some).collect(),
        };
        if rounds.is_empty() || rounds.iter().collect::<BTreeSet<_>>().len() < rounds.len() {
            return Err(BadFile::Rounds);
        }
        let motions = motions(&written.motions)?;
        let entrants = entrants(&written.entrants)?;
        let judges = written.judge.iter().chain(&written.judges);
        let judges: Vec<Participant> =
            judges.map(|judge| voice(judge)).collect::<Result<_, _>>()?;
        if judges.is_empty() {
            return Err(BadFile::NoJudge);
        }
        let at_least_one = |name, said: Option<usize>, usual| match said {
            Some(0) => Err(BadFile::AtOnce(name)),
            said => Ok(said.unwrap_or(usual)),
        };
        let pairs = entrants.len() * (entrants.len() - 1);
        let games = pairs.saturating_mul(motions.len()).saturating_mul(rounds.len());
        if games > MOST_GAMES {
            return Err(BadFile::TooMany(games));
        }
        Ok(Plan {
            name,
            format: written.format.unwrap_or("duel".into()),
            rounds,
            motions,
            entrants,
            judges,
            effort: written.effort,
            context: written.context.unwrap_or("none".into()),
            at_once: at_least_one("at_once", written.at_once, AT_ONCE)?,
            at_once_per_entrant: at_least_one(
                "at_once_per_entrant",
                written.at_once_per_entrant,
                1,
            )?,
            per_game: written.per_game.read()?,
            in_all: written.in_all.read()?,
            turn_seconds: written.turn_seconds.filter(|it| *it > 0),
        })
    }

    /// Makes the path of a script absolute, relative to the folder of the file, so that the game
    /// can resume from any folder. Game keys use the participant as written.
    pub fn seated(voice: &Participant, folder: &Path) -> Participant {
        with_absolute_script(voice.clone(), folder)
    }
}

fn motions(written: &[String]) -> Result<Vec<String>, BadFile> {
    let all: Vec<String> = written.iter().map(|motion| motion.trim().to_owned()).collect();
    if all.is_empty() {
        return Err(BadFile::NoMotions);
    }
    let mut seen = BTreeSet::new();
    for (nth, motion) in (1..).zip(&all) {
        if motion.is_empty() || motion.chars().count() > MAX_TOPIC_CHARS {
            return Err(BadFile::Motion(nth));
        }
        if !seen.insert(motion) {
            return Err(BadFile::MotionTwice(nth));
        }
    }
    Ok(all)
}

fn entrants(written: &[WrittenEntrant]) -> Result<Vec<Entrant>, BadFile> {
    let mut all: Vec<Entrant> = vec![];
    for entrant in written {
        let (name, seat) = match entrant {
            WrittenEntrant::Seat(seat) => (seat, seat),
            WrittenEntrant::Named(it) => (it.name.as_ref().unwrap_or(&it.seat), &it.seat),
        };
        let voice = voice(seat)?;
        let name = plain(name).unwrap_or_else(|| ending(name));
        if let Some(other) = all.iter().find(|it| it.voice.may_be_same_model(&voice)) {
            return Err(BadFile::OneModel(other.name.clone(), name));
        }
        if all.iter().any(|it| it.name == name) {
            return Err(BadFile::Namesakes(name));
        }
        all.push(Entrant { name, voice });
    }
    if all.len() < 2 {
        return Err(BadFile::Entrants);
    }
    Ok(all)
}

/// Parses a participant, which must be a model or a script.
fn voice(seat: &str) -> Result<Participant, BadFile> {
    let voice: Participant =
        seat.parse().map_err(|bad: crate::debate::seat::ParticipantError| {
            BadFile::Seat(seat.to_owned(), bad.to_string())
        })?;
    if voice.is_awaited() {
        return Err(BadFile::Awaited(voice.to_string()));
    }
    Ok(voice)
}

/// Last characters of a name that is too long, because paths differ at the end.
fn ending(name: &str) -> String {
    let plain: Vec<char> = name.chars().filter(|c| !c.is_control()).collect();
    plain[plain.len().saturating_sub(LONGEST_NAME)..].iter().collect()
}

/// The trimmed name, if it is valid.
fn plain(name: &str) -> Option<String> {
    let name = name.trim();
    let fits = !name.is_empty() && name.chars().count() <= LONGEST_NAME;
    (fits && !name.chars().any(char::is_control)).then(|| name.to_owned())
}
