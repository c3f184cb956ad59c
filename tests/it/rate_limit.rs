//! The token-bucket rate limiter.
use debate_mcp::web::rate_limit;

#[test]
fn token_bucket_refills_at_the_steady_rate() {
    let limit = rate_limit::RateLimit { per_second: 20.0, burst: 40.0 };
    let mut bucket = rate_limit::TokenBucket::full(limit, 0.0);
    for _ in 0..40 {
        assert_eq!(bucket.try_take(limit, 0.0), Ok(()));
    }
    assert_eq!(bucket.try_take(limit, 0.0), Err(1));
    // The steady rate is 20 requests per second.
    let mut taken = 0;
    for tick in 1..=1000 {
        taken += u32::from(bucket.try_take(limit, f64::from(tick) / 100.0).is_ok());
    }
    assert!((199..=201).contains(&taken), "{taken}");
    // A clock that goes backwards removes no tokens.
    assert!(bucket.try_take(limit, 100.0).is_ok() && bucket.try_take(limit, 50.0).is_ok());
    const {
        assert!(
            rate_limit::RateLimit::BOT.per_second >= 20.0,
            "a bot may send 20 requests per second"
        );
    };
}
