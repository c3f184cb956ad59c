//! Value enums of `--effort` and `--status`, and their conversion to the domain types.
use crate::debate::{Effort, Status};
use clap::ValueEnum;

/// Values of `--effort`.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[expect(missing_docs, reason = "documented in `debate`")]
pub enum EffortArg {
    Low,
    Medium,
    High,
    Max,
}

impl From<EffortArg> for Effort {
    fn from(arg: EffortArg) -> Effort {
        match arg {
            EffortArg::Low => Effort::Low,
            EffortArg::Medium => Effort::Medium,
            EffortArg::High => Effort::High,
            EffortArg::Max => Effort::Max,
        }
    }
}

/// Values of `--status`.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[expect(missing_docs, reason = "documented in `debate`")]
pub enum StatusArg {
    InProgress,
    Paused,
    Completed,
    Degraded,
    Aborted,
    Failed,
    Cancelled,
}

impl From<StatusArg> for Status {
    fn from(arg: StatusArg) -> Status {
        match arg {
            StatusArg::InProgress => Status::InProgress,
            StatusArg::Paused => Status::Paused,
            StatusArg::Completed => Status::Completed,
            StatusArg::Degraded => Status::Degraded,
            StatusArg::Aborted => Status::Aborted,
            StatusArg::Failed => Status::Failed,
            StatusArg::Cancelled => Status::Cancelled,
        }
    }
}
