//! User-defined formats: TOML files that load and can be played, validation errors of invalid ones,
//! and prompt files that override the built-in prompts.
use crate::debate_fixture::{debate_setup, open_debate, outcome_name, play_to_end, trace};
use debate_mcp::debate::{Debate, Rule, RuleWeight, Setup};
use debate_mcp::engine::format_catalog::{FormatCatalog, FormatSource};
use debate_mcp::engine::{AppError, CatalogEntry};
use debate_mcp::formats_catalog::load;
use std::fs;
use tempfile::TempDir;

/// Loads the catalog with these files in the user's formats folder.
fn catalog_with_files(files: &[(&str, &str)]) -> FormatCatalog {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    load(&folder.path().join("prompts"), folder.path())
}

fn format_names(catalogue: &FormatCatalog) -> Vec<&str> {
    catalogue.entries.iter().map(CatalogEntry::name).collect()
}

const BUILT_IN_FORMATS: [&str; 8] =
    ["duel", "research", "dialectic", "tribunal", "arena", "api-design", "security", "migration"];

/// A setup with the format, prompts and default rounds of a catalog entry.
fn setup_for_entry(offering: &CatalogEntry) -> Setup {
    let offer = &offering.offer;
    Setup {
        prompts: offering.prompts.clone(),
        ..debate_setup(offer.format.clone(), offer.default_rounds)
    }
}

const PITCH_FORMAT: &str = r#"
name = "pitch"
about = "one pitches, one asks, a judge decides"
rounds = { least = 1, most = 3, usual = 2 }

[[acts]]
name = "pitch"
rounds = { through = 1 }
[[acts.phases]]
name = "pitch"
speakers = ["pro"]
reply = "speech"
short = "abort"
rules = { evidenced = "foul", structured = "mend" }
web = true

[[acts]]
name = "questions"
rounds = { leaving = 0 }
[[acts.phases]]
name = "ask"
speakers = ["con", "pro"]
reply = "speech"

[[acts]]
name = "end"
rounds = "once"
[[acts.phases]]
name = "judge"
speakers = ["judge", "mirror"]
reply = "verdict"
order = "at_once"
short = "conclude"
rules = { picks_side = "reask" }

[prompts]
pitch = "Pitch {{topic}}. {{reply}}"
ask = "Ask about {{heard}}. {{reply}}"
judge = "Judge {{claims}}. {{reply}}"
"#;

#[test]
fn user_format_with_acts_can_be_played() {
    let catalogue = catalog_with_files(&[("pitch.toml", PITCH_FORMAT)]);
    assert_eq!(catalogue.invalid_files, []);
    let pitch = catalogue.find("pitch").unwrap();
    assert!(matches!(&pitch.source, FormatSource::UserFile(file) if file.ends_with("pitch.toml")));
    assert_eq!((pitch.offer.default_rounds, pitch.offer.rounds.clone()), (2, 1..=3));
    assert!(!pitch.offer.confirm_plan && !pitch.offer.impartial_judge);
    let first = &pitch.offer.format.acts[0].phases[0];
    assert!(first.web && first.rules.contains(&(Rule::Structured, RuleWeight::Mend)));
    assert!(pitch.prompts.contains_key("reply.verdict"), "what every format says about replies");
    assert!(!pitch.prompts.contains_key("propose"), "and nothing of a duel's");
    let debate = play_to_end(setup_for_entry(pitch), &[]);
    assert_eq!(trace(&debate), "1.pitch 2.ask 2.ask 0.judge 0.judge completed");
    let lost = play_to_end(setup_for_entry(pitch), &["1.pitch"]);
    assert_eq!(outcome_name(&lost), "aborted");
    let mut told = open_debate(setup_for_entry(pitch));
    let cue = crate::debate_fixture::play_until(&mut told, 2, "ask");
    assert!(
        crate::simulated_players::render_prompt(&told, cue)
            .starts_with("Ask about Previous exchanges:")
    );
}

const MONEY_FORMAT: &str = r#"
about = "a tribunal about money"
base = "tribunal"
focus = "Ask what it costs."
confirm_plan = true
rounds = { least = 5, most = 7, usual = 6 }
[prompts]
vote = "Vote on {{topic}}. {{focus}} {{reply}}"
"act.closing" = "Be brief."
[audience]
frugal = "You care about the price."
"#;

#[test]
fn derived_format_keeps_acts_and_adds_prompts_and_listeners() {
    let catalogue = catalog_with_files(&[("money.toml", MONEY_FORMAT)]);
    assert_eq!(catalogue.invalid_files, []);
    let (money, court) = (catalogue.find("money").unwrap(), catalogue.find("tribunal").unwrap());
    assert_eq!(money.offer.format.acts, court.offer.format.acts);
    assert_eq!(money.offer.format.name, "money");
    assert!(money.offer.confirm_plan && money.offer.impartial_judge, "said, and taken over");
    assert_eq!((money.offer.default_rounds, money.offer.rounds.clone()), (6, 5..=7));
    assert_eq!(money.prompts["focus"].trim(), "Ask what it costs.");
    assert_eq!(money.prompts["argue"], court.prompts["argue"]);
    assert_ne!(money.prompts["vote"], court.prompts["vote"]);
    assert_eq!(money.prompts["act.closing"], "Be brief.");
    let listeners: Vec<&str> = money.audience_types().collect();
    assert!(listeners.contains(&"frugal") && listeners.contains(&"risk-averse"), "{listeners:?}");
    let mut debate = open_debate(setup_for_entry(money));
    let cue = crate::debate_fixture::play_until(&mut debate, 0, "vote");
    assert!(crate::simulated_players::render_prompt(&debate, cue).contains("Ask what it costs."));
}

#[test]
fn format_can_derive_from_a_user_format() {
    let second = "about = \"a short one\"\nbase = \"a-pitch\"\nfocus = \"Short.\"";
    let own = PITCH_FORMAT.replace("name = \"pitch\"\nabout", "about");
    let catalogue = catalog_with_files(&[("a-pitch.toml", &own), ("b-short.toml", second)]);
    assert_eq!(catalogue.invalid_files, []);
    assert_eq!(format_names(&catalogue)[8..], ["a-pitch", "b-short"]);
}

#[test]
fn built_in_formats_are_valid() {
    let catalogue = catalog_with_files(&[]);
    assert_eq!(
        (format_names(&catalogue), catalogue.invalid_files.len()),
        (BUILT_IN_FORMATS.to_vec(), 0)
    );
    for offering in &catalogue.entries {
        let name = offering.name();
        assert!(Debate::open(setup_for_entry(offering)).is_ok(), "{name}");
        match name {
            "api-design" | "security" | "migration" => {
                assert_eq!(offering.source, FormatSource::BuiltinTemplate("duel".into()), "{name}");
                assert!(offering.prompts["focus"].lines().count() > 5, "{name}");
                let debate = open_debate(setup_for_entry(offering));
                let told = crate::simulated_players::render_prompt(
                    &debate,
                    crate::debate_fixture::due_cues(&debate)[0],
                );
                let first = offering.prompts["focus"].trim().lines().next().unwrap();
                assert!(told.contains(first), "{name}: {told}");
            }
            _ => assert_eq!(offering.source, FormatSource::Builtin, "{name}"),
        }
    }
}

/// The valid format file with one part replaced.
fn pitch_format_with(old: &str, new: &str) -> String {
    assert!(PITCH_FORMAT.contains(old), "{old}");
    PITCH_FORMAT.replacen(old, new, 1)
}

#[test]
fn invalid_format_file_error_names_the_reason() {
    let based = |more: &str| format!("about = \"x\"\nbase = \"duel\"\n{more}");
    let audience = |speakers: &str| {
        pitch_format_with("speakers = [\"con\", \"pro\"]\nreply = \"speech\"", speakers)
    };
    let table: Vec<(String, &str)> = vec![
        (String::new(), "line 1: missing field `about`"),
        ("about = ".into(), "line 1: "),
        (
            "about = 7\nbase = \"duel\"".into(),
            "line 1: invalid type: integer `7`, expected a string",
        ),
        ("about = \"x\"".into(), "it has neither `acts` nor a `base` to take them from"),
        (
            pitch_format_with("about =", "base = \"duel\"\nabout ="),
            "it has both `base` and `acts`; one of them is enough",
        ),
        (
            "about = \"x\"\nbase = \"chess\"".into(),
            "there is no `base` format `chess`; known: duel, research, dialectic, tribunal",
        ),
        (based("colour = \"red\""), "line 3: unknown field `colour`"),
        (based("name = \"other\""), "it calls itself `other`, and the file is called `pitch`"),
        (
            based("rounds = { least = 0, most = 5, usual = 2 }"),
            "`rounds` has least 0, usual 2, most 5",
        ),
        (
            based("rounds = { least = 1, most = 101, usual = 2 }"),
            "`rounds` has least 1, usual 2, most 101",
        ),
        (based("rounds = { least = 3, most = 2, usual = 2 }"), "they must rise, from 1 to 100"),
        (
            based("rounds = { least = 1, most = 5, usual = 6 }"),
            "`rounds` has least 1, usual 6, most 5",
        ),
        (based("rounds = { least = 1, most = 5 }"), "line 3: missing field `usual`"),
        (based("rounds = 3"), "line 3: "),
        (based("[prompts]\nparley = \"x\""), "prompt `parley` belongs to no phase"),
        (based("[prompts]\njudge = \"{{tpoic}}\""), "prompt `judge`: `{{tpoic}}` is not known"),
        (based("[prompts]\njudge = \"{{topic\""), "prompt `judge`: a `{{` is never closed"),
        (based("[prompts]\njudge = \" \""), "phase `judge` has no prompt"),
        (pitch_format_with("pitch = \"Pitch", "other = \"Pitch"), "phase `pitch` has no prompt"),
        (
            pitch_format_with("rounds = \"once\"", "rounds = { leaving = 0 }"),
            "the last act, `end`, is the ending, and must have `rounds = \"once\"`",
        ),
        (
            pitch_format_with("rounds = \"once\"", "rounds = \"open\""),
            "the last act, `end`, is the ending",
        ),
        (pitch_format_with("rounds = \"once\"", "rounds = \"twice\""), "unknown variant `twice`"),
        (pitch_format_with("[\"con\", \"pro\"]", "[\"con\", \"lawyer\"]"), "line "),
        (pitch_format_with("reply = \"verdict\"", "reply = \"poem\""), "unknown variant `poem`"),
        (pitch_format_with("order = \"at_once\"", "order = \"never\""), "unknown variant `never`"),
        (pitch_format_with("short = \"abort\"", "short = \"retry\""), "unknown variant `retry`"),
        (
            pitch_format_with("picks_side = \"reask\"", "picks_nose = \"reask\""),
            "unknown variant `picks_nose`",
        ),
        (
            pitch_format_with("picks_side = \"reask\"", "picks_side = \"shoot\""),
            "unknown variant `shoot`",
        ),
        (
            pitch_format_with("picks_side = \"reask\"", "evidenced = \"foul\""),
            "phase `judge`: the rule `evidenced` is about a speech, and the phase asks for a verdict",
        ),
        (
            audience("speakers = \"admitted\"\nreply = \"speech\""),
            "somebody is `admitted`, but no phase is `prompted` to admit them",
        ),
        (
            audience("speakers = { prompted = \"judge\" }\nreply = \"ruling\""),
            "somebody is let in, but no phase seats an audience",
        ),
        (
            audience("speakers = [\"audience\"]\nreply = \"vote\""),
            "there is an audience, but `[audience]` has no type of listener",
        ),
        (
            "about = \"x\"\n[[acts]]\nname = \"end\"\nrounds = \"once\"\nphases = []".into(),
            "the act `end` has no phases",
        ),
    ];
    assert!(table.len() >= 20);
    for (text, says) in table {
        let catalogue = catalog_with_files(&[("pitch.toml", &text)]);
        assert_eq!(format_names(&catalogue), BUILT_IN_FORMATS, "{text}");
        let broken = &catalogue.invalid_files[0];
        assert!(broken.why.contains(says), "`{says}` is not in `{}`", broken.why);
        assert!(!broken.why.contains('\n'), "{}", broken.why);
        // Looking the format up returns the same error, with the file's path.
        let Err(AppError::InvalidFormat { name, file, why }) = catalogue.find("pitch") else {
            panic!("{text}")
        };
        assert_eq!((name.as_str(), &why), ("pitch", &broken.why));
        assert!(file.ends_with("pitch.toml"));
    }
}

#[test]
fn built_in_or_invalid_format_name_is_refused() {
    let text = "about = \"x\"\nbase = \"duel\"";
    for name in BUILT_IN_FORMATS {
        let catalogue = catalog_with_files(&[(&format!("{name}.toml"), text)]);
        let why = format!("there is a format `{name}` already; call yours something else");
        assert_eq!(catalogue.invalid_files[0].why, why);
        assert_ne!(catalogue.find(name).unwrap().offer.about, "x", "ours is what is opened");
    }
    for name in ["Mine", "my format", "mein_format", "größe", &"x".repeat(41)] {
        let catalogue = catalog_with_files(&[(&format!("{name}.toml"), text)]);
        let why = &catalogue.invalid_files[0].why;
        assert!(why.starts_with(&format!("`{name}` is no name: ")), "{why}");
    }
    // Files with another extension are ignored.
    let catalogue =
        catalog_with_files(&[("notes.md", text), ("mine.toml~", text), ("fine.toml", text)]);
    assert_eq!(
        (format_names(&catalogue)[8..].to_vec(), catalogue.invalid_files.len()),
        (vec!["fine"], 0)
    );
    assert!(matches!(catalogue.find("chess"), Err(AppError::UnknownFormat { .. })));
}

#[test]
fn user_prompt_files_override_built_in_prompts() {
    let folder = TempDir::new().unwrap();
    let prompts = folder.path().join("prompts");
    for (file, text) in [
        ("duel/propose.md", "Propose! {{topic}}"),
        ("tribunal/acts/closing.md", "Close."),
        ("tribunal/audience/risk-averse.md", "You fear everything."),
        ("reply/verdict.md", "Answer in JSON."),
        ("again.md", "Again: {{why}}"),
    ] {
        let path = prompts.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let catalogue = load(&prompts, &folder.path().join("formats"));
    let words = |format: &str, name: &str| {
        catalogue.find(format).unwrap().prompts.get(name).cloned().unwrap_or_default()
    };
    assert_eq!(words("duel", "propose"), "Propose! {{topic}}");
    assert_eq!(words("security", "propose"), "Propose! {{topic}}", "also where it is the base");
    assert_eq!(words("tribunal", "audience.risk-averse"), "You fear everything.");
    assert_eq!(words("tribunal", "act.closing"), "Close.");
    for format in ["duel", "research", "dialectic", "tribunal"] {
        assert_eq!(words(format, "reply.verdict"), "Answer in JSON.", "{format}");
        assert_eq!(words(format, "again"), "Again: {{why}}", "{format}");
    }
    let other = load(&folder.path().join("none"), &folder.path().join("none"));
    assert_eq!(words("duel", "challenge"), other.find("duel").unwrap().prompts["challenge"]);
    let mut debate = open_debate(setup_for_entry(catalogue.find("duel").unwrap()));
    let cue = crate::debate_fixture::play_until(&mut debate, 1, "propose");
    assert_eq!(crate::simulated_players::render_prompt(&debate, cue), "Propose! Tabs or spaces?");
}
