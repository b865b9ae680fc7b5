//! The same over HTTP: `POST /_control/<what>` with JSON, `GET` for what only looks.

use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Control;
use crate::fault::{Fault, Kind};
use crate::limiter::Rate;
use crate::seed::Seed;
use crate::state::Permission;

/// What a request to control came to.
pub(crate) struct Controlled {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// Why it could not be done.
struct Refused(u16, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Approve {
    frob: String,
    #[serde(default = "full")]
    perms: Permission,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokened {
    token: String,
    #[serde(default = "full")]
    perms: Permission,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewToken {
    #[serde(default = "full")]
    perms: Permission,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetClock {
    set: Option<Timestamp>,
    advance_seconds: Option<u64>,
    #[serde(default)]
    run: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Switch {
    on: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    on: bool,
    rate: Option<Rate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Late {
    milliseconds: u64,
    methods: Option<String>,
    times: Option<u32>,
}

fn full() -> Permission {
    Permission::Delete
}

/// What can be asked for.
const KNOWN: &str =
    "reset, seed, approve, deny, token, revoke, perms, clock, fail, delay, calls, rate, pro, timezone, dump";

/// Does what the path says.
pub(crate) fn answer(control: &Control, method: &Method, what: &str, body: &[u8]) -> Controlled {
    let outcome = match (method, what) {
        (&Method::GET, _) => look(control, what),
        (&Method::POST, _) => act(control, what, body),
        (&Method::DELETE, "fail") => Ok(json!({"cleared": control.clear_faults()})),
        (&Method::DELETE, "calls") => Ok(json!({"cleared": control.clear_calls()})),
        _ => Err(Refused(405, "use GET to look, POST to do, DELETE for fail and calls".to_owned())),
    };
    match outcome {
        Ok(body) => Controlled { status: 200, body },
        Err(Refused(status, why)) => Controlled { status, body: json!({"error": why}) },
    }
}

fn look(control: &Control, what: &str) -> Result<Value, Refused> {
    match what {
        "calls" => Ok(json!({"calls": control.calls()})),
        "clock" => Ok(json!({"now": control.now().to_string()})),
        "dump" => Ok(control.dump()),
        _ => Err(unknown(what)),
    }
}

fn act(control: &Control, what: &str, body: &[u8]) -> Result<Value, Refused> {
    match what {
        "reset" => control.reset(),
        "seed" => {
            let seed = match body {
                b"\"demo\"" => Seed::demo(),
                _ => read::<Seed>(body)?,
            };
            control.seed(&seed).map_err(|why| Refused(422, why))?;
        }
        "approve" => {
            let Approve { frob, perms } = read(body)?;
            found(control.approve(&frob, perms), "nobody waits with this frob")?;
        }
        "deny" => found(control.deny(&read::<Approve>(body)?.frob), "nobody waits with this frob")?,
        "token" => {
            let NewToken { perms } = if body.is_empty() { NewToken { perms: full() } } else { read(body)? };
            return Ok(json!({"token": control.token(perms)}));
        }
        "revoke" => found(control.revoke(&read::<Tokened>(body)?.token), "there is no such token")?,
        "perms" => {
            let Tokened { token, perms } = read(body)?;
            found(control.set_permission(&token, perms), "there is no such token")?;
        }
        "clock" => set_clock(control, &read(body)?),
        "fail" => control.fail(read(body)?),
        "delay" => {
            let Late { milliseconds, methods, times } = read(body)?;
            let fault = Fault::new(Kind::Delay { milliseconds }).on(methods.as_deref().unwrap_or("*"));
            control.fail(Fault { times, ..fault });
        }
        "rate" => {
            let Limit { on, rate } = read(body)?;
            control.set_rate(on.then(|| rate.unwrap_or_default()));
        }
        "pro" => control.set_pro(read::<Switch>(body)?.on),
        "timezone" => found(control.set_time_zone(&read::<String>(body)?), "there is no such time zone")?,
        _ => return Err(unknown(what)),
    }
    Ok(json!({"ok": true}))
}

fn set_clock(control: &Control, wanted: &SetClock) {
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

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|why| Refused(422, why.to_string()))
}

fn found(found: bool, why: &str) -> Result<(), Refused> {
    if found { Ok(()) } else { Err(Refused(404, why.to_owned())) }
}

fn unknown(what: &str) -> Refused {
    Refused(404, format!("there is nothing called {what} to control; one of: {KNOWN}"))
}
