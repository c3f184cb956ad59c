//! Read-only queries before a debate: list models, find a default judge, parse a typed topic,
//! suggest topics and estimate the cost. The estimate itself is computed by `debate::estimate`.
use super::app::{App, AppError};
use super::draft::DebateDraft;
use super::format_catalog::{CatalogEntry, FormatSource};
use super::ports::{BriefReaders, BriefRequest, ProviderInfo};
use super::preflight::ProbeResult;
use super::topic_options::{self, TopicOptions};
use super::topic_suggestions::{ChangeOrigin, suggest_topics};
use crate::debate::Participant;
use crate::debate::estimate::estimate_usage;
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
            let who: Vec<&str> = self.unpriced.iter().map(String::as_str).collect();
            format!("cost unknown (no price for {})", who.join(", "))
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
        for (it, version) in join_all(versions).await.into_iter().enumerate() {
            listed[it].version = version;
        }
        if probe {
            let able = listed.iter().filter(|it| it.playable && it.model);
            let asked = able.filter_map(|it| it.seat.parse().ok()).collect();
            for ProbeResult { participant: voice, result: came } in
                self.probe(asked, Duration::MAX).await
            {
                let said = match came {
                    Ok(_) => "answers".to_owned(),
                    Err(failure) => format!("{}: {}", failure.trouble.as_str(), failure.note),
                };
                let asked = listed.iter_mut().find(|it| it.seat == voice.to_string());
                if let Some(it) = asked {
                    it.probe = Some(said);
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
        let rather = preferred.iter().filter_map(|seat| seat.parse::<Participant>().ok());
        let rather = rather.filter(|voice| self.providers.check_available(voice).is_ok());
        let able = listed.iter().filter(|it| it.playable && it.model);
        let able = able.filter_map(|it| it.seat.parse::<Participant>().ok());
        Ok(rather.chain(able).next())
    }

    /// Validates the user's configuration of providers.
    pub fn check_config(&self) -> Result<(), AppError> {
        self.providers.check_config().map_err(AppError::InvalidConfig)
    }

    /// Parses what the user typed into a topic and options.
    pub fn parse_topic_options(&self, typed: &str) -> TopicOptions {
        let seat = |word: &str| match word.to_lowercase().parse::<Participant>() {
            Ok(voice @ Participant::Model { .. }) => self.providers.is_model(&voice),
            voice => matches!(voice, Ok(Participant::Host | Participant::Human)),
        };
        let format = |word: &str| {
            let own = |it: &&CatalogEntry| it.name() == word && it.source == FormatSource::Builtin;
            self.catalog.entries.iter().any(|it| own(&it))
        };
        topic_options::parse(typed, seat, format)
    }

    /// Suggests topics about the changes in a repository.
    pub fn suggest_topics(&self, root: &Path) -> Vec<String> {
        let pinned = self.briefs.pin_files(root).ok().flatten();
        let changed = |wanted: &str| {
            let (topic, readers) = ("", BriefReaders::ReadFiles);
            let (pinned, change) = (pinned.as_ref(), None);
            let context = BriefRequest { root, pinned, topic, selection: wanted, readers, change };
            self.briefs.gather(&context).map(|gathered| gathered.changed_files).unwrap_or_default()
        };
        let now = changed("diff");
        if !now.is_empty() {
            return suggest_topics(&now, ChangeOrigin::WorkingTree);
        }
        suggest_topics(&changed("diff=HEAD"), ChangeOrigin::LastCommit)
    }

    /// Names of the environment variables that hold an API key of a known provider.
    pub fn api_key_variables(&self) -> Vec<String> {
        self.providers.api_key_variables()
    }

    /// Estimates the cost of a draft. `None` if no model is called.
    pub fn estimate_cost(&self, opening: &DebateDraft) -> Result<Option<CostEstimate>, AppError> {
        let setup = opening.build_setup(&self.catalog, String::new(), String::new(), 0)?;
        let (mut figures, mut untold) = (UsageEstimate::default(), BTreeSet::new());
        for one in estimate_usage(&setup) {
            let voice = &setup.seats[usize::from(one.seat)].voice;
            if !self.providers.is_model(voice) {
                continue;
            }
            figures.calls += u64::from(one.calls);
            figures.tokens_in += one.tokens_in;
            figures.tokens_out += one.tokens_out;
            if let Some(price) = self.providers.price(voice, None) {
                figures.cost += price.cost(one.tokens_in, one.tokens_out);
                continue;
            }
            figures.unpriced.insert(voice.to_string());
            if !self.providers.reports_cost(voice) {
                untold.insert(voice.to_string());
            }
        }
        if figures.calls == 0 {
            return Ok(None);
        }
        let unkept = opening.budget.cost.filter(|_| !untold.is_empty()).map(|_| {
            let who = untold.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("the limit of cost cannot be kept: nobody knows what {who} costs (write its price down)")
        });
        Ok(Some(CostEstimate {
            summary: figures.summary(),
            budget_warning: unkept,
            usage: figures,
        }))
    }
}
