//! The table of secrets that begin with a literal. The formats are those that their issuers document.

use super::shape::Boundary::{self, Open, Token};
use super::shape::CharSet::{
    Alphanumeric, Base64, Between, Dashed, Digit, Dotted, Hex, Hyphened, Lower, LowerHex, Padding, Upper,
    Url, Word,
};
use super::shape::ShapePart::{Run, Text};
use super::shape::{Boundary::Word as AtWord, SecretShape, ShapePart};
use super::{after_digits, aws_pair, azure_secret, first_jwt, hash_before, terraform_token, with_digits};
use crate::guard::category::Category::{
    self, AnthropicKey, AwsAccessKey, AwsSecretKey, ConnectionString, GithubFineGrained, GithubToken,
    GitlabToken, GoogleKey, Jwt, OpenaiKey, PackageToken, ServiceKey, SlackToken, StripeKey,
};
use crate::guard::detect::pattern::{Confirm, any};

const MANY: usize = usize::MAX;

const fn shape(
    category: Category,
    prefixes: &'static [&'static str],
    parts: &'static [ShapePart],
    before: Boundary,
    after: Boundary,
    confirm: Confirm,
) -> SecretShape {
    SecretShape { category, prefixes, parts, before, after, confirm }
}

/// A key of a service: a literal, and a run with a length of its own.
const fn service(prefixes: &'static [&'static str], parts: &'static [ShapePart]) -> SecretShape {
    shape(ServiceKey, prefixes, parts, Token, Open, any)
}

/// The same, where the literal is short: the run has an exact length, and nothing may follow it.
const fn exact(prefixes: &'static [&'static str], parts: &'static [ShapePart]) -> SecretShape {
    shape(ServiceKey, prefixes, parts, AtWord, AtWord, any)
}

pub(in crate::guard) const SHAPES: &[SecretShape] = &[
    shape(AwsAccessKey, &["AKIA", "ASIA", "ABIA", "ACCA"], &[Run(Upper, 16, 16)], AtWord, AtWord, any),
    shape(
        AwsSecretKey,
        &["AKIA", "ASIA"],
        &[Run(Upper, 16, 16), Run(Between, 1, 6), Run(Base64, 40, 40)],
        Open,
        Open,
        aws_pair,
    ),
    shape(
        GithubToken,
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        &[Run(Alphanumeric, 36, MANY)],
        Open,
        Open,
        any,
    ),
    shape(GithubFineGrained, &["github_pat_"], &[Run(Word, 40, MANY)], Open, Open, any),
    shape(
        GitlabToken,
        &[
            "glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-",
            "gloas-", "glsoat-", "glffct-",
        ],
        &[Run(Dotted, 20, MANY)],
        Token,
        Open,
        any,
    ),
    shape(GoogleKey, &["AIza"], &[Run(Dashed, 35, 35)], Token, Token, any),
    shape(GoogleKey, &["GOCSPX-"], &[Run(Dashed, 28, 28)], Token, Open, any),
    shape(GoogleKey, &["ya29."], &[Run(Dashed, 20, MANY)], Token, Open, any),
    shape(
        SlackToken,
        &[
            "xoxa-",
            "xoxb-",
            "xoxe-",
            "xoxo-",
            "xoxp-",
            "xoxr-",
            "xoxs-",
            "xoxe.xoxb-",
            "xoxe.xoxp-",
            "xoxc-",
            "xoxd-",
        ],
        &[Run(Hyphened, 12, MANY)],
        Token,
        Open,
        with_digits,
    ),
    shape(
        SlackToken,
        &["xapp-"],
        &[
            Run(Digit, 1, 1),
            Text("-"),
            Run(Upper, 5, 20),
            Text("-"),
            Run(Digit, 5, 20),
            Text("-"),
            Run(Lower, 16, MANY),
        ],
        Token,
        Open,
        any,
    ),
    shape(
        SlackToken,
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        &[Run(Url, 20, MANY)],
        Open,
        Open,
        any,
    ),
    shape(
        OpenaiKey,
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-service-"],
        &[Run(Dashed, 20, MANY)],
        Token,
        Open,
        any,
    ),
    shape(OpenaiKey, &["sk-"], &[Run(Alphanumeric, 32, MANY)], Token, Token, any),
    shape(AnthropicKey, &["sk-ant-"], &[Run(Dashed, 20, MANY)], Token, Open, any),
    shape(
        StripeKey,
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
        &[Run(Alphanumeric, 16, MANY)],
        Token,
        Open,
        any,
    ),
    shape(StripeKey, &["whsec_"], &[Run(Base64, 24, MANY), Run(Padding, 0, 2)], Token, Open, any),
    shape(
        Jwt,
        &["eyJ", "eyAi", "eyAgI", "ewog", "ewoJ", "ewoi", "ew0K"],
        &[Run(Dashed, 8, MANY), Text("."), Run(Dashed, 4, MANY), Text("."), Run(Dashed, 0, MANY)],
        Open,
        Open,
        first_jwt,
    ),
    shape(
        ConnectionString,
        &["AccountKey=", "SharedAccessKey=", "accountkey="],
        &[Run(Base64, 40, MANY), Run(Padding, 0, 2)],
        Open,
        Open,
        any,
    ),
    shape(ConnectionString, &["&sig=", "?sig="], &[Run(Url, 40, MANY)], Open, Open, any),
    shape(PackageToken, &["npm_"], &[Run(Alphanumeric, 36, 36)], AtWord, AtWord, any),
    shape(PackageToken, &["pypi-AgEI", "pypi-AgEN"], &[Run(Dashed, 50, MANY)], Open, Open, any),
    shape(PackageToken, &["dckr_pat_", "dckr_oat_"], &[Run(Dashed, 27, MANY)], Token, Open, any),
    shape(PackageToken, &["rubygems_"], &[Run(LowerHex, 48, 48)], Token, AtWord, any),
    shape(PackageToken, &["cio"], &[Run(Alphanumeric, 32, 32)], Token, Token, with_digits),
    shape(PackageToken, &["oy2"], &[Run(Lower, 43, 43)], Token, Token, with_digits),
    shape(PackageToken, &["CLOJARS_"], &[Run(Lower, 60, 60)], Token, AtWord, any),
    service(&["SG."], &[Run(Dashed, 16, MANY), Text("."), Run(Dashed, 32, MANY)]),
    shape(ServiceKey, &["hf_", "api_org_"], &[Run(Alphanumeric, 34, MANY)], Token, Token, any),
    // Failwell's own API keys.
    shape(ServiceKey, &["fw_"], &[Run(LowerHex, 64, 64)], Token, Token, any),
    shape(ServiceKey, &["dop_v1_", "doo_v1_", "dor_v1_"], &[Run(LowerHex, 64, 64)], Open, Open, any),
    // Twilio, Mailgun, Mailchimp, Brevo, Postmark.
    exact(&["SK", "AC"], &[Run(LowerHex, 32, 32)]),
    exact(&["key-"], &[Run(LowerHex, 32, 32)]),
    shape(ServiceKey, &["-us"], &[Run(Digit, 1, 2)], Open, AtWord, hash_before),
    service(&["xkeysib-"], &[Run(LowerHex, 64, 64), Text("-"), Run(Alphanumeric, 16, 16)]),
    // Telegram, Discord, Shopify, Databricks.
    shape(ServiceKey, &[":AA"], &[Run(Dashed, 32, 34)], Open, Token, after_digits),
    shape(
        ServiceKey,
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        &[Run(Digit, 15, 22), Text("/"), Run(Dashed, 40, MANY)],
        Open,
        Open,
        any,
    ),
    service(&["shpat_", "shpca_", "shppa_", "shpss_", "shpua_"], &[Run(Hex, 32, MANY)]),
    exact(&["dapi", "dose", "dkea"], &[Run(LowerHex, 32, 32)]),
    // Vault, age, Doppler, Terraform, Pulumi, 1Password, Infisical.
    service(&["hvs.", "hvb.", "hvr."], &[Run(Dashed, 20, MANY)]),
    service(&["AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"], &[Run(Upper, 50, MANY)]),
    service(
        &["dp.pt.", "dp.ct.", "dp.sa.", "dp.said.", "dp.scim.", "dp.audit."],
        &[Run(Alphanumeric, 40, MANY)],
    ),
    service(&["dp.st."], &[Run(Dotted, 40, MANY)]),
    shape(ServiceKey, &[".atlasv1."], &[Run(Dashed, 40, MANY)], Open, Open, terraform_token),
    service(&["pul-"], &[Run(LowerHex, 40, 40)]),
    service(&["ops_eyJ"], &[Run(Base64, 80, MANY)]),
    // Linear, Notion, Figma, Airtable, Asana, Postman, Typeform, Contentful, ReadMe.
    service(&["lin_api_", "lin_oauth_"], &[Run(Alphanumeric, 32, MANY)]),
    shape(ServiceKey, &["secret_"], &[Run(Alphanumeric, 43, 43)], Token, Token, with_digits),
    service(&["ntn_"], &[Run(Alphanumeric, 40, MANY)]),
    service(&["figd_", "figu_", "figoh_", "figor_"], &[Run(Dashed, 40, MANY)]),
    shape(
        ServiceKey,
        &["pat"],
        &[Run(Alphanumeric, 14, 14), Text("."), Run(LowerHex, 64, 64)],
        Token,
        AtWord,
        any,
    ),
    service(&["PMAK-"], &[Run(LowerHex, 24, 24), Text("-"), Run(LowerHex, 34, 34)]),
    service(&["tfp_"], &[Run(Dashed, 40, MANY)]),
    service(&["CFPAT-"], &[Run(Dashed, 43, 43)]),
    service(&["rdme_"], &[Run(Alphanumeric, 70, 70)]),
    // Grafana, New Relic, Sentry, Dynatrace, PostHog, Buildkite, SonarQube, CircleCI.
    service(&["glsa_"], &[Run(Alphanumeric, 32, 32), Text("_"), Run(Hex, 8, 8)]),
    service(&["glc_"], &[Run(Base64, 32, MANY), Run(Padding, 0, 2)]),
    service(&["eyJrIjoi"], &[Run(Base64, 40, MANY), Run(Padding, 0, 2)]),
    service(&["NRAK-", "NRAA-", "NRRA-", "NRII-", "NRIQ-", "NRSP-"], &[Run(Dashed, 27, MANY)]),
    service(&["NRJS-"], &[Run(LowerHex, 19, 19)]),
    service(&["sntrys_"], &[Run(Base64, 40, MANY)]),
    service(&["sntryu_", "sntrya_"], &[Run(LowerHex, 64, 64)]),
    service(&["dt0c01.", "dt0s01.", "dt0s16."], &[Run(Upper, 24, 24), Text("."), Run(Upper, 64, 64)]),
    service(&["phx_", "phs_"], &[Run(Alphanumeric, 40, MANY)]),
    service(&["bkua_", "bkaj_"], &[Run(LowerHex, 40, MANY)]),
    service(&["sqp_", "squ_", "sqa_"], &[Run(LowerHex, 40, 40)]),
    service(&["CCIPAT_", "CCIPRJ_"], &[Run(Word, 40, MANY)]),
    // Atlassian, Bitbucket, Azure.
    service(&["ATATT3", "ATCTT3", "ATSTT3"], &[Run(Dashed, 60, MANY)]),
    service(&["ATBB"], &[Run(Alphanumeric, 32, MANY)]),
    shape(ServiceKey, &["Q~"], &[Run(Dotted, 30, 36)], Open, Token, azure_secret),
    shape(ServiceKey, &["AZDO"], &[Run(Alphanumeric, 4, 4)], Open, AtWord, super::azure_token),
    // Groq, xAI, Replicate, Perplexity, OpenRouter, LangSmith, Langfuse, ElevenLabs, Resend.
    service(&["gsk_"], &[Run(Alphanumeric, 40, MANY)]),
    service(&["xai-"], &[Run(Alphanumeric, 60, MANY)]),
    shape(ServiceKey, &["r8_"], &[Run(Dashed, 37, MANY)], Token, Open, with_digits),
    service(&["pplx-"], &[Run(Alphanumeric, 40, MANY)]),
    service(&["sk-or-v1-"], &[Run(LowerHex, 64, 64)]),
    service(&["lsv2_pt_", "lsv2_sk_"], &[Run(LowerHex, 32, 32), Text("_"), Run(LowerHex, 10, 10)]),
    service(&["sk-lf-", "pk-lf-"], &[Run(Hyphened, 36, 36)]),
    shape(ServiceKey, &["sk_"], &[Run(LowerHex, 48, 48)], Token, Token, any),
    shape(
        ServiceKey,
        &["re_"],
        &[Run(Alphanumeric, 8, 8), Text("_"), Run(Alphanumeric, 24, 24)],
        Token,
        Token,
        any,
    ),
    // Square, PlanetScale, Supabase, Neon, Tailscale, Fly, Netlify, Vercel, Render, Heroku, Cloudflare, Alibaba.
    service(&["sq0atp-", "sq0csp-", "sq0idp-"], &[Run(Dashed, 22, MANY)]),
    service(&["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], &[Run(Dotted, 32, MANY)]),
    service(&["sbp_"], &[Run(LowerHex, 40, 40)]),
    service(&["sb_secret_"], &[Run(Dashed, 22, MANY)]),
    service(&["napi_"], &[Run(Lower, 60, MANY)]),
    service(&["tskey-auth-", "tskey-api-", "tskey-client-", "tskey-scim-"], &[Run(Hyphened, 20, MANY)]),
    service(&["fm2_", "fo1_", "fm1r_", "fm1a_"], &[Run(Base64, 40, MANY), Run(Padding, 0, 3)]),
    service(&["nfp_", "nfc_", "vcp_", "vci_", "rnd_"], &[Run(Alphanumeric, 32, MANY)]),
    service(&["HRKU-"], &[Run(Dashed, 36, MANY)]),
    service(&["v1.0-"], &[Run(LowerHex, 24, 24), Text("-"), Run(LowerHex, 146, 146)]),
    shape(ServiceKey, &["LTAI"], &[Run(Alphanumeric, 16, 26)], Token, Token, with_digits),
    service(&["sl.", "sl.u."], &[Run(Dashed, 130, MANY)]),
    service(&["pk.eyJ", "sk.eyJ", "tk.eyJ"], &[Run(Dashed, 40, MANY), Text("."), Run(Dashed, 20, MANY)]),
    service(&["shippo_live_", "shippo_test_"], &[Run(LowerHex, 40, 40)]),
    service(&["duffel_live_", "duffel_test_"], &[Run(Dashed, 40, MANY)]),
    service(&["FLWSECK-", "FLWSECK_TEST-"], &[Run(Hyphened, 32, MANY)]),
    service(&["EZAK", "EZTK"], &[Run(Alphanumeric, 54, 54)]),
    service(&["AKCp"], &[Run(Alphanumeric, 69, 69)]),
    service(&["sha256~"], &[Run(Dashed, 43, 43)]),
    service(&["access-sandbox-", "access-production-", "access-development-"], &[Run(Hyphened, 36, 36)]),
];
