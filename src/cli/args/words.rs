//! Value enums of `--effort` and `--status`, and their conversion to the domain types.
use crate::debate::{Effort, Status};
use clap::ValueEnum;

/// Values of `--effort`.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[expect(missing_docs, reason = "as in the core")]
pub enum EffortWord {
    Low,
    Medium,
    High,
    Max,
}

impl From<EffortWord> for Effort {
    fn from(word: EffortWord) -> Effort {
        match word {
            EffortWord::Low => Effort::Low,
            EffortWord::Medium => Effort::Medium,
            EffortWord::High => Effort::High,
            EffortWord::Max => Effort::Max,
        }
    }
}

/// Values of `--status`.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[expect(missing_docs, reason = "as in the core")]
pub enum StatusWord {
    InProgress,
    Paused,
    Completed,
    Degraded,
    Aborted,
    Failed,
    Cancelled,
}

impl From<StatusWord> for Status {
    fn from(word: StatusWord) -> Status {
        match word {
            StatusWord::InProgress => Status::InProgress,
            StatusWord::Paused => Status::Paused,
            StatusWord::Completed => Status::Completed,
            StatusWord::Degraded => Status::Degraded,
            StatusWord::Aborted => Status::Aborted,
            StatusWord::Failed => Status::Failed,
            StatusWord::Cancelled => Status::Cancelled,
        }
    }
}
