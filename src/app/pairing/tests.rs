//! Choice of participants for seats that the user did not assign.
use crate::app::pairing::{
    Candidate, FallbackJudge, FallbackSeats, RequestedSeats, SeatPreferences, VacantSeat,
    choose_seats,
};

/// Parses `tool=family` words into candidates, in listing order.
fn candidates(list: &str) -> Vec<Candidate> {
    let parse_candidate = |word: &str| {
        let (tool, family) = word.split_once('=').unwrap_or((word, ""));
        let family = Some(family.to_owned()).filter(|family| !family.is_empty());
        Candidate { participant: tool.parse().unwrap(), family, reads_files: false }
    };
    list.split_whitespace().map(parse_candidate).collect()
}

/// Parses `proposer challenger judge`, with `-` for an unassigned seat.
fn requested_seats(list: &str) -> RequestedSeats {
    let mut words = list.split_whitespace().map(|word| match word {
        "-" => None,
        word => Some(word.parse().unwrap()),
    });
    let mut next = || words.next().flatten();
    RequestedSeats { proposer: next(), challenger: next(), judge: next() }
}

fn seat_preferences(pairings: &str, judges: &str) -> SeatPreferences {
    let parse_pair =
        |word: &str| word.split_once('+').map(|(one, other)| (one.into(), other.into()));
    let pairings: Vec<(String, String)> =
        pairings.split_whitespace().filter_map(parse_pair).collect();
    let judges: Vec<String> = judges.split_whitespace().map(Into::into).collect();
    SeatPreferences::parse(&pairings, &judges).unwrap()
}

/// Fallback seats in an MCP client, where the host can play. A terminal has none for the sides.
fn client_fallback() -> FallbackSeats {
    FallbackSeats {
        debater: Some("host".parse().unwrap()),
        judge: FallbackJudge::Other("host".parse().unwrap()),
    }
}

fn terminal_fallback() -> FallbackSeats {
    FallbackSeats { debater: None, judge: FallbackJudge::Debater("human".parse().unwrap()) }
}

fn chosen_seats_text(
    requested: &RequestedSeats,
    available: &[Candidate],
    preferences: &SeatPreferences,
    fallbacks: &FallbackSeats,
) -> String {
    match choose_seats(requested, available, preferences, fallbacks) {
        Ok(seats) => {
            format!(
                "{} {} {}",
                seats.proposer.participant, seats.challenger.participant, seats.judge.participant
            )
        }
        Err(VacantSeat(role)) => format!("nobody plays the {role}"),
    }
}

const ALL_CANDIDATES: &str = "claude=anthropic codex=openai gemini=google opencode copilot";

#[test]
fn two_families_debate_and_a_third_judges() {
    let rows = [
        // assigned           candidates                            result
        ("- - -", ALL_CANDIDATES, "claude codex gemini"),
        ("- - -", "claude=anthropic anthropic=anthropic openai=openai", "claude openai host"),
        ("- - -", "claude=anthropic anthropic=anthropic", "claude anthropic host"),
        ("- - -", "claude=anthropic", "claude host host"),
        ("- - -", "", "host host host"),
        ("gemini - -", ALL_CANDIDATES, "gemini claude codex"),
        ("- gemini -", ALL_CANDIDATES, "claude gemini codex"),
        ("- - claude", ALL_CANDIDATES, "codex gemini claude"),
        ("claude codex -", ALL_CANDIDATES, "claude codex gemini"),
        ("claude codex -", "claude=anthropic codex=openai", "claude codex host"),
        ("claude codex -", "claude=anthropic codex=openai opencode", "claude codex opencode"),
        ("claude:opus - -", ALL_CANDIDATES, "claude:opus codex gemini"),
        ("host host -", ALL_CANDIDATES, "host host host"),
        ("human host -", ALL_CANDIDATES, "human host host"),
        ("host - -", "claude=anthropic", "host claude host"),
    ];
    for (requested, list, expected) in rows {
        let chosen = chosen_seats_text(
            &requested_seats(requested),
            &candidates(list),
            &SeatPreferences::default(),
            &client_fallback(),
        );
        assert_eq!(chosen, expected, "{requested} of {list}");
    }
}

#[test]
fn terminal_has_no_fallback_for_a_side() {
    let rows = [
        ("- - -", "claude=anthropic codex=openai", "claude codex claude"),
        ("- - -", "claude=anthropic", "nobody plays the challenger"),
        ("- - -", "", "nobody plays the proposer"),
        ("script:a script:b -", "", "script:a script:b script:a"),
        ("script:a script:b -", ALL_CANDIDATES, "script:a script:b script:a"),
        ("human human -", ALL_CANDIDATES, "human human human"),
        ("human script:b -", "", "human script:b script:b"),
    ];
    for (requested, list, expected) in rows {
        let chosen = chosen_seats_text(
            &requested_seats(requested),
            &candidates(list),
            &SeatPreferences::default(),
            &terminal_fallback(),
        );
        assert_eq!(chosen, expected, "{requested} of {list}");
    }
}

#[test]
fn user_preferences_apply_to_playable_tools() {
    let rows = [
        // pairings                 judges           assigned    result
        ("gemini+claude", "", "- - -", "gemini claude codex"),
        ("kiro+claude gemini+codex", "", "- - -", "gemini codex claude"),
        ("gemini:pro+claude:opus", "", "- - -", "gemini:pro claude:opus codex"),
        ("claude+copilot", "", "claude - -", "claude copilot codex"),
        ("claude+copilot", "", "- claude -", "copilot claude codex"),
        ("", "copilot gemini", "- - -", "claude codex copilot"),
        ("", "claude gemini", "- - -", "claude codex gemini"),
        ("gemini+claude", "", "- - gemini", "claude codex gemini"),
    ];
    for (pairings, judges, requested, expected) in rows {
        let preferences = seat_preferences(pairings, judges);
        let chosen = chosen_seats_text(
            &requested_seats(requested),
            &candidates(ALL_CANDIDATES),
            &preferences,
            &client_fallback(),
        );
        assert_eq!(chosen, expected, "{pairings} {judges} {requested}");
    }
}

#[test]
fn chosen_seats_have_a_reason() {
    let chosen = choose_seats(
        &requested_seats("claude - -"),
        &candidates(ALL_CANDIDATES),
        &SeatPreferences::default(),
        &client_fallback(),
    )
    .unwrap();
    let expected = ["challenger codex (of another family)", "judge gemini (of a third family)"];
    assert_eq!(chosen.describe_choices(), expected);
}
