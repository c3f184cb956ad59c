//! Table of vendor key formats, from the vendors' documentation. To add a vendor, add an entry.
use super::key_pattern::Alphabet::{Alnum, Base64, Base64Url, Dotted, Hex, Upper};
use super::key_pattern::ClassCheck::{Any, LetterAndDigit, Mixed, UpperLowerDigit};
use super::key_pattern::{Alphabet, ClassCheck, KeyPattern};

const fn pattern(
    kind: &'static str,
    prefixes: &'static [&'static str],
    alphabet: Alphabet,
    (min_len, max_len): (usize, usize),
    check: ClassCheck,
) -> KeyPattern {
    KeyPattern { kind, prefixes, alphabet, min_len, max_len, check }
}

/// Entries may share a prefix. The first valid match counts.
#[rustfmt::skip]
pub(super) const VENDOR_KEYS: &[KeyPattern] = &[
    // Model providers
    pattern("anthropic-key", &["sk-ant-"], Base64Url, (20, 255), Mixed),
    pattern("openrouter-key", &["sk-or-v1-", "sk-or-"], Hex, (32, 128), Mixed),
    pattern("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-service-"], Base64Url, (20, 255), Mixed),
    pattern("openai-key", &["sk-"], Alnum, (32, 64), LetterAndDigit),
    pattern("google-key", &["AIza"], Base64Url, (35, 35), Mixed),
    pattern("huggingface-token", &["hf_", "api_org_"], Alnum, (30, 40), Any),
    pattern("replicate-token", &["r8_"], Alnum, (37, 40), Mixed),
    pattern("groq-key", &["gsk_"], Alnum, (48, 60), Mixed),
    pattern("xai-key", &["xai-"], Alnum, (60, 100), Mixed),
    pattern("perplexity-key", &["pplx-"], Alnum, (40, 64), Mixed),
    pattern("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], Base64Url, (32, 64), Mixed),
    pattern("cerebras-key", &["csk-"], Alnum, (40, 64), Mixed),
    // Code hosting
    pattern("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Alnum, (36, 255), Mixed),
    pattern("github-token", &["ghs_"], Dotted, (80, 600), UpperLowerDigit),
    pattern("github-token", &["github_pat_"], Base64Url, (36, 255), Mixed),
    pattern("gitlab-token", &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-", "glffct-", "glwt-"], Dotted, (20, 300), Mixed),
    pattern("gitlab-token", &["GR1348941"], Base64Url, (20, 22), Mixed),
    // Package registries
    pattern("npm-token", &["npm_"], Alnum, (36, 36), LetterAndDigit),
    pattern("pypi-token", &["pypi-AgE"], Base64Url, (50, 500), Mixed),
    pattern("cratesio-token", &["cio"], Alnum, (32, 32), UpperLowerDigit),
    pattern("docker-token", &["dckr_pat_", "dckr_oat_"], Base64Url, (27, 40), Mixed),
    pattern("rubygems-key", &["rubygems_"], Hex, (48, 48), Mixed),
    pattern("clojars-token", &["CLOJARS_"], Hex, (60, 60), Mixed),
    pattern("artifactory-key", &["AKCp"], Alnum, (60, 80), UpperLowerDigit),
    pattern("nuget-key", &["oy2"], Alnum, (43, 43), Mixed),
    // Cloud and infrastructure
    pattern("aws-key", &["AKIA", "ASIA", "ABIA", "ACCA"], Upper, (16, 16), Any),
    pattern("google-oauth", &["ya29."], Dotted, (30, 400), Mixed),
    pattern("google-oauth", &["GOCSPX-"], Base64Url, (28, 28), Mixed),
    pattern("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, (64, 64), Mixed),
    pattern("heroku-key", &["HRKU-"], Base64Url, (36, 80), Mixed),
    pattern("databricks-token", &["dapi"], Base64Url, (34, 34), LetterAndDigit),
    pattern("databricks-token", &["dapi"], Hex, (32, 32), Mixed),
    pattern("fly-token", &["fo1_"], Base64Url, (40, 64), Mixed),
    pattern("fly-token", &["fm1r_", "fm1a_", "fm2_"], Base64, (40, 3000), UpperLowerDigit),
    pattern("supabase-token", &["sbp_"], Hex, (40, 40), Mixed),
    pattern("supabase-token", &["sb_secret_"], Base64Url, (20, 64), Mixed),
    pattern("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, (32, 64), Mixed),
    pattern("vault-token", &["hvs.", "hvb.", "hvr."], Base64Url, (24, 300), Mixed),
    pattern("pulumi-token", &["pul-"], Hex, (40, 40), Mixed),
    pattern("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], Dotted, (40, 64), Mixed),
    pattern("tailscale-key", &["tskey-auth-", "tskey-client-", "tskey-api-"], Base64Url, (20, 80), Mixed),
    pattern("netlify-token", &["nfp_"], Alnum, (36, 60), Mixed),
    pattern("circleci-token", &["CCIPAT_", "CCIPRJ_"], Base64Url, (40, 100), Mixed),
    pattern("buildkite-token", &["bkua_", "bkct_"], Alnum, (32, 64), Mixed),
    pattern("onepassword-token", &["ops_eyJ"], Base64, (100, 2000), UpperLowerDigit),
    pattern("cloudflare-key", &["v1.0-"], Base64Url, (146, 190), Mixed),
    // Chat and email
    pattern("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-", "xapp-"], Base64, (20, 255), Mixed),
    pattern("slack-token", &["xoxe."], Dotted, (40, 300), Mixed),
    pattern("slack-token", &["xoxe-"], Base64Url, (40, 300), Mixed),
    pattern("sendgrid-key", &["SG."], Dotted, (60, 70), UpperLowerDigit),
    pattern("mailgun-key", &["key-"], Hex, (32, 32), Mixed),
    pattern("twilio-key", &["SK"], Hex, (32, 32), Mixed),
    pattern("resend-key", &["re_"], Base64Url, (24, 40), UpperLowerDigit),
    pattern("sendinblue-key", &["xkeysib-"], Base64Url, (64, 90), Mixed),
    // Payment and e-commerce
    pattern("stripe-key", &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_"], Alnum, (16, 255), Mixed),
    pattern("stripe-key", &["whsec_"], Base64, (24, 100), Mixed),
    pattern("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], Hex, (32, 32), Mixed),
    pattern("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], Alnum, (32, 32), Mixed),
    pattern("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], Base64Url, (22, 60), Mixed),
    pattern("square-token", &["EAAA"], Base64Url, (60, 60), UpperLowerDigit),
    // Collaboration and developer tools
    pattern("linear-key", &["lin_api_", "lin_oauth_"], Alnum, (32, 64), Mixed),
    pattern("notion-token", &["ntn_"], Alnum, (40, 60), Mixed),
    pattern("notion-token", &["secret_"], Alnum, (43, 43), UpperLowerDigit),
    pattern("figma-token", &["figd_", "figdr_", "figu_", "figur_"], Base64Url, (36, 80), Mixed),
    pattern("atlassian-token", &["ATATT3", "ATCTT3", "ATBB"], Base64, (28, 300), UpperLowerDigit),
    pattern("postman-key", &["PMAK-"], Base64Url, (50, 64), Mixed),
    // Monitoring
    pattern("grafana-token", &["glsa_"], Alnum, (32, 32), Any),
    pattern("grafana-token", &["glsa_", "glc_"], Base64, (32, 400), Mixed),
    pattern("grafana-token", &["eyJrIjoi"], Base64, (40, 400), Mixed),
    pattern("newrelic-key", &["NRAK-", "NRAL-", "NRII-", "NRIQ-"], Base64Url, (24, 40), Mixed),
    pattern("sentry-token", &["sntrys_", "sntryu_"], Base64, (60, 400), Mixed),
    pattern("dynatrace-token", &["dt0c01."], Dotted, (80, 100), Mixed),
    // Personal encryption keys
    pattern("age-key", &["AGE-SECRET-KEY-1"], Upper, (58, 58), Mixed),
];
