//! Table of vendor key formats, from the vendors' documentation. To add a vendor, add an entry.
use super::row::Alphabet::{Alnum, Base64, Dotted, Hex, Upper, Url};
use super::row::Check::{Digits, Mixed, Nothing, Rich};
use super::row::{Alphabet, Check, Row};

const fn row(
    kind: &'static str,
    prefixes: &'static [&'static str],
    of: Alphabet,
    (least, most): (usize, usize),
    with: Check,
) -> Row {
    Row { kind, prefixes, of, least, most, with }
}

/// Entries may share a prefix. The first valid match counts.
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    // Model providers
    row("anthropic-key", &["sk-ant-"], Url, (20, 255), Mixed),
    row("openrouter-key", &["sk-or-v1-", "sk-or-"], Hex, (32, 128), Mixed),
    row("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-service-"], Url, (20, 255), Mixed),
    row("openai-key", &["sk-"], Alnum, (32, 64), Digits),
    row("google-key", &["AIza"], Url, (35, 35), Mixed),
    row("huggingface-token", &["hf_", "api_org_"], Alnum, (30, 40), Nothing),
    row("replicate-token", &["r8_"], Alnum, (37, 40), Mixed),
    row("groq-key", &["gsk_"], Alnum, (48, 60), Mixed),
    row("xai-key", &["xai-"], Alnum, (60, 100), Mixed),
    row("perplexity-key", &["pplx-"], Alnum, (40, 64), Mixed),
    row("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], Url, (32, 64), Mixed),
    row("cerebras-key", &["csk-"], Alnum, (40, 64), Mixed),
    // Code hosting
    row("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Alnum, (36, 255), Mixed),
    row("github-token", &["ghs_"], Dotted, (80, 600), Rich),
    row("github-token", &["github_pat_"], Url, (36, 255), Mixed),
    row("gitlab-token", &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-", "glffct-", "glwt-"], Dotted, (20, 300), Mixed),
    row("gitlab-token", &["GR1348941"], Url, (20, 22), Mixed),
    // Package registries
    row("npm-token", &["npm_"], Alnum, (36, 36), Digits),
    row("pypi-token", &["pypi-AgE"], Url, (50, 500), Mixed),
    row("cratesio-token", &["cio"], Alnum, (32, 32), Rich),
    row("docker-token", &["dckr_pat_", "dckr_oat_"], Url, (27, 40), Mixed),
    row("rubygems-key", &["rubygems_"], Hex, (48, 48), Mixed),
    row("clojars-token", &["CLOJARS_"], Hex, (60, 60), Mixed),
    row("artifactory-key", &["AKCp"], Alnum, (60, 80), Rich),
    row("nuget-key", &["oy2"], Alnum, (43, 43), Mixed),
    // Cloud and infrastructure
    row("aws-key", &["AKIA", "ASIA", "ABIA", "ACCA"], Upper, (16, 16), Nothing),
    row("google-oauth", &["ya29."], Dotted, (30, 400), Mixed),
    row("google-oauth", &["GOCSPX-"], Url, (28, 28), Mixed),
    row("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, (64, 64), Mixed),
    row("heroku-key", &["HRKU-"], Url, (36, 80), Mixed),
    row("databricks-token", &["dapi"], Url, (34, 34), Digits),
    row("databricks-token", &["dapi"], Hex, (32, 32), Mixed),
    row("fly-token", &["fo1_"], Url, (40, 64), Mixed),
    row("fly-token", &["fm1r_", "fm1a_", "fm2_"], Base64, (40, 3000), Rich),
    row("supabase-token", &["sbp_"], Hex, (40, 40), Mixed),
    row("supabase-token", &["sb_secret_"], Url, (20, 64), Mixed),
    row("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, (32, 64), Mixed),
    row("vault-token", &["hvs.", "hvb.", "hvr."], Url, (24, 300), Mixed),
    row("pulumi-token", &["pul-"], Hex, (40, 40), Mixed),
    row("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], Dotted, (40, 64), Mixed),
    row("tailscale-key", &["tskey-auth-", "tskey-client-", "tskey-api-"], Url, (20, 80), Mixed),
    row("netlify-token", &["nfp_"], Alnum, (36, 60), Mixed),
    row("circleci-token", &["CCIPAT_", "CCIPRJ_"], Url, (40, 100), Mixed),
    row("buildkite-token", &["bkua_", "bkct_"], Alnum, (32, 64), Mixed),
    row("onepassword-token", &["ops_eyJ"], Base64, (100, 2000), Rich),
    row("cloudflare-key", &["v1.0-"], Url, (146, 190), Mixed),
    // Chat and email
    row("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-", "xapp-"], Base64, (20, 255), Mixed),
    row("slack-token", &["xoxe."], Dotted, (40, 300), Mixed),
    row("slack-token", &["xoxe-"], Url, (40, 300), Mixed),
    row("sendgrid-key", &["SG."], Dotted, (60, 70), Rich),
    row("mailgun-key", &["key-"], Hex, (32, 32), Mixed),
    row("twilio-key", &["SK"], Hex, (32, 32), Mixed),
    row("resend-key", &["re_"], Url, (24, 40), Rich),
    row("sendinblue-key", &["xkeysib-"], Url, (64, 90), Mixed),
    // Payment and e-commerce
    row("stripe-key", &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_"], Alnum, (16, 255), Mixed),
    row("stripe-key", &["whsec_"], Base64, (24, 100), Mixed),
    row("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], Hex, (32, 32), Mixed),
    row("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], Alnum, (32, 32), Mixed),
    row("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], Url, (22, 60), Mixed),
    row("square-token", &["EAAA"], Url, (60, 60), Rich),
    // Collaboration and developer tools
    row("linear-key", &["lin_api_", "lin_oauth_"], Alnum, (32, 64), Mixed),
    row("notion-token", &["ntn_"], Alnum, (40, 60), Mixed),
    row("notion-token", &["secret_"], Alnum, (43, 43), Rich),
    row("figma-token", &["figd_", "figdr_", "figu_", "figur_"], Url, (36, 80), Mixed),
    row("atlassian-token", &["ATATT3", "ATCTT3", "ATBB"], Base64, (28, 300), Rich),
    row("postman-key", &["PMAK-"], Url, (50, 64), Mixed),
    // Monitoring
    row("grafana-token", &["glsa_"], Alnum, (32, 32), Nothing),
    row("grafana-token", &["glsa_", "glc_"], Base64, (32, 400), Mixed),
    row("grafana-token", &["eyJrIjoi"], Base64, (40, 400), Mixed),
    row("newrelic-key", &["NRAK-", "NRAL-", "NRII-", "NRIQ-"], Url, (24, 40), Mixed),
    row("sentry-token", &["sntrys_", "sntryu_"], Base64, (60, 400), Mixed),
    row("dynatrace-token", &["dt0c01."], Dotted, (80, 100), Mixed),
    // Personal encryption keys
    row("age-key", &["AGE-SECRET-KEY-1"], Upper, (58, 58), Mixed),
];
