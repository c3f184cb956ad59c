//! Tests of limits and default values of arguments.
use super::*;

fn parse_command(args: &[&str]) -> CliCommand {
    Args::parse_from(["debate"].iter().chain(args)).command
}

#[test]
fn lists_have_a_default_limit() {
    assert_eq!(DEFAULT_LISTED, 20);
    let limit = |args: &[&str]| match parse_command(args) {
        CliCommand::List(list) => list.limit,
        CliCommand::Search(search) => search.limit,
        other => panic!("{other:?}"),
    };
    assert_eq!(limit(&["list"]), DEFAULT_LISTED);
    assert_eq!(limit(&["search", "word"]), DEFAULT_LISTED);
    assert_eq!(limit(&["list", "-n", "21"]), DEFAULT_LISTED + 1);
}

#[test]
fn replay_speed_has_a_minimum() {
    assert!(parse_speed("0").is_ok());
    assert!(parse_speed(&MIN_REPLAY_SPEED.to_string()).is_ok());
    let error = parse_speed(&MIN_REPLAY_SPEED.next_down().to_string()).unwrap_err();
    assert_eq!(error, "it must be 0, or 0.001 or more");
}
