use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use failwell_policy::guard::GuardRule;
use failwell_store::ApprovalTerms;
use failwell_store::{NewTools, PinAction, PinSettings};
use serde::Serialize;
use serde_json::{Value, json as object};

use crate::cli::Check;
use crate::commands::backends::upstreams;
use crate::commands::calls::trial::{Trial, try_all};
use crate::commands::config_file::{ConfigFileError, counted};
use crate::commands::{json, runtime};
use crate::complaint::Complaint;
use failwell_gateway::{HttpTransport, SessionSharing};
use failwell_policy::{Limits, Rate, TokenRules};
use failwell_rpc::Caller;

use crate::config::{
    self, AuditConfig, Builtin, Config, CustomConfig, DEFAULT_FILE, Jwks, JwtConfig, OtlpConfig, Problem,
    Runs, Target, UpstreamConfig,
};
use crate::terminal::{self, Paint};

/// The output of `--json`.
#[derive(Serialize)]
struct Verdict<'a> {
    ok: bool,
    file: &'a Path,
    problems: Vec<Value>,
    /// What does not make the file invalid, but keeps a part of it from working on this machine.
    warnings: Vec<Warning>,
    /// How each server did; with `--start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    servers: Option<Vec<Trial>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Value>,
}

#[derive(Serialize)]
struct Warning {
    message: String,
    help: String,
}

/// Reads the file and reports its problems.
pub(in crate::commands) fn run(arguments: &Check) -> Result<ExitCode, Complaint> {
    if arguments.schema {
        terminal::print(&json(&config::schema())?);
        return Ok(ExitCode::SUCCESS);
    }
    let file = config::find(arguments.config.as_deref()).unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
    let loaded = config::load(&file);
    let trials = match &loaded {
        Ok(config) if arguments.start => Some(start_all(config, arguments.json)?),
        _ => None,
    };
    let has_failed = loaded.is_err() || trials.iter().flatten().any(|trial| !trial.ok);
    let code = if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if arguments.json {
        terminal::print(&json(&verdict(&file, &loaded, trials)?)?);
        return Ok(code);
    }
    match loaded {
        Ok(config) => {
            tell(&file, &config, trials.as_deref());
            Ok(code)
        }
        Err(problems) => Err(ConfigFileError { file, problems }.report()),
    }
}

/// Prints what a valid file has, and what will not work on this machine.
fn tell(file: &Path, config: &Config, trials: Option<&[Trial]>) {
    // The servers that were started have said so themselves.
    let warnings = if trials.is_some() { disabled_guards(config) } else { warnings(config) };
    let upstreams = counted(config.upstreams.len(), "upstream");
    let servers = counted(config.servers.len(), "built-in server");
    terminal::print(&format!("{} is fine: {upstreams}, {servers}\n", file.display()));
    for Warning { message, help } in warnings {
        terminal::report(&format!("warning: {message}\nhelp: {help}\n"));
    }
}

/// Starts every upstream, with a line for each as it is known.
fn start_all(config: &Config, quiet: bool) -> Result<Vec<Trial>, Complaint> {
    let paint = Paint::for_stdout();
    let show = |trial: &Trial| {
        if !quiet {
            terminal::print(&trial_line(trial, paint));
        }
    };
    let runtime = runtime()?;
    Ok(runtime.block_on(try_all(upstreams::all(config), show)))
}

/// `memory ✓ 9 tools, 0.8 s`, or why it does not start.
fn trial_line(trial: &Trial, paint: Paint) -> String {
    let name = paint.bold(&trial.name);
    match (&trial.tools, &trial.error) {
        (Some(tools), _) => {
            format!("{name} {} {}, {:.1} s\n", paint.green("✓"), counted(*tools, "tool"), trial.seconds)
        }
        (None, error) => format!("{name} {} {}\n", paint.red("✗"), error.as_deref().unwrap_or("it failed")),
    }
}

fn verdict<'a>(
    file: &'a Path,
    loaded: &Result<Config, Vec<Problem>>,
    servers: Option<Vec<Trial>>,
) -> Result<Verdict<'a>, Complaint> {
    let problems = match loaded {
        Ok(config) => {
            let ok = servers.iter().flatten().all(|trial| trial.ok);
            let (warnings, config) = (warnings(config), Some(view(config)));
            return Ok(Verdict { ok, file, problems: Vec::new(), warnings, servers, config });
        }
        Err(problems) => problems,
    };
    let rows: Result<Vec<Value>, _> =
        problems.iter().map(|problem| serde_json::to_value(problem.row())).collect();
    let problems =
        rows.map_err(|error| Complaint::new(format!("cannot write JSON: {error}"), "report this"))?;
    Ok(Verdict { ok: false, file, problems, warnings: Vec::new(), servers, config: None })
}

/// Programs that this machine does not have.
fn warnings(config: &Config) -> Vec<Warning> {
    let absent = upstreams::absent_programs(config).into_iter().map(|absent| Warning {
        message: format!("an upstream cannot start: {absent}"),
        help: "install the program, put it on the PATH, or write its full path in `command`".to_owned(),
    });
    absent.chain(disabled_guards(config)).collect()
}

fn disabled_guards(config: &Config) -> Vec<Warning> {
    config.custom_guards.iter().filter_map(|custom| disabled(custom)).collect()
}

/// The effective settings, defaults included. Secrets appear by name only.
fn view(config: &Config) -> Value {
    let servers: Vec<&str> = config.servers.iter().copied().map(Builtin::name).collect();
    let upstreams: Vec<Value> = config.upstreams.iter().map(upstream).collect();
    object!({
        "listen": config.listen,
        "data_dir": config.data_dir,
        "state": config.state.to_string(),
        "require_key": config.require_key,
        "keys": config.keys.owners().map(key).collect::<Vec<_>>(),
        "jwt": config.jwt.as_ref().map(jwt),
        "limits": limits(&config.limits),
        "servers": servers,
        "upstream": upstreams,
        "approval": approval(&config.approval),
        "pin": pin(&config.pin),
        "guard": guards(config),
        "audit": audit(&config.audit),
    })
}

fn key(owner: &Caller) -> Value {
    object!({"caller": owner.to_string(), "roles": owner.roles().collect::<Vec<_>>()})
}

fn jwt(jwt: &JwtConfig) -> Value {
    let keys = match &jwt.jwks {
        Jwks::File(path) => path.display().to_string(),
        // The query may contain a secret.
        Jwks::Url(url, _) => url.split('?').next().unwrap_or_default().to_owned(),
    };
    let TokenRules { issuer, audience, roles_claim, scopes } = &jwt.rules;
    object!({"issuer": issuer, "audience": audience, "jwks": keys, "roles_claim": roles_claim,
        "scopes": scopes, "resource": jwt.resource})
}

fn limits(limits: &Limits) -> Value {
    let rate = |rate: Rate| object!({"per_second": rate.per_second, "burst": rate.burst});
    object!({
        "rate": limits.default.rate.map(rate),
        "concurrency": limits.default.concurrency,
        "errors": rate(limits.errors.unwrap_or(Limits::USUAL_ERRORS)),
        "callers": limits.callers.len(),
        "tools": limits.tools.len(),
    })
}

fn approval(terms: &ApprovalTerms) -> Value {
    object!({"wait_s": terms.wait.as_secs(), "expires_s": terms.expires.as_secs()})
}

fn pin(settings: &PinSettings) -> Value {
    let word = |action: PinAction| match action {
        PinAction::Hold => "hold",
        PinAction::Warn => "warn",
        PinAction::Off => "off",
    };
    let servers: BTreeMap<&str, &str> =
        settings.servers.iter().map(|(name, action)| (name.as_str(), word(*action))).collect();
    let new_tools = if settings.new_tools == NewTools::Hold { "hold" } else { "allow" };
    object!({"action": word(settings.action), "new_tools": new_tools, "servers": servers})
}

fn audit(audit: &AuditConfig) -> Value {
    object!({
        "critical": audit.critical,
        "bodies": audit.bodies,
        "body_bytes": audit.body_bytes,
        "jsonl": audit.jsonl,
        "csv": audit.csv,
        "text": audit.text,
        "otlp": audit.otlp.as_ref().map(otlp),
        "postgres": audit.postgres.as_ref().map(|postgres| object!({"url": postgres.shown,
            "critical": postgres.critical, "timeout_s": postgres.timeout.as_secs(), "batch": postgres.batch})),
        "retention": {
            "days": audit.retention.days,
            "records": audit.retention.records,
            "size_mb": audit.retention.bytes >> 20,
        },
        "rotation": {"size_mb": audit.rotation.bytes >> 20, "files": audit.rotation.files},
    })
}

fn otlp(otlp: &OtlpConfig) -> Value {
    object!({"url": otlp.url, "headers": otlp.headers.keys().collect::<Vec<_>>(), "logs": otlp.logs,
        "spans": otlp.spans, "sample_one_in": otlp.sample_one_in, "timeout_s": otlp.timeout.as_secs(),
        "batch": otlp.batch, "queue": otlp.queue, "retry_s": otlp.retry.as_secs()})
}

fn guards(config: &Config) -> Value {
    let settings = &config.guards;
    let rule = |rule: &GuardRule| {
        let servers: BTreeMap<&str, &str> =
            rule.servers.iter().map(|(name, action)| (name.as_str(), action.as_str())).collect();
        let categories = rule.categories.as_ref();
        object!({
            "action": rule.action.as_str(),
            "categories": categories.map(|all| all.iter().map(|one| one.as_str()).collect::<Vec<_>>()),
            "directions": rule.directions.iter().map(|one| one.as_str()).collect::<Vec<_>>(),
            "servers": servers,
        })
    };
    let mut injection = rule(&settings.injection);
    if let Some(members) = injection.as_object_mut() {
        members.insert("sensitivity".to_owned(), object!(settings.sensitivity.as_str()));
    }
    let custom: Vec<Value> = config.custom_guards.iter().map(|config| custom(config)).collect();
    object!({"secrets": rule(&settings.secrets), "pii": rule(&settings.pii), "injection": injection,
        "custom": custom})
}

/// A warning about a guard that cannot be started. A critical one would be a problem of the file.
fn disabled(config: &CustomConfig) -> Option<Warning> {
    let Runs::Child(settings) = &config.runs else { return None };
    let why = config::program_problem(settings)?;
    let name = &config.rule.name;
    Some(Warning {
        message: format!("guard {name} would be disabled: the program cannot be started: {why}"),
        help: "correct its `command`; it is not critical, so messages pass without its verdict".to_owned(),
    })
}

fn custom(config: &CustomConfig) -> Value {
    let rule = &config.rule;
    let mut shown = object!({
        "name": rule.name,
        "directions": rule.directions.iter().map(|one| one.as_str()).collect::<Vec<_>>(),
        "timeout_ms": u64::try_from(rule.timeout.as_millis()).unwrap_or(u64::MAX),
        "critical": rule.critical,
        "priority": rule.priority,
    });
    let runs = match &config.runs {
        Runs::Module { path, limits, .. } => object!({"wasm": path, "memory_mb": limits.memory >> 20,
            "fuel": limits.fuel, "instances": limits.instances}),
        Runs::Child(child) => {
            let words = std::iter::once(child.program.as_os_str())
                .chain(child.arguments.iter().map(|word| word.as_os_str()));
            object!({"command": words.map(|word| word.to_string_lossy()).collect::<Vec<_>>(), "cwd": child.folder,
                "env": child.environment.iter().map(|(name, _)| name).collect::<Vec<_>>(),
                "env_pass": child.inherited, "memory_mb": child.memory.map(|bytes| bytes >> 20),
                "restart": {"budget": child.budget, "window_s": child.window.as_secs()}})
        }
    };
    if let (Some(all), Value::Object(runs)) = (shown.as_object_mut(), runs) {
        all.extend(runs);
    }
    shown
}

fn upstream(upstream: &UpstreamConfig) -> Value {
    let reached = match &upstream.target {
        Target::Command { program, arguments, cwd, env, env_pass } => {
            let command: Vec<&String> = [program].into_iter().chain(arguments).collect();
            let env: Vec<&String> = env.keys().collect();
            object!({"command": command, "cwd": cwd, "env": env, "env_pass": env_pass})
        }
        Target::Url { url, wire, headers, ca, auth } => {
            let transport = match wire {
                HttpTransport::Detect => None,
                HttpTransport::Streamable => Some("http"),
                HttpTransport::Sse => Some("sse"),
            };
            let headers: Vec<&String> = headers.keys().collect();
            let ca = ca.as_ref().map(|ca| &ca.path);
            let auth = auth.as_ref().map(|auth| {
                object!({"token_url": auth.token_url.to_string(), "client_id": auth.client_id,
                    "scope": auth.scope, "audience": auth.audience, "resource": auth.resource})
            });
            object!({"url": url.to_string(), "transport": transport, "headers": headers, "ca_file": ca, "auth": auth})
        }
    };
    let mut shown = object!({
        "name": upstream.name,
        "sessions": upstream.sharing.map(|sharing| match sharing {
            SessionSharing::Shared => "shared",
            SessionSharing::PerCaller => "per_caller",
        }),
        "max_sessions": upstream.max_sessions,
        "timeout_s": upstream.timeout.as_secs(),
        "start_timeout_s": upstream.start_timeout.as_secs(),
        "list_wait_s": upstream.list_wait.as_secs(),
        "lazy": upstream.lazy,
        "idle_stop_s": upstream.idle_stop.map_or(0, |idle| idle.as_secs()),
        "max_message_bytes": upstream.max_message_bytes,
        "restart": {"budget": upstream.restart.budget, "window_s": upstream.restart.window.as_secs()},
        "trusted_errors": upstream.trusted_errors,
        "errors": upstream.errors.as_str(),
        "instructions": upstream.instructions,
    });
    if let (Some(all), Value::Object(reached)) = (shown.as_object_mut(), reached) {
        all.extend(reached);
    }
    shown
}
