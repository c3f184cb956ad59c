//! Handlers of the read-only tools: `summarize`, `list_debates`, `show_debate`, `list_models`. They
//! are methods of `McpServer`, called by its `dispatch_tool`. `resources` shares `render_part`.
use super::args::{ListDebatesArgs, ListModelsArgs, ShowDebateArgs, SummarizeArgs};
use super::error::{ToolError, format_call};
use super::mcp_server::McpServer;
use super::results::{
    DebateList, DebateListItem, DebatePage, DebateSummary, ModelList, ModelListItem,
};
use super::resume::ResolvedDebate;
use super::status::remote_holder_note;
use super::summary::build_summary;
use super::token_limits::{self, first_words};
use super::turn_id::parse_turn_id;
use super::validate;
use crate::app::list::{FoundDebate, ListRequest, Listed};
use crate::debate::{Cue, Debate, Reply, Status, Step, next, prompt};
use crate::engine::{DebateCard, DebateQuery, ProviderInfo, Workspace};
use crate::report::sanitize::{one_line, strip_control_chars};
use crate::report::structured_reply::SEALED_PLACEHOLDER;
use crate::report::{
    iso_timestamp, ledger::render_ledger, plan::render_plan, record::render_record,
    research::research_report, summary::render_summary,
};
use crate::review::{output, review_from_debate};
use std::fmt::Write;
use std::path::PathBuf;

/// Limit of `list_debates`.
const MAX_LISTED_DEBATES: usize = 12;
/// Words of a topic in `list_debates`.
const MAX_TOPIC_WORDS: usize = 25;
/// Words of the two sides in `list_debates`.
const MAX_SIDES_WORDS: usize = 20;
/// Words of a search excerpt in `list_debates`.
const MAX_EXCERPT_WORDS: usize = 20;

impl McpServer {
    pub(super) async fn summarize(
        &self,
        args: &SummarizeArgs,
        workspace: &Workspace,
    ) -> Result<DebateSummary, ToolError> {
        let ResolvedDebate { id, mut notes } =
            self.resolve_debate(args.debate_id.as_deref(), workspace).await?;
        let (stored, debate, _) = self.registry.app.read(&id).await?;
        let runs_here = self.registry.find_run(&id).is_some();
        let remote_holder = stored.holder.as_ref().filter(|_| !runs_here);
        notes.extend(remote_holder.map(|holder| remote_holder_note(&id, holder)));
        notes.extend(self.changed_files_note(&stored, &debate, workspace).await);
        Ok(build_summary(&stored, &debate, runs_here || stored.holder.is_some(), &notes))
    }

    pub(super) async fn list_debates(
        &self,
        args: &ListDebatesArgs,
        workspace: &Workspace,
    ) -> Result<DebateList, ToolError> {
        let query_text =
            validate::validate_line("query", args.query.as_deref())?.unwrap_or_default();
        let (scopes, terms): (Vec<&str>, Vec<&str>) =
            query_text.split_whitespace().partition(|word| word.starts_with("in:"));
        let root = match scopes.last().and_then(|scope| scope.strip_prefix("in:")) {
            Some("all") => None,
            Some(path) => Some(self.resolve_root(path)),
            None => Some(workspace.root.clone()),
        };
        let (status, unfinished) = parse_status_filter(args.status.as_deref())?;
        let query = DebateQuery { root, status, unfinished, ..DebateQuery::default() };
        let request = ListRequest {
            query,
            words: terms.join(" "),
            state_files: crate::clients::state_file_paths(&self.config),
        };
        let Listed { debates, recovery } = self.registry.app.list(&request, workspace).await?;
        let item = |it: &FoundDebate| list_item(&it.card, it.excerpt.as_deref());
        let mut debates: Vec<DebateListItem> = debates.iter().map(item).collect();
        let omitted = debates.len().saturating_sub(MAX_LISTED_DEBATES);
        debates.truncate(MAX_LISTED_DEBATES);
        let mut steps = self.describe_recovery(recovery);
        if omitted > 0 {
            steps.push(format!("{omitted} more: narrow it down by words or status"));
        }
        steps.push("continue_round {\"debate_id\":\"...\"} goes on with one".into());
        steps.push("show_debate {\"debate_id\":\"...\"} reads it".into());
        let next = steps.join("; ");
        Ok(DebateList { debates, next })
    }

    fn resolve_root(&self, path: &str) -> PathBuf {
        let path = self.config.current_dir.join(path);
        dunce::canonicalize(&path).unwrap_or(path)
    }

    pub(super) async fn show_debate(
        &self,
        args: &ShowDebateArgs,
        workspace: &Workspace,
    ) -> Result<DebatePage, ToolError> {
        let ResolvedDebate { id, notes } =
            self.resolve_debate(args.debate_id.as_deref(), workspace).await?;
        let part = validate::validate_line("part", args.part.as_deref())?.unwrap_or("transcript");
        let text = match part {
            "recheck" => self.recheck_citations(&id, workspace).await?,
            part => self.render_part(&id, part).await?,
        };
        let pages = token_limits::paginate(&text);
        let page = usize::try_from(args.page.unwrap_or(1)).unwrap_or(usize::MAX);
        let text = page.checked_sub(1).and_then(|index| pages.get(index)).cloned();
        let (part, pages) = (part.to_owned(), pages.len());
        let Some(text) = text else { return Err(ToolError::PageOutOfRange { part, page, pages }) };
        let next = if page < pages {
            let arguments = format!("\"part\":\"{part}\",\"page\":{}", page + 1);
            format!("{} has the next page", format_call("show_debate", &id, &arguments))
        } else {
            format!("{} says what is due", format_call("summarize", &id, ""))
        };
        let next = notes.into_iter().chain([next]).collect::<Vec<_>>().join("; ");
        Ok(DebatePage { debate_id: id, part, page, pages, text, next })
    }

    /// Renders a part of a debate as text.
    pub(super) async fn render_part(&self, id: &str, part: &str) -> Result<String, ToolError> {
        let (_, debate, _) = self.registry.app.read(id).await?;
        let text = match part {
            "transcript" => render_record(&debate),
            "summary" => render_summary(&debate),
            "report" => research_report(&debate).unwrap_or_else(|| render_summary(&debate)),
            "findings" => match review_from_debate(&debate, usize::MAX) {
                Some(review) => output::render_summary(&review, output::MAX_STEP_SUMMARY_BYTES),
                None => render_ledger(&debate),
            },
            "claims" | "ledger" => render_ledger(&debate),
            "envelopes" => render_envelopes(&debate),
            "plan" => render_plan(&debate),
            "brief" => {
                let due = match next(&debate) {
                    Step::Speak { driven, awaited } if driven.is_empty() => {
                        awaited.first().copied()
                    }
                    _ => None,
                };
                let due = due.ok_or_else(|| ToolError::NoBrief(id.into()))?;
                prompt::render(&debate, due).text
            }
            turn => {
                let (_, cue) = parse_turn_id(turn)
                    .ok_or_else(|| ToolError::UnknownPart { part: turn.to_owned() })?;
                if !debate.has_cue(cue) {
                    return Err(ToolError::UnknownTurn(turn.into(), id.into()));
                }
                render_turn(&debate, cue)
            }
        };
        Ok(strip_control_chars(&text))
    }

    pub(super) async fn list_models(&self, args: &ListModelsArgs) -> Result<ModelList, ToolError> {
        let providers = self.registry.app.list_providers(args.probe).await?.into_iter();
        let models = providers.map(|provider| ModelListItem {
            note: model_note(&provider),
            seat: provider.seat,
            playable: provider.playable,
        });
        let models: Vec<ModelListItem> = models.collect();
        let next = seating_question(&models);
        Ok(ModelList { models, next })
    }
}

/// Participants with names of this length or longer are not offered as choices.
const MAX_LABEL_CHARS: usize = 30;

/// Suggests one question to the user about all missing arguments, with the available models.
fn seating_question(models: &[ModelListItem]) -> String {
    let is_offered = |it: &&ModelListItem| it.playable && it.seat.chars().count() < MAX_LABEL_CHARS;
    let is_model = |it: &&ModelListItem| !["demo", "script:FILE"].contains(&it.seat.as_str());
    let seats = models.iter().filter(is_offered).filter(is_model).map(|it| it.seat.as_str());
    format!(
        "if something is missing, ask the user once for all of it: proposer, challenger and judge ({}), \
         effort (low, medium, high, max), rounds, context (auto, diff, none, or paths); then \
         start_debate {{\"topic\":\"...\",\"proposer\":\"...\",\"challenger\":\"...\"}}",
        seats.collect::<Vec<_>>().join(", ")
    )
}

/// All details of one participant on a line.
fn model_note(provider: &ProviderInfo) -> String {
    let version = provider.version.as_ref().map(|version| format!("version {version}"));
    let efforts =
        (!provider.efforts.is_empty()).then(|| format!("effort {}", provider.efforts.join("/")));
    let models =
        (!provider.models.is_empty()).then(|| format!("models {}", provider.models.join(", ")));
    let probe = provider.probe.as_ref().map(|probe| format!("asked: {probe}"));
    let details = [version, provider.login.clone(), models, efforts, provider.price.clone(), probe];
    let details = details.into_iter().flatten().filter(|_| provider.playable);
    [provider.note.clone()].into_iter().chain(details).collect::<Vec<_>>().join("; ")
}

fn parse_status_filter(value: Option<&str>) -> Result<(Option<Status>, bool), ToolError> {
    let Some(value) = validate::validate_line("status", value)? else { return Ok((None, false)) };
    let known = Status::ALL.into_iter().find(|status| status.as_str() == value.to_lowercase());
    match (known, value) {
        (Some(status), _) => Ok((Some(status), false)),
        (None, "unfinished") => Ok((None, true)),
        (None, _) => Err(ToolError::UnknownValue {
            name: "status".into(),
            said: value.into(),
            allowed: format!("unfinished, {}", Status::ALL.map(Status::as_str).join(", ")),
        }),
    }
}

fn list_item(card: &DebateCard, excerpt: Option<&str>) -> DebateListItem {
    let side = |voice: &Option<String>| voice.clone().unwrap_or_else(|| "nobody".into());
    let sides = format!("{} against {}", side(&card.proposer), side(&card.challenger));
    DebateListItem {
        debate_id: card.id.clone(),
        topic: first_words(&strip_control_chars(&card.topic), MAX_TOPIC_WORDS),
        status: card.status.as_str().into(),
        updated_at: iso_timestamp(card.updated_at),
        sides: first_words(&sides, MAX_SIDES_WORDS),
        winner: card.winner.clone(),
        excerpt: excerpt
            .map(|excerpt| first_words(&strip_control_chars(excerpt), MAX_EXCERPT_WORDS)),
    }
}

/// The envelope of every turn, as JSON: how its reply was produced.
fn render_envelopes(debate: &Debate) -> String {
    let mut text = String::new();
    for (cue, turn) in debate.turns() {
        let envelope = match turn {
            Ok(Reply { envelope, .. }) => envelope,
            Err(failure) => &failure.envelope,
        };
        let json = serde_json::to_string(envelope).unwrap_or_default();
        let prefix = if turn.is_ok() { "" } else { "lost, " };
        let _ = writeln!(text, "- {cue} {} ({prefix}{json})", debate.seat(cue).role.title());
    }
    if text.is_empty() {
        text.push_str("No turn was taken yet.\n");
    }
    text
}

/// The full text of one turn, with its claims, evidence, concessions and checked citations.
fn render_turn(debate: &Debate, cue: Cue) -> String {
    let (role, tool) = (debate.seat(cue).role.title(), debate.tool_at(cue));
    let mut text = format!("{role} ({tool}), round {}\n\n", cue.round);
    match debate.turn(cue) {
        None => text.push_str("This turn was not taken yet.\n"),
        Some(Err(failure)) => {
            let _ = writeln!(text, "[INCOMPLETE] {}: {}", failure.trouble.as_str(), failure.note);
        }
        Some(Ok(_)) if debate.is_sealed(cue) => text.push_str(SEALED_PLACEHOLDER),
        Some(Ok(reply)) => {
            let _ = writeln!(text, "{}", reply.body.to_text().trim());
            for claim in reply.body.claims() {
                let _ = write!(text, "\n- {}: {}", claim.id, one_line(&claim.text));
                for evidence in &claim.evidence {
                    let _ = write!(text, "\n  evidence: {}", one_line(evidence));
                }
            }
            for concession in reply.body.concessions() {
                let _ = write!(
                    text,
                    "\n- concedes {}: \"{}\"",
                    concession.claim,
                    one_line(&concession.quote)
                );
            }
            for resolution in reply.body.resolutions() {
                let _ = write!(text, "\n- certifies {} as resolved", resolution.claim);
            }
            for finding in &reply.findings {
                let _ = write!(text, "\n> Checked: {}", one_line(&finding.says));
            }
            for citation in &reply.citations {
                let _ = write!(
                    text,
                    "\n> Looked up: {} ({})",
                    one_line(&citation.raw),
                    one_line(&citation.describe())
                );
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(count: usize) -> String {
        vec!["a"; count].join(" ")
    }

    /// The list item of a debate whose topic, sides and excerpt have this many words.
    fn item_with(topic_words: usize, side_words: usize, excerpt_words: usize) -> DebateListItem {
        // The second side has one word, and `against` is another.
        let card = DebateCard {
            id: "debate-1".into(),
            topic: words(topic_words),
            format: "duel".into(),
            status: Status::InProgress,
            created_at: 0,
            updated_at: 0,
            root: "/".into(),
            proposer: Some(words(side_words - 2)),
            challenger: Some("b".into()),
            winner: None,
            labels: vec![],
            confidence: None,
            proof: None,
        };
        list_item(&card, Some(&words(excerpt_words)))
    }

    #[test]
    fn listed_texts_are_cut_after_their_limit_of_words() {
        assert_eq!((MAX_TOPIC_WORDS, MAX_SIDES_WORDS, MAX_EXCERPT_WORDS), (25, 20, 20));
        let item = item_with(MAX_TOPIC_WORDS, MAX_SIDES_WORDS, MAX_EXCERPT_WORDS);
        assert_eq!(item.topic, words(25));
        assert_eq!(item.sides, format!("{} against b", words(18)));
        assert_eq!(item.excerpt, Some(words(20)));
        let item = item_with(MAX_TOPIC_WORDS + 1, MAX_SIDES_WORDS + 1, MAX_EXCERPT_WORDS + 1);
        assert_eq!(item.topic, format!("{} …", words(25)));
        assert_eq!(item.sides, format!("{} against …", words(19)));
        assert_eq!(item.excerpt, Some(format!("{} …", words(20))));
    }
}
