//! Renders one turn: speaker, time, usage, reply, ruling, claims and rule violations.
use super::cited::claims;
use super::html::{Html, bounded, html};
use super::markdown::markdown;
use super::shown::Setting;
use super::story::{Story, Times};
use super::timeline::when;
use crate::debate::body::{ClaimCheck, RubricMarks};
use crate::debate::language::{self, Language};
use crate::debate::{
    Body, Cue, Debate, Envelope, JudgeRuling, Participant, Reply, RuleWeight, Seat, Side,
    TurnFailure, status,
};
use crate::report::papers::paper;
use crate::report::people::title;
use crate::report::text::one_line;
use crate::report::verdict::{turn_name, unmask};
use crate::report::{iso, record};
use std::collections::BTreeMap;

/// Maximum length of a name, in characters.
const NAME: usize = 80;

/// Element id of a turn.
pub(super) fn id_of(cue: Cue) -> String {
    let Cue { act, round, phase, seat } = cue;
    format!("turn-{act}-{round}-{phase}-{seat}")
}

/// Renders a turn. `live` is the streamed text of a pending one.
pub(super) fn turn(story: &Story, cue: Cue, live: Option<&str>, setting: &Setting<'_>) -> Html {
    let debate = story.debate();
    let times = story.times(cue);
    let Some(taken) = debate.turn(cue) else { return pending(debate, cue, times, live, setting) };
    let (seq, at) = times.taken.unwrap_or((times.touched, times.asked));
    let sealed = debate.is_sealed(cue);
    let (inner, lang, envelope) = match taken {
        Ok(_) if sealed => {
            (html!("<p class=\"sealed\">{}</p>", record::SEALED.trim()), Html::new(), None)
        }
        Ok(reply) => {
            let lang = lang(&reply.body.to_text());
            (said(debate, cue, reply, setting), lang, Some(&reply.envelope))
        }
        Err(failure) => (lost(failure), Html::new(), Some(&failure.envelope)),
    };
    let refused =
        debate.rejected_reply(cue).filter(|_| !sealed).map_or_else(Html::new, |attempt| {
            html!(
                "<p class=\"refused\">A first answer was not taken: {}</p>",
                bounded(&one_line(&attempt.why), 1_000)
            )
        });
    html!(
        "<article id=\"{}\" data-seq=\"{}\" data-at=\"{}\" data-side=\"{}\"{}>{}{}{}</article>",
        setting.id(cue),
        seq,
        at,
        side_of(debate, cue),
        lang,
        head(debate, cue, Some(at), envelope, setting),
        refused,
        inner
    )
}

/// Renders a pending turn, with an element for the streamed text.
fn pending(
    debate: &Debate,
    cue: Cue,
    times: Times,
    live: Option<&str>,
    setting: &Setting<'_>,
) -> Html {
    let sealed = debate.is_sealed(cue);
    let waits = if sealed {
        "Answering, sealed until all have answered."
    } else if debate.seat(cue).voice.is_awaited() {
        "Awaited."
    } else {
        "Speaking."
    };
    html!(
        "<article id=\"{}\" data-seq=\"{}\" data-at=\"{}\" data-side=\"{}\" data-pending=\"true\">\
         {}<p class=\"waits\">{}</p><div class=\"live\" aria-live=\"off\">{}</div></article>",
        setting.id(cue),
        times.touched,
        times.asked,
        side_of(debate, cue),
        head(debate, cue, None, None, setting),
        waits,
        live.filter(|_| !sealed).unwrap_or_default()
    )
}

/// Value of `data-side`: `pro`, `con` or `other`.
fn side_of(debate: &Debate, cue: Cue) -> &'static str {
    match debate.seat(cue).role.side() {
        Some(Side::Pro) => "pro",
        Some(Side::Con) => "con",
        None => "other",
    }
}

/// The attribute ` lang="zh"` for Chinese text, otherwise empty.
pub(super) fn lang(text: &str) -> Html {
    let begin: String = text.chars().take(4_000).collect();
    if language::detect(&begin) == Language::Chinese { html!(" lang=\"zh\"") } else { Html::new() }
}

fn head(
    debate: &Debate,
    cue: Cue,
    at: Option<i64>,
    envelope: Option<&Envelope>,
    setting: &Setting<'_>,
) -> Html {
    let seat = debate.seats_at(cue).get(usize::from(cue.seat));
    let bot = seat.is_some_and(|seat| seat.voice == Participant::Bot);
    let voice = envelope
        .filter(|_| !bot)
        .and_then(voice)
        .unwrap_or_else(|| seat.map_or_else(String::new, Seat::participant_name));
    let mut about = Html::new();
    if let Some(at) = at {
        about.add(&time(at));
    }
    if let Some(envelope) = envelope {
        about.add(&spent(envelope));
    }
    if at.is_some() && setting.links.is_some() {
        about.add(&html!(
            " <a class=\"here\" href=\"#{}\" aria-label=\"Link to {}\">#</a>",
            setting.id(cue),
            turn_name(debate, cue)
        ));
    }
    html!(
        "<header><h3>{} · {} <span class=\"voice\">{}</span></h3><p class=\"about\">{}</p></header>",
        capital(&when(debate, cue)),
        bounded(&one_line(&title(debate, cue)), NAME),
        bounded(&one_line(&voice), NAME),
        about
    )
}

/// For example `claude:opus`, from the envelope of the turn.
fn voice(envelope: &Envelope) -> Option<String> {
    let tool = Some(envelope.tool.as_str()).filter(|tool| !tool.is_empty())?;
    let model = envelope.model_reported.as_ref().or(envelope.model_asked.as_ref());
    Some(model.map_or_else(|| tool.to_owned(), |model| format!("{tool}:{model}")))
}

fn spent(envelope: &Envelope) -> Html {
    let mut parts = vec![];
    if envelope.duration_ms > 0 {
        parts.push(format!("{:.1} s", envelope.duration_ms as f64 / 1000.0));
    }
    let tokens = envelope.spend().tokens;
    if tokens > 0 {
        parts.push(format!("{tokens} tokens"));
    }
    if parts.is_empty() {
        return Html::new();
    }
    html!(" <span class=\"spent\">{}</span>", parts.join(", "))
}

/// Renders a timestamp as a `time` element, in UTC.
pub(super) fn time(at: i64) -> Html {
    let iso = iso(at);
    let read = iso.get(..19).unwrap_or(&iso).replace('T', " ");
    html!("<time datetime=\"{}\">{} UTC</time>", iso, read)
}

fn said(debate: &Debate, cue: Cue, reply: &Reply, setting: &Setting<'_>) -> Html {
    let mut all = Html::new();
    let written = paper(debate, cue, &reply.body);
    let text = written.unwrap_or_else(|| unmask(debate, cue, &reply.body.to_text()));
    all.add(&html!("<div class=\"speech\">{}</div>", markdown(&text, 3)));
    if let Body::Verdict(ruling) = &reply.body {
        all.add(&ruled(debate, cue, ruling));
    }
    all.add(&claims(reply, &setting.id(cue), setting));
    if let Some(help) = reply.body.help_request() {
        all.add(&html!(
            "<p class=\"help\">Calls {} for help: {}</p>",
            bounded(&one_line(&help.from), NAME),
            bounded(&one_line(&help.because), 1_000)
        ));
    }
    for fault in reply.findings.iter().filter(|found| found.weight == RuleWeight::Foul) {
        all.add(&html!(
            "<p class=\"fault\">Checked: {}</p>",
            bounded(&one_line(&fault.says), 1_000)
        ));
    }
    all
}

/// Renders the marks of both sides for each criterion of the rubric.
fn by_criterion(rubric: &RubricMarks, pro: &str, con: &str) -> Html {
    let rows = RubricMarks::CRITERIA.iter().map(|(name, of)| {
        let given = |marks: &BTreeMap<String, u8>| marks.get(*name).copied().unwrap_or(0);
        html!(
            "<li>{}: {} {}, {} {}, of {}</li>",
            name.replace('_', " "),
            bounded(pro, 40),
            given(&rubric.pro),
            bounded(con, 40),
            given(&rubric.con),
            *of
        )
    });
    let rows: Html = rows.collect();
    html!(
        "<details class=\"checks\"><summary>Marks by criterion</summary><ul>{}</ul></details>",
        rows
    )
}

/// Renders scores, rubric, recommendation and claim checks of a ruling.
fn ruled(debate: &Debate, cue: Cue, ruling: &JudgeRuling) -> Html {
    let mut all = Html::new();
    let (pro, con) = (status::side_name(debate, Side::Pro), status::side_name(debate, Side::Con));
    if let Some(scores) = ruling.scores {
        all.add(&html!(
            "<p class=\"scores\">{} {}, {} {}, {}% sure</p>",
            pro,
            scores.pro,
            con,
            scores.con,
            ruling.confidence
        ));
    }
    if let Some(rubric) = &ruling.rubric {
        all.add(&by_criterion(rubric, &pro, &con));
    }
    if !ruling.recommendation.trim().is_empty() {
        let text = unmask(debate, cue, &ruling.recommendation);
        all.add(&html!(
            "<section class=\"recommends\"><h4>Recommends</h4>{}</section>",
            markdown(&text, 4)
        ));
    }
    if !ruling.checks.is_empty() {
        let rows: Html = ruling.checks.iter().map(|check| checked(debate, check)).collect();
        all.add(&html!(
            "<details class=\"checks\"><summary>Asked about single claims</summary><ul>{}</ul>\
             </details>",
            rows
        ));
    }
    all
}

fn checked(debate: &Debate, check: &ClaimCheck) -> Html {
    let word = |so: bool, yes: &'static str, no: &'static str| if so { yes } else { no };
    html!(
        "<li>{} <code>{}</code>: {}, {}, {}</li>",
        status::side_name(debate, check.side),
        bounded(&one_line(&check.claim), NAME),
        word(check.answered, "answered", "not answered"),
        word(check.supported, "supported", "not supported"),
        word(check.conceded, "conceded", "not conceded")
    )
}

fn lost(failure: &TurnFailure) -> Html {
    html!(
        "<p class=\"lost\">This turn was lost ({}): {}</p>",
        failure.trouble.as_str(),
        bounded(&one_line(&failure.note), 1_000)
    )
}

/// Capitalizes the first letter.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
