//! Tests of options and defaults against the formats.
use super::*;
use crate::debate::formats::built_in_offers;
use crate::engine::format_catalog::FormatSource;
use serde_json::json;
use std::collections::BTreeMap;

fn entry(format: &str) -> CatalogEntry {
    let mut offers = built_in_offers().into_iter();
    let offer = offers.find(|offer| offer.format.name == format).unwrap();
    CatalogEntry { offer, prompts: BTreeMap::new(), source: FormatSource::Builtin }
}

#[test]
fn defaults_that_a_format_does_not_take_are_left_out() {
    let defaults = json!({
        "rounds": 2, "sealed": true, "goal": "speed", "partners": ["claude"],
        "listeners": [], "max_cost": 1.5
    });
    let defaults: DebateOptions = serde_json::from_value(defaults).unwrap();
    let names = |format: &str| {
        let options = to_json(&supported_part(&defaults, &entry(format)));
        let unset = to_json(&DebateOptions::default());
        let is_set = |name: &&str| options.get(*name) != unset.get(*name);
        let names = ["rounds", "sealed", "goal", "partners", "listeners", "max_cost"];
        names.into_iter().filter(is_set).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("duel"), "rounds sealed max_cost");
    assert_eq!(names("research"), "goal max_cost");
    assert_eq!(names("dialectic"), "rounds partners max_cost");
    assert_eq!(names("tribunal"), "sealed listeners max_cost");
}

#[test]
fn option_of_another_format_is_refused() {
    let options = DebateOptions { goal: Some("speed".into()), ..DebateOptions::default() };
    assert!(check_supported(&options, &entry("research")).is_ok());
    let error = check_supported(&options, &entry("duel")).unwrap_err().to_string();
    assert_eq!(error, "the option `goal` is not available in the format `duel`");
}
