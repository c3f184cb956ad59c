//! Exports a debate as one self-contained HTML file, without scripts or external requests.
use super::debate::body;
use super::html::{Html, html};
use super::shown::{Setting, Shown, Viewer, title};
use super::story::Story;

/// Content-Security-Policy of the file: it loads nothing and runs no script.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Renders the export. The style sheet is inlined.
pub fn export(story: &Story, style: &'static str) -> Html {
    let setting = Setting::default();
    let parts = Shown::new(story, &setting, None).parts(Viewer::Reader);
    let made = html!(
        "<p class=\"links\">Debate <code>{}</code>, exported at event {}.</p>",
        story.debate().setup().id.as_str(),
        story.seq()
    );
    let main = body(&parts, &Html::new(), &made);
    let mut sheet = Html::new();
    sheet.tag(style);
    html!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" \
         content=\"no-referrer\"><title>{}</title><style>{}</style></head>\
         <body data-page=\"export\"><a class=\"skip\" href=\"#debate\">Skip to the content</a>\
         <header class=\"top\"><p class=\"brand\">debate</p></header><main id=\"debate\">{}</main>\
         <footer><p>Models argue; a person decides. What stands here was said by models, and is not \
         checked except where it says so.</p></footer></body></html>\n",
        POLICY,
        title(story),
        sheet,
        main
    )
}
