//! Generator of random formats from a seed. The engine must handle any valid table of acts and
//! phases, not only the built-in formats.
use super::debate_fixture::{Rng, SEATS};
use debate_mcp::debate::{
    Act, Format, Phase, Quorum, ReplyKind, Role, Rounds, Shortfall, Speakers, SpeakingOrder,
    TranscriptScope,
};

pub(crate) fn random_format(seed: u64) -> Format {
    let mut rng = Rng(seed);
    let count = 1 + rng.below(4);
    let acts = (0..count).map(|nth| random_act(&mut rng, nth)).collect();
    Format { name: format!("any {seed}"), acts }
}

fn random_act(rng: &mut Rng, nth: usize) -> Act {
    let rounds =
        [Rounds::Once, Rounds::Through(2), Rounds::Leaving(1), Rounds::Leaving(0), Rounds::Open];
    let phases = (0..=rng.below(4)).map(|_| random_phase(rng)).collect();
    Act { name: format!("act {nth}"), rounds: rng.pick(&rounds), phases }
}

fn random_phase(rng: &mut Rng) -> Phase {
    let role = |rng: &mut Rng| -> Role { rng.pick(SEATS).1 };
    let speakers = match rng.below(8) {
        0 | 1 => Speakers::Admitted,
        2 => Speakers::Silent(Role::Audience),
        3 => Speakers::Prompted(role(rng)),
        _ => Speakers::Seated(vec![role(rng), role(rng)]),
    };
    let kinds = [
        ReplyKind::Speech,
        ReplyKind::Speech,
        ReplyKind::Score,
        ReplyKind::Petition,
        ReplyKind::Ruling,
        ReplyKind::Vote,
        ReplyKind::Audit,
        ReplyKind::Verdict,
        ReplyKind::Sections,
    ];
    let scopes = [
        TranscriptScope::Nothing,
        TranscriptScope::Speeches,
        TranscriptScope::OlderRounds,
        TranscriptScope::Digest,
        TranscriptScope::Everything,
    ];
    let shortfalls = [
        Shortfall::Abort,
        Shortfall::Uncontested,
        Shortfall::Conclude,
        Shortfall::GoOn,
        Shortfall::Forfeit,
        Shortfall::Lapse,
    ];
    let reply = rng.pick(&kinds);
    Phase {
        name: format!("{reply:?}"),
        speakers,
        order: rng.pick(&[SpeakingOrder::InTurn, SpeakingOrder::AtOnce]),
        hears: rng.pick(&scopes),
        reply,
        quorum: rng.pick(&[Quorum::One, Quorum::All]),
        short: rng.pick(&shortfalls),
        rules: vec![],
        web: false,
    }
}
