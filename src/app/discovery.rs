//! Read-only queries before a debate: list models, find a default judge, parse a typed topic,
//! suggest topics and estimate the cost. The estimate itself is computed by `debate::estimate`.
use super::draft::DebateDraft;
use super::probe::ProbeResult;
use super::topic_options::{self, TopicOptions};
use super::topic_suggestions::{ChangeOrigin, suggest_topics};
use crate::app::{App, AppError};
use crate::debate::Participant;
use crate::debate::estimate::estimate_usage;
use crate::engine::format_catalog::{CatalogEntry, FormatSource};
use crate::engine::ports::{BriefReaders, BriefRequest, ProviderInfo};
use futures_util::future::join_all;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Estimated cost of a debate.
#[derive(Clone, Debug)]
pub struct CostEstimate {
    /// One line for users.
    pub summary: String,
    /// Warning if the cost limit cannot be enforced because a price is unknown.
    pub budget_warning: Option<String>,
    pub usage: UsageEstimate,
}

/// Estimated number of calls, tokens and cost. Estimates can be added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageEstimate {
    /// Number of requests to models.
    pub calls: u64,
    /// Input tokens.
    pub tokens_in: u64,
    /// Output tokens.
    pub tokens_out: u64,
    /// In millionths of the currency. Only participants with a known price are included.
    pub cost: u64,
    /// Participants without a known price.
    pub unpriced: BTreeSet<String>,
}

impl UsageEstimate {
    /// Adds another estimate.
    pub fn add(&mut self, other: &UsageEstimate) {
        self.calls += other.calls;
        self.tokens_in += other.tokens_in;
        self.tokens_out += other.tokens_out;
        self.cost += other.cost;
        self.unpriced.extend(other.unpriced.iter().cloned());
    }

    /// One line for users.
    pub fn summary(&self) -> String {
        let money = if self.unpriced.is_empty() {
            format!("cost about {:.2}", self.cost as f64 / 1e6)
        } else {
            let names: Vec<&str> = self.unpriced.iter().map(String::as_str).collect();
            format!("cost unknown (no price for {})", names.join(", "))
        };
        format!(
            "about {} calls, {}k tokens read and {}k written; {money}",
            self.calls,
            self.tokens_in.div_ceil(1000),
            self.tokens_out.div_ceil(1000)
        )
    }
}

impl App {
    /// Lists every provider with its status and version. With `probe`, each model also gets a small
    /// test request, all concurrently.
    pub async fn list_providers(&self, probe: bool) -> Result<Vec<ProviderInfo>, AppError> {
        self.check_config()?;
        let mut listed = self.providers.list_providers();
        let versions = listed.iter().map(|it| async {
            if it.playable && it.model { self.providers.version(&it.seat).await } else { None }
        });
        for (index, version) in join_all(versions).await.into_iter().enumerate() {
            listed[index].version = version;
        }
        if probe {
            let usable = listed.iter().filter(|it| it.playable && it.model);
            let participants = usable.filter_map(|it| it.seat.parse().ok()).collect();
            for ProbeResult { participant, result } in self.probe(participants, Duration::MAX).await
            {
                let status = match result {
                    Ok(_) => "answers".to_owned(),
                    Err(failure) => format!("{}: {}", failure.trouble.as_str(), failure.note),
                };
                let info = listed.iter_mut().find(|it| it.seat == participant.to_string());
                if let Some(info) = info {
                    info.probe = Some(status);
                }
            }
        }
        Ok(listed)
    }

    /// A default judge: the first available one of the configured preferences, then of the list of
    /// providers.
    pub fn default_judge(&self, preferred: &[String]) -> Result<Option<Participant>, AppError> {
        self.check_config()?;
        let listed = self.providers.list_providers();
        let preferred_judges = preferred.iter().filter_map(|seat| seat.parse::<Participant>().ok());
        let preferred_judges = preferred_judges
            .filter(|participant| self.providers.check_available(participant).is_ok());
        let available = listed.iter().filter(|it| it.playable && it.model);
        let available = available.filter_map(|it| it.seat.parse::<Participant>().ok());
        Ok(preferred_judges.chain(available).next())
    }

    /// Validates the user's configuration of providers.
    pub fn check_config(&self) -> Result<(), AppError> {
        self.providers.check_config().map_err(AppError::InvalidConfig)
    }

    /// Parses what the user typed into a topic and options.
    pub fn parse_topic_options(&self, input: &str) -> TopicOptions {
        let is_seat = |word: &str| match word.to_lowercase().parse::<Participant>() {
            Ok(parsed @ Participant::Model { .. }) => self.providers.is_model(&parsed),
            parsed => matches!(parsed, Ok(Participant::Host | Participant::Human)),
        };
        let is_format = |word: &str| {
            let is_builtin =
                |it: &&CatalogEntry| it.name() == word && it.source == FormatSource::Builtin;
            self.catalog.entries.iter().any(|it| is_builtin(&it))
        };
        topic_options::parse(input, is_seat, is_format)
    }

    /// Suggests topics about the changes in a repository.
    pub fn suggest_topics(&self, root: &Path) -> Vec<String> {
        let pinned = self.briefs.pin_files(root).ok().flatten();
        let changes = |selection: &str| {
            let (topic, readers) = ("", BriefReaders::ReadFiles);
            let (pinned, change) = (pinned.as_ref(), None);
            let request = BriefRequest { root, pinned, topic, selection, readers, change };
            self.briefs.gather(&request).map(|gathered| gathered.changed_files).unwrap_or_default()
        };
        let uncommitted = changes("diff");
        if !uncommitted.is_empty() {
            return suggest_topics(&uncommitted, ChangeOrigin::WorkingTree);
        }
        suggest_topics(&changes("diff=HEAD"), ChangeOrigin::LastCommit)
    }

    /// Names of the environment variables that hold an API key of a known provider.
    pub fn api_key_variables(&self) -> Vec<String> {
        self.providers.api_key_variables()
    }

    /// Estimates the cost of a draft. `None` if no model is called.
    pub(super) fn estimate_cost(
        &self,
        draft: &DebateDraft,
    ) -> Result<Option<CostEstimate>, AppError> {
        let setup = draft.build_setup(&self.catalog, String::new(), String::new(), 0)?;
        let (mut usage, mut unreported) = (UsageEstimate::default(), BTreeSet::new());
        for estimate in estimate_usage(&setup) {
            let participant = &setup.seats[usize::from(estimate.seat)].voice;
            if !self.providers.is_model(participant) {
                continue;
            }
            usage.calls += u64::from(estimate.calls);
            usage.tokens_in += estimate.tokens_in;
            usage.tokens_out += estimate.tokens_out;
            if let Some(price) = self.providers.price(participant, None) {
                usage.cost += price.cost(estimate.tokens_in, estimate.tokens_out);
                continue;
            }
            usage.unpriced.insert(participant.to_string());
            if !self.providers.reports_cost(participant) {
                unreported.insert(participant.to_string());
            }
        }
        if usage.calls == 0 {
            return Ok(None);
        }
        let budget_warning = draft.spec.budget.cost.filter(|_| !unreported.is_empty()).map(|_| {
            let names = unreported.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!(
                "the limit of cost cannot be kept: nobody knows what {names} costs (write its \
                 price down)"
            )
        });
        Ok(Some(CostEstimate { summary: usage.summary(), budget_warning, usage }))
    }
}
