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

/// Options whose flag has another name, or several.
const OTHER_FLAG_NAMES: &[(&str, &[&str])] = &[
    ("audience", &["readers"]),
    ("await_seconds", &["await-timeout"]),
    ("confirm_plan", &["plan"]),
    ("judges", &["judge"]),
    ("listeners", &["listener"]),
    ("output_path", &["output"]),
    ("partners", &["add-partner"]),
    ("probe", &["no-probe"]),
    ("roles", &["role"]),
    ("stances", &["stance-proposer", "stance-challenger"]),
    ("styles", &["style-proposer", "style-challenger"]),
    ("turn_seconds", &["turn-timeout"]),
];

#[test]
fn every_option_of_a_debate_has_a_flag() {
    use clap::CommandFactory;
    let command = Args::command();
    let run = command.find_subcommand("run").unwrap();
    let flags: Vec<&str> = run.get_arguments().filter_map(clap::Arg::get_long).collect();
    for name in crate::options::DebateOptions::names() {
        let own_name = name.replace('_', "-");
        let other_names = OTHER_FLAG_NAMES.iter().find(|(option, _)| *option == name);
        let expected = other_names.map_or(vec![own_name.as_str()], |(_, names)| names.to_vec());
        for flag in expected {
            assert!(flags.contains(&flag), "no flag `--{flag}` for the option `{name}`");
        }
    }
}
