//! Tests of the arena service, on tokio's paused clock.
use super::*;
use crate::arena::room_state::{ArenaSpeech, DebateProgress};
use crate::debate::Side;
use tokio::time::{Instant, sleep};

const CUE: Cue = Cue { act: 0, round: 1, phase: 0, seat: 0 };

fn state_with(speeches: Vec<ArenaSpeech>) -> Arc<RoomState> {
    let room = Room {
        id: "abc".into(),
        topic: "Tabs or spaces?".into(),
        rounds: 1,
        created_at: 0,
        guests: vec![],
        supporting: None,
        debate: None,
        rematch: None,
        first_leg: None,
        closed: None,
    };
    let progress = DebateProgress {
        last_seq: 1,
        opened_at: 0,
        round: 1,
        next_turn: None,
        budget_exhausted: false,
        take: 0,
        min_chars: 50,
        max_chars: 2_000,
        timeout_seconds: 120,
        speeches,
        forfeits: vec![],
        result: None,
    };
    Arc::new(RoomState { room, progress: Some(progress) })
}

#[tokio::test(start_paused = true)]
async fn event_of_a_speech_is_awaited_for_5_seconds() {
    let (sender, mut states) = watch::channel(state_with(vec![]));
    let started = Instant::now();
    assert!(!wait_until_processed(&mut states, CUE).await);
    assert_eq!((SPEECH_EVENT_TIMEOUT.as_secs(), started.elapsed().as_secs()), (5, 5));
    let content = "words".to_owned();
    let speech =
        ArenaSpeech { cue: CUE, speaker: "a".into(), side: Side::Pro, spoken_at: 0, content };
    let publish = async {
        sleep(SPEECH_EVENT_TIMEOUT.checked_sub(Duration::from_millis(1)).unwrap()).await;
        sender.send_replace(state_with(vec![speech]));
    };
    let (is_processed, ()) = tokio::join!(wait_until_processed(&mut states, CUE), publish);
    assert!(is_processed);
}
