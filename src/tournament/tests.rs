//! Tournament file: parsing and validation, the schedule of games, and the limits on concurrent
//! games and budget.
use crate::debate::{Budget, Spend};
use crate::tournament::plan::TournamentFileError;
use crate::tournament::running_games::{RunningGames, StartDecision};
use crate::tournament::{ScheduledGame, TournamentPlan, build_schedule};
use std::collections::BTreeSet;

const PLAN_FILE: &str = r#"
name = "spring"
motions = ["Tabs or spaces?", "One file or many?"]
entrants = ["claude", "codex:gpt-5", { name = "Gem", seat = "gemini" }]
judge = "copilot"
"#;

fn parse_plan(extra_lines: &str) -> TournamentPlan {
    TournamentPlan::parse(&format!("{PLAN_FILE}{extra_lines}")).unwrap()
}

fn game_keys(plan: &TournamentPlan) -> BTreeSet<String> {
    build_schedule(plan).into_iter().map(|game| game.key).collect()
}

#[test]
fn every_pair_meets_on_every_motion_on_both_sides() {
    let plan = parse_plan("rounds = [1, 2]");
    let games = build_schedule(&plan);
    assert_eq!(games.len(), 2 * 2 * 3 * 2, "motions, numbers of rounds, pairs, sides");
    assert_eq!(game_keys(&plan).len(), games.len(), "every game has its own key");
    for game in &games {
        let is_return_game = |it: &&ScheduledGame| {
            (it.pro, it.con, &it.motion, it.rounds)
                == (game.con, game.pro, &game.motion, game.rounds)
        };
        assert_eq!(games.iter().filter(is_return_game).count(), 1, "with the sides swapped");
        assert_ne!(game.pro, game.con);
    }
    let first_half = &games[..games.len() / 2];
    assert!(
        first_half.iter().all(|game| game.motion == "Tabs or spaces?"),
        "games are ordered by motion"
    );
    assert_eq!((games[0].pro, games[0].con, games[1].pro, games[1].con), (0, 1, 1, 0));
}

#[test]
fn game_key_depends_only_on_its_own_settings() {
    let plan = parse_plan("");
    assert_eq!(
        build_schedule(&plan)[0].key,
        build_schedule(&parse_plan("at_once = 5\n[in_all]\nmax_cost = 3"))[0].key
    );
    let larger_plan = PLAN_FILE
        .replace("motions = [", "motions = [\"First?\", ")
        .replace("entrants = [", "entrants = [\"opencode\", ");
    let larger_plan = TournamentPlan::parse(&larger_plan).unwrap();
    assert!(
        game_keys(&larger_plan).is_superset(&game_keys(&plan)),
        "existing games keep their keys"
    );
    assert_eq!(game_keys(&larger_plan).len(), 3 * 12);
    let renamed = TournamentPlan::parse(&PLAN_FILE.replace("name = \"Gem\", ", "")).unwrap();
    assert_eq!(game_keys(&renamed), game_keys(&plan));
    for changed_plan in [
        PLAN_FILE.replace("copilot", "opencode"),
        format!("{PLAN_FILE}rounds = 1"),
        format!("{PLAN_FILE}format = \"tribunal\""),
        format!("{PLAN_FILE}effort = \"low\""),
        format!("{PLAN_FILE}context = \"auto\""),
        PLAN_FILE.replace("Tabs", "Dots").replace("One file", "Two files"),
    ] {
        let changed_plan = TournamentPlan::parse(&changed_plan).unwrap();
        assert!(
            game_keys(&changed_plan).is_disjoint(&game_keys(&plan)),
            "other settings give other keys"
        );
    }
}

#[test]
fn invalid_files_are_refused_with_a_hint() {
    let cases: &[(&str, &str, &str)] = &[
        ("name = \"spring\"", "name = \" \"", "needs a name"),
        ("motions = [\"Tabs or spaces?\", \"One file or many?\"]", "", "no motions"),
        ("\"One file or many?\"", "\"  \"", "motion 2 is empty"),
        ("\"One file or many?\"", "\"Tabs or spaces? \"", "motion 2 is listed twice"),
        ("\"claude\", \"codex:gpt-5\", ", "", "two entrants or more"),
        (
            "\"claude\", ",
            "\"claude\", \"claude:opus\", ",
            "`claude` and `claude:opus` are, or may be",
        ),
        ("name = \"Gem\"", "name = \"claude\"", "two entrants are called `claude`"),
        ("\"codex:gpt-5\"", "\"human\"", "`human` cannot play in a tournament"),
        ("judge = \"copilot\"", "judge = \"bot\"", "`bot` cannot play in a tournament"),
        ("judge = \"copilot\"", "", "there is no judge"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nrounds = []", "`rounds` is an empty list"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nrounds = [1, 1]", "twice"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nat_once = 0", "`at_once` must be 1"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nper_game = { max_cost = -1 }", "not a valid"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nprize = 3", "unknown field `prize`"),
        ("\"codex:gpt-5\"", "\"-rf\"", "a tool's name"),
    ];
    for (old, new, expected) in cases {
        let text = PLAN_FILE.replace(old, new);
        assert_ne!(text, PLAN_FILE, "{old}");
        let error = TournamentPlan::parse(&text).unwrap_err();
        assert!(error.to_string().contains(expected), "{new}: {error}");
        assert!(!error.hint().is_empty());
    }
    let entrants: Vec<String> = (0..200).map(|nth| format!("\"t{nth}\"")).collect();
    let entrants =
        format!("name='x'\njudge='j'\nmotions=['a?']\nentrants=[{}]", entrants.join(","));
    assert_eq!(TournamentPlan::parse(&entrants), Err(TournamentFileError::TooManyGames(39_800)));
}

/// Starts every game that may start now, and returns their budgets.
fn start_games(
    running: &mut RunningGames,
    waiting: &mut Vec<ScheduledGame>,
    plan: &TournamentPlan,
    spent: Spend,
) -> Vec<Budget> {
    let mut budgets = vec![];
    loop {
        let candidates = waiting.iter().map(|game| (game, Spend::default()));
        let StartDecision::Start(index, budget) = running.choose_next(candidates, plan, spent)
        else {
            return budgets;
        };
        running.add(waiting.remove(index), budget, Spend::default());
        budgets.push(budget);
    }
}

#[test]
fn concurrent_games_are_limited_per_entrant() {
    for (at_once, per_entrant, expected) in [(1, 1, 1), (8, 1, 1), (8, 2, 3), (2, 2, 2), (8, 4, 6)]
    {
        let plan = parse_plan(&format!("at_once = {at_once}\nat_once_per_entrant = {per_entrant}"));
        let mut waiting = build_schedule(&plan);
        let mut running = RunningGames::default();
        start_games(&mut running, &mut waiting, &plan, Spend::default());
        assert_eq!(running.len(), expected, "{at_once} at once, {per_entrant} each");
    }
    // Two pairs without a common entrant play concurrently, although other games are queued before.
    let four_entrants =
        PLAN_FILE.replace("entrants = [", "entrants = [\"opencode\", ") + "at_once = 4";
    let four_entrants = TournamentPlan::parse(&four_entrants).unwrap();
    let mut running = RunningGames::default();
    start_games(
        &mut running,
        &mut build_schedule(&four_entrants),
        &four_entrants,
        Spend::default(),
    );
    assert_eq!(running.len(), 2);
}

#[test]
fn by_default_two_games_are_played_at_once_and_one_per_entrant() {
    // Six entrants could play three games at once.
    let six_entrants = PLAN_FILE.replace("entrants = [", "entrants = [\"a\", \"b\", \"c\", ");
    for (extra_line, expected) in [("", 2), ("at_once = 8", 3), ("at_once_per_entrant = 8", 2)] {
        let plan = TournamentPlan::parse(&format!("{six_entrants}{extra_line}")).unwrap();
        let mut running = RunningGames::default();
        start_games(&mut running, &mut build_schedule(&plan), &plan, Spend::default());
        assert_eq!(running.len(), expected, "{extra_line}");
    }
}

#[test]
fn concurrent_games_never_exceed_the_total_budget() {
    let spend = |cost| Spend { cost, ..Spend::default() };
    let many_at_once = "at_once = 8\nat_once_per_entrant = 8\n";
    let plan =
        parse_plan(&format!("{many_at_once}[per_game]\nmax_cost = 0.4\n[in_all]\nmax_cost = 1.0"));
    let mut running = RunningGames::default();
    let budgets = start_games(&mut running, &mut build_schedule(&plan), &plan, spend(0));
    let costs: Vec<_> = budgets.iter().map(|it| it.cost.unwrap()).collect();
    assert_eq!(costs, [400_000, 400_000, 200_000], "the last game gets the rest");
    let mut running = RunningGames::default();
    let own_spend = spend(300_000);
    let games = build_schedule(&plan);
    let candidates = || games.iter().map(|game| (game, own_spend));
    assert_eq!(
        running.choose_next(candidates(), &plan, spend(1_000_000)),
        StartDecision::BudgetExhausted
    );
    let StartDecision::Start(0, budget) = running.choose_next(candidates(), &plan, spend(900_000))
    else {
        panic!()
    };
    assert_eq!(budget.cost, Some(400_000), "it includes what the game has already spent");
    running.add(games[0].clone(), budget, own_spend);
    assert_eq!(
        running.choose_next(candidates(), &plan, spend(900_000)),
        StartDecision::Wait,
        "until the running game ends"
    );
    running.remove(&games[0].key);
    assert!(running.is_empty());
    let unlimited = TournamentPlan { total_budget: Budget::default(), ..plan };
    let budgets =
        start_games(&mut running, &mut build_schedule(&unlimited), &unlimited, spend(9_000_000));
    assert!(budgets.iter().all(|it| it.cost == Some(400_000)) && budgets.len() == 8);
}
