//! User-defined formats: TOML files that load and can be played, validation errors of invalid ones,
//! and prompt files that override the built-in prompts.
use crate::scene::{open, played, setup, trace, word};
use debate_mcp::debate::{Debate, Rule, RuleWeight, Setup};
use debate_mcp::engine::format_catalog::{FormatCatalog, FormatSource};
use debate_mcp::engine::{AppError, CatalogEntry};
use debate_mcp::formats_catalog::load;
use std::fs;
use tempfile::TempDir;

/// Loads the catalog with these files in the user's formats folder.
fn with(files: &[(&str, &str)]) -> FormatCatalog {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    load(&folder.path().join("prompts"), folder.path())
}

fn named(catalogue: &FormatCatalog) -> Vec<&str> {
    catalogue.entries.iter().map(CatalogEntry::name).collect()
}

const OURS: [&str; 8] =
    ["duel", "research", "dialectic", "tribunal", "arena", "api-design", "security", "migration"];

/// A setup with the format, prompts and default rounds of a catalog entry.
fn setup_of(offering: &CatalogEntry) -> Setup {
    let offer = &offering.offer;
    Setup { prompts: offering.prompts.clone(), ..setup(offer.format.clone(), offer.default_rounds) }
}

const OWN: &str = r#"
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
fn a_format_of_its_own_acts_is_offered_and_can_be_played() {
    let catalogue = with(&[("pitch.toml", OWN)]);
    assert_eq!(catalogue.invalid_files, []);
    let pitch = catalogue.find("pitch").unwrap();
    assert!(matches!(&pitch.source, FormatSource::UserFile(file) if file.ends_with("pitch.toml")));
    assert_eq!((pitch.offer.default_rounds, pitch.offer.rounds.clone()), (2, 1..=3));
    assert!(!pitch.offer.confirm_plan && !pitch.offer.impartial_judge);
    let first = &pitch.offer.format.acts[0].phases[0];
    assert!(first.web && first.rules.contains(&(Rule::Structured, RuleWeight::Mend)));
    assert!(pitch.prompts.contains_key("reply.verdict"), "what every format says about replies");
    assert!(!pitch.prompts.contains_key("propose"), "and nothing of a duel's");
    let debate = played(setup_of(pitch), &[]);
    assert_eq!(trace(&debate), "1.pitch 2.ask 2.ask 0.judge 0.judge completed");
    let lost = played(setup_of(pitch), &["1.pitch"]);
    assert_eq!(word(&lost), "aborted");
    let mut told = open(setup_of(pitch));
    let cue = crate::scene::until(&mut told, 2, "ask");
    assert!(crate::players::told(&told, cue).starts_with("Ask about Previous exchanges:"));
}

const BASED: &str = r#"
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
fn a_format_made_from_another_has_its_acts_with_words_and_listeners_of_its_own() {
    let catalogue = with(&[("money.toml", BASED)]);
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
    let mut debate = open(setup_of(money));
    let cue = crate::scene::until(&mut debate, 0, "vote");
    assert!(crate::players::told(&debate, cue).contains("Ask what it costs."));
}

#[test]
fn a_format_may_be_made_from_one_of_the_users_own() {
    let second = "about = \"a short one\"\nbase = \"a-pitch\"\nfocus = \"Short.\"";
    let own = OWN.replace("name = \"pitch\"\nabout", "about");
    let catalogue = with(&[("a-pitch.toml", &own), ("b-short.toml", second)]);
    assert_eq!(catalogue.invalid_files, []);
    assert_eq!(named(&catalogue)[8..], ["a-pitch", "b-short"]);
}

#[test]
fn what_comes_with_the_program_is_sound() {
    let catalogue = with(&[]);
    assert_eq!((named(&catalogue), catalogue.invalid_files.len()), (OURS.to_vec(), 0));
    for offering in &catalogue.entries {
        let name = offering.name();
        assert!(Debate::open(setup_of(offering)).is_ok(), "{name}");
        match name {
            "api-design" | "security" | "migration" => {
                assert_eq!(offering.source, FormatSource::BuiltinTemplate("duel".into()), "{name}");
                assert!(offering.prompts["focus"].lines().count() > 5, "{name}");
                let debate = open(setup_of(offering));
                let told = crate::players::told(&debate, crate::scene::due(&debate)[0]);
                let first = offering.prompts["focus"].trim().lines().next().unwrap();
                assert!(told.contains(first), "{name}: {told}");
            }
            _ => assert_eq!(offering.source, FormatSource::Builtin, "{name}"),
        }
    }
}

/// The valid format file with one part replaced.
fn but(old: &str, new: &str) -> String {
    assert!(OWN.contains(old), "{old}");
    OWN.replacen(old, new, 1)
}

#[test]
fn a_file_that_is_no_format_says_why() {
    let based = |more: &str| format!("about = \"x\"\nbase = \"duel\"\n{more}");
    let audience =
        |speakers: &str| but("speakers = [\"con\", \"pro\"]\nreply = \"speech\"", speakers);
    let table: Vec<(String, &str)> = vec![
        (String::new(), "line 1: missing field `about`"),
        ("about = ".into(), "line 1: "),
        (
            "about = 7\nbase = \"duel\"".into(),
            "line 1: invalid type: integer `7`, expected a string",
        ),
        ("about = \"x\"".into(), "it has neither `acts` nor a `base` to take them from"),
        (
            but("about =", "base = \"duel\"\nabout ="),
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
        (but("pitch = \"Pitch", "other = \"Pitch"), "phase `pitch` has no prompt"),
        (
            but("rounds = \"once\"", "rounds = { leaving = 0 }"),
            "the last act, `end`, is the ending, and must have `rounds = \"once\"`",
        ),
        (but("rounds = \"once\"", "rounds = \"open\""), "the last act, `end`, is the ending"),
        (but("rounds = \"once\"", "rounds = \"twice\""), "unknown variant `twice`"),
        (but("[\"con\", \"pro\"]", "[\"con\", \"lawyer\"]"), "line "),
        (but("reply = \"verdict\"", "reply = \"poem\""), "unknown variant `poem`"),
        (but("order = \"at_once\"", "order = \"never\""), "unknown variant `never`"),
        (but("short = \"abort\"", "short = \"retry\""), "unknown variant `retry`"),
        (but("picks_side = \"reask\"", "picks_nose = \"reask\""), "unknown variant `picks_nose`"),
        (but("picks_side = \"reask\"", "picks_side = \"shoot\""), "unknown variant `shoot`"),
        (
            but("picks_side = \"reask\"", "evidenced = \"foul\""),
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
        let catalogue = with(&[("pitch.toml", &text)]);
        assert_eq!(named(&catalogue), OURS, "{text}");
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
fn a_name_of_ours_or_no_name_at_all_is_not_taken() {
    let text = "about = \"x\"\nbase = \"duel\"";
    for name in OURS {
        let catalogue = with(&[(&format!("{name}.toml"), text)]);
        let why = format!("there is a format `{name}` already; call yours something else");
        assert_eq!(catalogue.invalid_files[0].why, why);
        assert_ne!(catalogue.find(name).unwrap().offer.about, "x", "ours is what is opened");
    }
    for name in ["Mine", "my format", "mein_format", "größe", &"x".repeat(41)] {
        let catalogue = with(&[(&format!("{name}.toml"), text)]);
        let why = &catalogue.invalid_files[0].why;
        assert!(why.starts_with(&format!("`{name}` is no name: ")), "{why}");
    }
    // Files with another extension are ignored.
    let catalogue = with(&[("notes.md", text), ("mine.toml~", text), ("fine.toml", text)]);
    assert_eq!((named(&catalogue)[8..].to_vec(), catalogue.invalid_files.len()), (vec!["fine"], 0));
    assert!(matches!(catalogue.find("chess"), Err(AppError::UnknownFormat { .. })));
}

#[test]
fn a_file_of_the_same_name_takes_the_place_of_our_words() {
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
    let mut debate = open(setup_of(catalogue.find("duel").unwrap()));
    let cue = crate::scene::until(&mut debate, 1, "propose");
    assert_eq!(crate::players::told(&debate, cue), "Propose! Tabs or spaces?");
}
