//! Tournament file: parsing and validation, the schedule of games, and the limits on concurrent
//! games and budget.
use debate_mcp::debate::{Budget, Spend};
use debate_mcp::tournament::running_games::StartDecision;
use debate_mcp::tournament::{
    RunningGames, ScheduledGame, TournamentFileError, TournamentPlan, build_schedule,
};
use std::collections::BTreeSet;

const PLAN_FILE: &str = r#"
name = "spring"
motions = ["Tabs or spaces?", "One file or many?"]
entrants = ["claude", "codex:gpt-5", { name = "Gem", seat = "gemini" }]
judge = "copilot"
"#;

fn parse_plan(more: &str) -> TournamentPlan {
    TournamentPlan::parse(&format!("{PLAN_FILE}{more}")).unwrap()
}

fn game_keys(plan: &TournamentPlan) -> BTreeSet<String> {
    build_schedule(plan).into_iter().map(|game| game.key).collect()
}

#[test]
fn every_pair_meets_on_every_motion_on_both_sides() {
    let plan = parse_plan("rounds = [1, 2]");
    let games = build_schedule(&plan);
    assert_eq!(games.len(), 2 * 2 * 3 * 2, "motions, numbers of rounds, pairs, sides");
    assert_eq!(game_keys(&plan).len(), games.len(), "each under a name of its own");
    for game in &games {
        let back = |it: &&ScheduledGame| {
            (it.pro, it.con, &it.motion, it.rounds)
                == (game.con, game.pro, &game.motion, game.rounds)
        };
        assert_eq!(games.iter().filter(back).count(), 1, "with the sides swapped");
        assert_ne!(game.pro, game.con);
    }
    let half = &games[..games.len() / 2];
    assert!(half.iter().all(|game| game.motion == "Tabs or spaces?"), "motion by motion");
    assert_eq!((games[0].pro, games[0].con, games[1].pro, games[1].con), (0, 1, 1, 0));
}

#[test]
fn game_key_depends_only_on_its_own_settings() {
    let before = parse_plan("");
    assert_eq!(
        build_schedule(&before)[0].key,
        build_schedule(&parse_plan("at_once = 5\n[in_all]\nmax_cost = 3"))[0].key
    );
    let more = PLAN_FILE
        .replace("motions = [", "motions = [\"First?\", ")
        .replace("entrants = [", "entrants = [\"opencode\", ");
    let more = TournamentPlan::parse(&more).unwrap();
    assert!(game_keys(&more).is_superset(&game_keys(&before)), "nothing is played twice");
    assert_eq!(game_keys(&more).len(), 3 * 12);
    let renamed = TournamentPlan::parse(&PLAN_FILE.replace("name = \"Gem\", ", "")).unwrap();
    assert_eq!(game_keys(&renamed), game_keys(&before));
    for other in [
        PLAN_FILE.replace("copilot", "opencode"),
        format!("{PLAN_FILE}rounds = 1"),
        format!("{PLAN_FILE}format = \"tribunal\""),
        format!("{PLAN_FILE}effort = \"low\""),
        format!("{PLAN_FILE}context = \"auto\""),
        PLAN_FILE.replace("Tabs", "Dots").replace("One file", "Two files"),
    ] {
        let other = TournamentPlan::parse(&other).unwrap();
        assert!(
            game_keys(&other).is_disjoint(&game_keys(&before)),
            "another game has another name"
        );
    }
}

#[test]
fn invalid_files_are_refused_with_a_hint() {
    let cases: &[(&str, &str, &str)] = &[
        ("name = \"spring\"", "name = \" \"", "no name"),
        ("motions = [\"Tabs or spaces?\", \"One file or many?\"]", "", "no motions"),
        ("\"One file or many?\"", "\"  \"", "motion 2 is empty"),
        ("\"One file or many?\"", "\"Tabs or spaces? \"", "motion 2 stands there twice"),
        ("\"claude\", \"codex:gpt-5\", ", "", "two entrants or more"),
        (
            "\"claude\", ",
            "\"claude\", \"claude:opus\", ",
            "`claude` and `claude:opus` are, or may be",
        ),
        ("name = \"Gem\"", "name = \"claude\"", "two entrants are called `claude`"),
        ("\"codex:gpt-5\"", "\"human\"", "`human` is waited for"),
        ("judge = \"copilot\"", "judge = \"bot\"", "`bot` is waited for"),
        ("judge = \"copilot\"", "", "there is no judge"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nrounds = []", "`rounds` is an empty list"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nrounds = [1, 1]", "twice"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nat_once = 0", "`at_once` must be 1"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nper_game = { max_cost = -1 }", "no amount"),
        ("judge = \"copilot\"", "judge = \"copilot\"\nprize = 3", "unknown field `prize`"),
        ("\"codex:gpt-5\"", "\"-rf\"", "a tool's name"),
    ];
    for (old, new, says) in cases {
        let text = PLAN_FILE.replace(old, new);
        assert_ne!(text, PLAN_FILE, "{old}");
        let bad = TournamentPlan::parse(&text).unwrap_err();
        assert!(bad.to_string().contains(says), "{new}: {bad}");
        assert!(!bad.hint().is_empty());
    }
    let many: Vec<String> = (0..200).map(|nth| format!("\"t{nth}\"")).collect();
    let many = format!("name='x'\njudge='j'\nmotions=['a?']\nentrants=[{}]", many.join(","));
    assert_eq!(TournamentPlan::parse(&many), Err(TournamentFileError::TooManyGames(39_800)));
}

/// Starts every game that may start now, and returns their budgets.
fn start_games(
    table: &mut RunningGames,
    waiting: &mut Vec<ScheduledGame>,
    plan: &TournamentPlan,
    spent: Spend,
) -> Vec<Budget> {
    let mut all = vec![];
    loop {
        let own = waiting.iter().map(|game| (game, Spend::default()));
        let StartDecision::Start(nth, budget) = table.choose_next(own, plan, spent) else {
            return all;
        };
        table.add(waiting.remove(nth), budget, Spend::default());
        all.push(budget);
    }
}

#[test]
fn concurrent_games_are_limited_per_entrant() {
    for (at_once, each, wanted) in [(1, 1, 1), (8, 1, 1), (8, 2, 3), (2, 2, 2), (8, 4, 6)] {
        let plan = parse_plan(&format!("at_once = {at_once}\nat_once_per_entrant = {each}"));
        let mut waiting = build_schedule(&plan);
        let mut table = RunningGames::default();
        start_games(&mut table, &mut waiting, &plan, Spend::default());
        assert_eq!(table.len(), wanted, "{at_once} at once, {each} each");
    }
    // Two pairs without a common entrant play concurrently, although other games are queued before.
    let four = PLAN_FILE.replace("entrants = [", "entrants = [\"opencode\", ") + "at_once = 4";
    let four = TournamentPlan::parse(&four).unwrap();
    let mut table = RunningGames::default();
    start_games(&mut table, &mut build_schedule(&four), &four, Spend::default());
    assert_eq!(table.len(), 2);
}

#[test]
fn total_budget_is_never_promised_twice() {
    let spent = |cost| Spend { cost, ..Spend::default() };
    let wide = "at_once = 8\nat_once_per_entrant = 8\n";
    let plan = parse_plan(&format!("{wide}[per_game]\nmax_cost = 0.4\n[in_all]\nmax_cost = 1.0"));
    let mut table = RunningGames::default();
    let promised = start_games(&mut table, &mut build_schedule(&plan), &plan, spent(0));
    let costs: Vec<_> = promised.iter().map(|it| it.cost.unwrap()).collect();
    assert_eq!(costs, [400_000, 400_000, 200_000], "the last gets what is left");
    let mut table = RunningGames::default();
    let own = spent(300_000);
    let games = build_schedule(&plan);
    let all = || games.iter().map(|game| (game, own));
    assert_eq!(table.choose_next(all(), &plan, spent(1_000_000)), StartDecision::BudgetExhausted);
    let StartDecision::Start(0, budget) = table.choose_next(all(), &plan, spent(900_000)) else {
        panic!()
    };
    assert_eq!(budget.cost, Some(400_000), "what it has spent is in it");
    table.add(games[0].clone(), budget, own);
    assert_eq!(
        table.choose_next(all(), &plan, spent(900_000)),
        StartDecision::Wait,
        "until the other is over"
    );
    table.remove(&games[0].key);
    assert!(table.is_empty());
    let endless = TournamentPlan { total_budget: Budget::default(), ..plan };
    let promised =
        start_games(&mut table, &mut build_schedule(&endless), &endless, spent(9_000_000));
    assert!(promised.iter().all(|it| it.cost == Some(400_000)) && promised.len() == 8);
}
