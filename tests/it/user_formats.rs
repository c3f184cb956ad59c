//! User-defined formats: TOML files that load and can be played, validation errors of invalid ones,
//! and prompt files that override the built-in prompts.
use crate::debate_fixture::{debate_setup, open_debate, outcome_name, play_to_end, trace};
use debate_mcp::debate::{Debate, Rule, RuleWeight, Setup};
use debate_mcp::engine::CatalogEntry;
use debate_mcp::engine::FormatError;
use debate_mcp::engine::format_catalog::{FormatCatalog, FormatSource};
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

fn format_names(catalog: &FormatCatalog) -> Vec<&str> {
    catalog.entries.iter().map(CatalogEntry::name).collect()
}

const BUILT_IN_FORMATS: [&str; 8] =
    ["duel", "research", "dialectic", "tribunal", "arena", "api-design", "security", "migration"];

/// A setup with the format, prompts and default rounds of a catalog entry.
fn setup_for_entry(entry: &CatalogEntry) -> Setup {
    let offer = &entry.offer;
    Setup {
        prompts: entry.prompts.clone(),
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
    let catalog = catalog_with_files(&[("pitch.toml", PITCH_FORMAT)]);
    assert_eq!(catalog.invalid_files, []);
    let pitch = catalog.find("pitch").unwrap();
    assert!(matches!(&pitch.source, FormatSource::UserFile(file) if file.ends_with("pitch.toml")));
    assert_eq!((pitch.offer.default_rounds, pitch.offer.rounds.clone()), (2, 1..=3));
    assert!(!pitch.offer.confirm_plan && !pitch.offer.impartial_judge);
    let first_phase = &pitch.offer.format.acts[0].phases[0];
    assert!(first_phase.web && first_phase.rules.contains(&(Rule::Structured, RuleWeight::Mend)));
    assert!(
        pitch.prompts.contains_key("reply.verdict"),
        "every format has the shared reply prompts"
    );
    assert!(!pitch.prompts.contains_key("propose"), "it has no prompts of the duel");
    let debate = play_to_end(setup_for_entry(pitch), &[]);
    assert_eq!(trace(&debate), "1.pitch 2.ask 2.ask 0.judge 0.judge completed");
    let aborted = play_to_end(setup_for_entry(pitch), &["1.pitch"]);
    assert_eq!(outcome_name(&aborted), "aborted");
    let mut second_debate = open_debate(setup_for_entry(pitch));
    let cue = crate::debate_fixture::play_until(&mut second_debate, 2, "ask");
    assert!(
        crate::simulated_players::render_prompt(&second_debate, cue)
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
    let catalog = catalog_with_files(&[("money.toml", MONEY_FORMAT)]);
    assert_eq!(catalog.invalid_files, []);
    let (money, tribunal) = (catalog.find("money").unwrap(), catalog.find("tribunal").unwrap());
    assert_eq!(money.offer.format.acts, tribunal.offer.format.acts);
    assert_eq!(money.offer.format.name, "money");
    assert!(
        money.offer.confirm_plan && money.offer.impartial_judge,
        "one set in the file, one inherited"
    );
    assert_eq!((money.offer.default_rounds, money.offer.rounds.clone()), (6, 5..=7));
    assert_eq!(money.prompts["focus"].trim(), "Ask what it costs.");
    assert_eq!(money.prompts["argue"], tribunal.prompts["argue"]);
    assert_ne!(money.prompts["vote"], tribunal.prompts["vote"]);
    assert_eq!(money.prompts["act.closing"], "Be brief.");
    let listeners: Vec<&str> = money.audience_types().collect();
    assert!(listeners.contains(&"frugal") && listeners.contains(&"risk-averse"), "{listeners:?}");
    let mut debate = open_debate(setup_for_entry(money));
    let cue = crate::debate_fixture::play_until(&mut debate, 0, "vote");
    assert!(crate::simulated_players::render_prompt(&debate, cue).contains("Ask what it costs."));
}

#[test]
fn format_can_derive_from_a_user_format() {
    let derived_format = "about = \"a short one\"\nbase = \"a-pitch\"\nfocus = \"Short.\"";
    let base_format = PITCH_FORMAT.replace("name = \"pitch\"\nabout", "about");
    let catalog =
        catalog_with_files(&[("a-pitch.toml", &base_format), ("b-short.toml", derived_format)]);
    assert_eq!(catalog.invalid_files, []);
    assert_eq!(format_names(&catalog)[8..], ["a-pitch", "b-short"]);
}

#[test]
fn built_in_formats_are_valid() {
    let catalog = catalog_with_files(&[]);
    assert_eq!(
        (format_names(&catalog), catalog.invalid_files.len()),
        (BUILT_IN_FORMATS.to_vec(), 0)
    );
    for entry in &catalog.entries {
        let name = entry.name();
        assert!(Debate::open(setup_for_entry(entry)).is_ok(), "{name}");
        match name {
            "api-design" | "security" | "migration" => {
                assert_eq!(entry.source, FormatSource::BuiltinTemplate("duel".into()), "{name}");
                assert!(entry.prompts["focus"].lines().count() > 5, "{name}");
                let debate = open_debate(setup_for_entry(entry));
                let prompt = crate::simulated_players::render_prompt(
                    &debate,
                    crate::debate_fixture::due_cues(&debate)[0],
                );
                let focus_line = entry.prompts["focus"].trim().lines().next().unwrap();
                assert!(prompt.contains(focus_line), "{name}: {prompt}");
            }
            _ => assert_eq!(entry.source, FormatSource::Builtin, "{name}"),
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
    let derived = |more: &str| format!("about = \"x\"\nbase = \"duel\"\n{more}");
    let with_speakers = |speakers: &str| {
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
        (derived("colour = \"red\""), "line 3: unknown field `colour`"),
        (derived("name = \"other\""), "its `name` is `other`, but the file is named `pitch`"),
        (
            derived("rounds = { least = 0, most = 5, usual = 2 }"),
            "`rounds` has least 0, usual 2, most 5",
        ),
        (
            derived("rounds = { least = 1, most = 101, usual = 2 }"),
            "`rounds` has least 1, usual 2, most 101",
        ),
        (derived("rounds = { least = 3, most = 2, usual = 2 }"), "they must rise, from 1 to 100"),
        (
            derived("rounds = { least = 1, most = 5, usual = 6 }"),
            "`rounds` has least 1, usual 6, most 5",
        ),
        (derived("rounds = { least = 1, most = 5 }"), "line 3: missing field `usual`"),
        (derived("rounds = 3"), "line 3: "),
        (derived("[prompts]\nparley = \"x\""), "prompt `parley` belongs to no phase"),
        (derived("[prompts]\njudge = \"{{tpoic}}\""), "prompt `judge`: `{{tpoic}}` is not known"),
        (derived("[prompts]\njudge = \"{{topic\""), "prompt `judge`: a `{{` is never closed"),
        (derived("[prompts]\njudge = \" \""), "phase `judge` has no prompt"),
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
            with_speakers("speakers = \"admitted\"\nreply = \"speech\""),
            "listeners are `admitted`, but no phase is `prompted` to admit them",
        ),
        (
            with_speakers("speakers = { prompted = \"judge\" }\nreply = \"ruling\""),
            "listeners are admitted, but no phase seats an audience",
        ),
        (
            with_speakers("speakers = [\"audience\"]\nreply = \"vote\""),
            "there is an audience, but `[audience]` has no type of listener",
        ),
        (
            "about = \"x\"\n[[acts]]\nname = \"end\"\nrounds = \"once\"\nphases = []".into(),
            "the act `end` has no phases",
        ),
    ];
    assert!(table.len() >= 20);
    for (text, expected) in table {
        let catalog = catalog_with_files(&[("pitch.toml", &text)]);
        assert_eq!(format_names(&catalog), BUILT_IN_FORMATS, "{text}");
        let reason = &catalog.invalid_files[0].why;
        assert!(reason.contains(expected), "`{expected}` is not in `{reason}`");
        assert!(!reason.contains('\n'), "{reason}");
        // Looking the format up returns the same error, with the file's path.
        let Err(FormatError::Invalid { name, file, why }) = catalog.find("pitch") else {
            panic!("{text}")
        };
        assert_eq!((name.as_str(), &why), ("pitch", reason));
        assert!(file.ends_with("pitch.toml"));
    }
}

#[test]
fn built_in_or_invalid_format_name_is_refused() {
    let text = "about = \"x\"\nbase = \"duel\"";
    for name in BUILT_IN_FORMATS {
        let catalog = catalog_with_files(&[(&format!("{name}.toml"), text)]);
        let reason = format!("there is a format `{name}` already; call yours something else");
        assert_eq!(catalog.invalid_files[0].why, reason);
        assert_ne!(catalog.find(name).unwrap().offer.about, "x", "the built-in format is used");
    }
    for name in ["Mine", "my format", "mein_format", "größe", &"x".repeat(41)] {
        let catalog = catalog_with_files(&[(&format!("{name}.toml"), text)]);
        let reason = &catalog.invalid_files[0].why;
        assert!(reason.starts_with(&format!("`{name}` is not a valid name; ")), "{reason}");
    }
    // Files with another extension are ignored.
    let catalog =
        catalog_with_files(&[("notes.md", text), ("mine.toml~", text), ("fine.toml", text)]);
    assert_eq!(
        (format_names(&catalog)[8..].to_vec(), catalog.invalid_files.len()),
        (vec!["fine"], 0)
    );
    assert!(matches!(catalog.find("chess"), Err(FormatError::Unknown { .. })));
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
    let catalog = load(&prompts, &folder.path().join("formats"));
    let prompt_text = |format: &str, name: &str| {
        catalog.find(format).unwrap().prompts.get(name).cloned().unwrap_or_default()
    };
    assert_eq!(prompt_text("duel", "propose"), "Propose! {{topic}}");
    assert_eq!(
        prompt_text("security", "propose"),
        "Propose! {{topic}}",
        "also in formats derived from it"
    );
    assert_eq!(prompt_text("tribunal", "audience.risk-averse"), "You fear everything.");
    assert_eq!(prompt_text("tribunal", "act.closing"), "Close.");
    for format in ["duel", "research", "dialectic", "tribunal"] {
        assert_eq!(prompt_text(format, "reply.verdict"), "Answer in JSON.", "{format}");
        assert_eq!(prompt_text(format, "again"), "Again: {{why}}", "{format}");
    }
    let built_in = load(&folder.path().join("none"), &folder.path().join("none"));
    assert_eq!(
        prompt_text("duel", "challenge"),
        built_in.find("duel").unwrap().prompts["challenge"]
    );
    let mut debate = open_debate(setup_for_entry(catalog.find("duel").unwrap()));
    let cue = crate::debate_fixture::play_until(&mut debate, 1, "propose");
    assert_eq!(crate::simulated_players::render_prompt(&debate, cue), "Propose! Tabs or spaces?");
}
