//! Small elements and attributes that several pages share: panels, tables, times, states, element
//! ids and languages.
use crate::debate::language::{self, Language};
use crate::debate::{Cue, Status};
use crate::report::iso_timestamp;
use maud::{Markup, html};

/// Characters read at most to detect the language of a text.
const MAX_DETECTED_CHARS: usize = 4_000;

/// Element id of a turn.
pub(super) fn turn_element_id(cue: Cue) -> String {
    let Cue { act, round, phase, seat } = cue;
    format!("turn-{act}-{round}-{phase}-{seat}")
}

/// Value of the `lang` attribute: `zh` for Chinese text, otherwise none.
pub(super) fn text_lang(text: &str) -> Option<&'static str> {
    let start: String = text.chars().take(MAX_DETECTED_CHARS).collect();
    (language::detect(&start) == Language::Chinese).then_some("zh")
}

/// Renders a timestamp as a `time` element, in UTC.
pub(super) fn render_time(millis: i64) -> Markup {
    let iso = iso_timestamp(millis);
    html! {
        time datetime=(iso) { (iso.get(..19).unwrap_or(&iso).replace('T', " ")) " UTC" }
    }
}

/// Renders the status of a debate.
pub(super) fn render_state(status: Status) -> Markup {
    let name = status.as_str();
    html! { span.state.{ "state-" (name) } { (capitalize(&name.replace('-', " "))) } }
}

/// Renders a panel. An empty one is hidden.
pub(super) fn render_panel(id: &'static str, title: &'static str, inner: &Markup) -> Markup {
    html! {
        @if inner.0.is_empty() {
            section #(id) .panel hidden {}
        } @else {
            section #(id) .panel aria-labelledby={ (id) "-title" } {
                h2 #{ (id) "-title" } { (title) }
                (inner)
            }
        }
    }
}

/// Renders a scrollable table with a caption.
pub(super) fn render_table(caption: &str, headers: &[&str], rows: &[Vec<Markup>]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                caption { (caption) }
                thead { tr { @for header in headers { th scope="col" { (header) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @if let Some((first, rest)) = row.split_first() {
                                th scope="row" { (first) }
                                @for cell in rest { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Capitalizes the first letter.
pub(super) fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
