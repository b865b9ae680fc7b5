//! The control handle over HTTP: `POST /_control/<what>` with JSON, `GET` for what only looks.

use std::time::Duration;

use failwell_emulator_http::{ControlError, ControlReply, parse_body};
use http::Method;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Control;
use crate::fault_kind::{Fault, FaultKind};
use crate::http::limiter::Rate;
use crate::state::Permission;
use crate::state::seed::Seed;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApproveRequest {
    frob: String,
    #[serde(default = "full")]
    perms: Permission,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRequest {
    token: String,
    #[serde(default = "full")]
    perms: Permission,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewTokenRequest {
    #[serde(default = "full")]
    perms: Permission,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockRequest {
    set: Option<Timestamp>,
    advance_seconds: Option<u64>,
    #[serde(default)]
    run: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchRequest {
    on: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RateRequest {
    on: bool,
    rate: Option<Rate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DelayRequest {
    milliseconds: u64,
    methods: Option<String>,
    times: Option<u32>,
}

fn full() -> Permission {
    Permission::Delete
}

pub(crate) fn answer(control: &Control, method: &Method, action: &str, body: &[u8]) -> ControlReply {
    perform(control, method, action, body).into()
}

fn perform(control: &Control, method: &Method, action: &str, body: &[u8]) -> Result<Value, ControlError> {
    match (method.as_str(), action) {
        ("GET", "clock") => return Ok(json!({"now": control.now().to_string()})),
        ("POST", "seed") => {
            let seed = match body {
                b"\"demo\"" => Seed::demo(),
                _ => parse_body::<Seed>(body)?,
            };
            control.seed(&seed).map_err(|why| ControlError(422, why))?;
        }
        ("POST", "approve") => {
            let ApproveRequest { frob, perms } = parse_body(body)?;
            require(control.approve(&frob, perms), "no login is waiting for this frob")?;
        }
        ("POST", "deny") => {
            let ApproveRequest { frob, .. } = parse_body(body)?;
            require(control.deny(&frob), "no login is waiting for this frob")?;
        }
        ("POST", "token") => {
            let NewTokenRequest { perms } =
                if body.is_empty() { NewTokenRequest { perms: full() } } else { parse_body(body)? };
            return Ok(json!({"token": control.token(perms)}));
        }
        ("POST", "revoke") => {
            let TokenRequest { token, .. } = parse_body(body)?;
            require(control.revoke(&token), "there is no such token")?;
        }
        ("POST", "perms") => {
            let TokenRequest { token, perms } = parse_body(body)?;
            require(control.set_permission(&token, perms), "there is no such token")?;
        }
        ("POST", "clock") => set_clock(control, &parse_body(body)?),
        ("POST", "delay") => {
            let DelayRequest { milliseconds, methods, times } = parse_body(body)?;
            let fault = Fault::new(FaultKind::Delay { milliseconds }).on(methods.as_deref().unwrap_or("*"));
            control.fail(Fault { times, ..fault });
        }
        ("POST", "rate") => {
            let RateRequest { on, rate } = parse_body(body)?;
            control.set_rate(on.then(|| rate.unwrap_or_default()));
        }
        ("POST", "pro") => control.set_pro(parse_body::<SwitchRequest>(body)?.on),
        ("POST", "timezone") => {
            require(control.set_time_zone(&parse_body::<String>(body)?), "there is no such time zone")?;
        }
        _ => return control.perform(method, action, body),
    }
    Ok(json!({"ok": true}))
}

fn set_clock(control: &Control, wanted: &ClockRequest) {
    if wanted.run {
        control.run_clock();
    }
    if let Some(now) = wanted.set {
        control.set_clock(now);
    }
    if let Some(seconds) = wanted.advance_seconds {
        control.advance_clock(Duration::from_secs(seconds));
    }
}

fn require(found: bool, why: &str) -> Result<(), ControlError> {
    if found { Ok(()) } else { Err(ControlError(404, why.to_owned())) }
}
