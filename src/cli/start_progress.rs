//! Shows the stages of a start while it runs.
use crate::app::StartStage;
use tokio::sync::mpsc::UnboundedReceiver;

/// Awaits a start and passes each of its stages to `show` as it is reported.
pub(super) async fn print_stages<T>(
    start: impl Future<Output = T>,
    mut stages: UnboundedReceiver<StartStage>,
    mut show: impl FnMut(StartStage),
) -> T {
    let mut start = std::pin::pin!(start);
    let result = loop {
        tokio::select! {
            biased;
            Some(stage) = stages.recv() => show(stage),
            result = &mut start => break result,
        }
    };
    while let Ok(stage) = stages.try_recv() {
        show(stage);
    }
    result
}
