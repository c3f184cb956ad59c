//! Prompt templates: validation of placeholder names, and rendering in a single pass.
use crate::debate::template::{TemplateError, render, validate};

#[test]
fn unknown_placeholders_are_refused() {
    let unknown = |name: &str| Err(TemplateError::UnknownPlaceholder(name.into()));
    let table = [
        ("", Ok(())),
        ("no names at all", Ok(())),
        ("{{topic}} and {{ why }}", Ok(())),
        ("a brace } or two }} and { one", Ok(())),
        ("{{ }}", unknown("")),
        ("{{Topic}}", unknown("Topic")),
        ("{{topic}}{{salt}}", unknown("salt")),
        ("{{{{topic}}}}", unknown("{{topic")),
        ("{{topic", Err(TemplateError::Unclosed)),
        ("{{topic}} {{", Err(TemplateError::Unclosed)),
    ];
    for (template, expected) in table {
        assert_eq!(validate(template), expected, "{template}");
    }
    for name in crate::debate::template::PLACEHOLDERS {
        assert_eq!(validate(&format!("{{{{{name}}}}}")), Ok(()));
    }
}

#[test]
fn rendered_values_are_not_rendered_again() {
    let value = |name: &str| match name {
        "topic" => "{{heard}} {{".to_owned(),
        "heard" => "HEARD".to_owned(),
        _ => String::new(),
    };
    let table = [
        ("{{topic}}", "{{heard}} {{"),
        ("{{topic}}{{heard}}", "{{heard}} {{HEARD"),
        ("{{heard}} }} {{ heard }}", "HEARD }} HEARD"),
        ("é{{heard}}é", "éHEARDé"),
        ("{{unknown}}.", "."),
        ("a\n\n{{brief}}\n\nb", "a\n\nb"),
        ("{{brief}}\n\nb", "b"),
        ("a {{brief}}\n\nb", "a \n\nb"),
        ("a\n\n{{heard}}\n\nb", "a\n\nHEARD\n\nb"),
        ("{{never closed", ""),
        ("", ""),
    ];
    for (template, expected) in table {
        assert_eq!(render(template, value), expected, "{template}");
    }
}
