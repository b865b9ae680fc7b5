//! WebAssembly guards: their verdicts, and the limits that they cannot exceed.

#![cfg(feature = "wasm")]
#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_plugins::{ModuleLimits, WasmModule};
use failwell_policy::guard::Direction;
use failwell_policy::guard::custom::{CustomGuard, CustomVerdict, GuardRequest};

const LIMITS: ModuleLimits = ModuleLimits { memory: 4 << 20, fuel: 50_000_000, instances: 2 };

/// A module with this body of `guard` and these verdicts at 1024 and 2048.
fn module(body: &str, first: &str, second: &str) -> String {
    let text = |verdict: &str| verdict.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        r#"(module
  (memory (export "memory") 2)
  (global $asked (mut i32) (i32.const 0))
  (data (i32.const 1024) "{}")
  (data (i32.const 2048) "{}")
  (func $first (result i64) (i64.const {}))
  (func $second (result i64) (i64.const {}))
  (func (export "alloc") (param i32) (result i32) (i32.const 65536))
  (func (export "guard") (param $at i32) (param $length i32) (result i64) {body}))"#,
        text(first),
        text(second),
        1024_u64 << 32 | first.len() as u64,
        2048_u64 << 32 | second.len() as u64,
    )
}

fn load(text: &str) -> WasmModule {
    load_with(text, LIMITS)
}

fn load_with(text: &str, limits: ModuleLimits) -> WasmModule {
    WasmModule::load(text.as_bytes(), limits).unwrap_or_else(|flaw| panic!("{flaw:?}"))
}

fn question(message: &str, within: Duration) -> GuardRequest<'_> {
    GuardRequest {
        guard: "g",
        direction: Direction::Request,
        server: "s",
        tool: "t",
        method: "tools/call",
        caller: "anonymous",
        message,
        deadline: Instant::now() + within,
    }
}

async fn ask(module: &WasmModule) -> Result<CustomVerdict, String> {
    let verdict = module.judge(question("{}", Duration::from_secs(60))).await;
    verdict.map_err(|fault| fault.get("why").map_or_else(String::new, ToString::to_string))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_three_verdicts_come_through() {
    let allow = load(&module("(call $first)", r#"{"verdict":"allow"}"#, ""));
    assert_eq!(ask(&allow).await, Ok(CustomVerdict::Allow));
    let deny = load(&module("(call $first)", r#"{"verdict":"deny","category":"x","message":"m"}"#, ""));
    assert!(matches!(ask(&deny).await, Ok(CustomVerdict::Deny { message, .. }) if message == "m"));
    let redact = load(&module("(call $first)", r#"{"verdict":"redact","strings":["a"]}"#, ""));
    assert!(
        matches!(ask(&redact).await, Ok(CustomVerdict::Redact { request, .. }) if request.strings == ["a"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_is_where_it_says() {
    // Returns the request itself, which is parsed as a verdict and refused.
    let body = "(i64.or (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32)) (i64.extend_i32_u (local.get $length)))";
    let echo = load(&module(body, "", ""));
    let fault = echo.judge(question("{\"a\":[1]}", Duration::from_secs(60))).await.expect_err("no verdict");
    assert!(fault.operator().to_string().contains("an unknown member"), "{}", fault.operator());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_one_question_is_left_for_the_next() {
    let body = "(global.get $asked) (global.set $asked (i32.const 1)) (if (result i64) (then (call $second)) (else (call $first)))";
    let counting = load(&module(body, r#"{"verdict":"allow"}"#, r#"{"verdict":"deny"}"#));
    for _ in 0..5 {
        assert_eq!(ask(&counting).await, Ok(CustomVerdict::Allow));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_goes_wrong_there_is_no_verdict_and_the_next_question_is_answered() {
    let forever = "(loop $again (br $again)) (unreachable)";
    let bomb =
        "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (unreachable)";
    let deep = "(call $deep) (call $first)";
    let cases = [
        ("an endless loop", forever.to_owned(), "it used up its fuel"),
        ("a memory bomb", bomb.to_owned(), "it crashed"),
        ("a trap", "(unreachable)".to_owned(), "it crashed"),
        (
            "a division by zero",
            "(drop (i32.div_u (i32.const 1) (i32.const 0))) (call $first)".to_owned(),
            "it crashed",
        ),
        ("outside of its memory", "(i64.const 0x7fffffff00000010)".to_owned(), "it gave no proper verdict"),
        ("oversize", "(i64.const 0x0000000000020000)".to_owned(), "it gave no proper verdict"),
        ("nothing", "(i64.const 0)".to_owned(), "it gave no proper verdict"),
        ("nonsense", "(call $second)".to_owned(), "it gave no proper verdict"),
    ];
    for (name, body, why) in cases {
        let guard = load(&module(&body, r#"{"verdict":"allow"}"#, "perhaps"));
        for _ in 0..3 {
            assert_eq!(ask(&guard).await, Err(why.to_owned()), "{name}");
        }
    }
    let text = module(deep, r#"{"verdict":"allow"}"#, "")
        .replace("(func $first", "(func $deep (call $deep))\n  (func $first");
    assert_eq!(ask(&load(&text)).await, Err("it crashed".to_owned()), "endless recursion");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_does_not_fit_is_no_verdict() {
    let guard = load(&module("(call $first)", r#"{"verdict":"allow"}"#, ""));
    let large = format!("\"{}\"", "x".repeat(200_000));
    let fault = guard.judge(question(&large, Duration::from_secs(60))).await.expect_err("no room");
    assert!(fault.detail().contains("the message is too large for it"), "{fault}");
    let none =
        module("(call $first)", r#"{"verdict":"allow"}"#, "").replace("(i32.const 65536)", "(i32.const 0)");
    let fault = load(&none).judge(question("{}", Duration::from_secs(60))).await.expect_err("no room");
    assert!(fault.detail().contains("the message is too large for it"), "{fault}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_runs_past_the_deadline_is_stopped_and_leaves_its_place() {
    let limits = ModuleLimits { fuel: u64::MAX / 2, ..LIMITS };
    let forever = load_with(&module("(loop $again (br $again)) (unreachable)", "", ""), limits);
    let forever = Arc::new(forever);
    for _ in 0..6 {
        let asking = forever.judge(question("{}", Duration::from_millis(200)));
        let waited = tokio::time::timeout(Duration::from_millis(250), asking).await;
        assert!(!matches!(waited, Ok(Ok(_))), "it runs for ever");
    }
    // Both permits were released. Otherwise the later requests would have failed as queued.
    let asking = forever.judge(question("{}", Duration::from_millis(200)));
    let waited = tokio::time::timeout(Duration::from_millis(250), asking).await;
    assert!(waited.is_err() || waited.is_ok_and(|verdict| verdict.is_err()));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_questions_share_a_few_instances() {
    let guard = Arc::new(load(&module("(call $first)", r#"{"verdict":"allow"}"#, "")));
    let asked: Vec<_> = (0..100)
        .map(|_| {
            let guard = guard.clone();
            tokio::spawn(async move { ask(&guard).await })
        })
        .collect();
    for asked in asked {
        assert_eq!(asked.await.expect("asked"), Ok(CustomVerdict::Allow));
    }
}

#[test]
fn what_does_not_load_is_explained() {
    let whole = module("(call $first)", "{}", "");
    let cases = [
        ("", "this is no WebAssembly module: "),
        ("not a module", "this is no WebAssembly module: "),
        ("(component)", "this is no WebAssembly module: "),
        ("(module (func (result i32)))", "this is no WebAssembly module: "),
        ("(module)", "the module does not export its `memory`"),
        (r#"(module (memory (export "memory") 1))"#, "the module does not export the function `alloc`"),
        (
            r#"(module (memory (export "memory") 1) (func (export "alloc") (param i32) (result i32) (i32.const 0)))"#,
            "the module does not export the function `guard`",
        ),
        (
            &whole.replace("(param i32) (result i32) (i32.const 65536)", "(result i32) (i32.const 65536)"),
            "the function `alloc` has another type",
        ),
        (
            &whole.replace(r#"(export "memory") 2"#, r#"(export "memory") 2000"#),
            "the module begins with 131072000 bytes of memory",
        ),
        (
            r#"(module (import "wasi_snapshot_preview1" "fd_write" (func)))"#,
            "the module imports `fd_write` of `wasi_snapshot_preview1`",
        ),
        (
            &whole.replace("(module", "(module (start $spin) (func $spin (loop $x (br $x)))"),
            "the module does not start: ",
        ),
    ];
    for (text, what) in cases {
        let flaw = WasmModule::load(text.as_bytes(), LIMITS).expect_err(text);
        assert!(flaw.what.starts_with(what), "{text}: {flaw:?}");
        assert!(!flaw.help.is_empty() && !flaw.what.contains('\n'), "{flaw:?}");
    }
}

/// Recent compilers encode a table index in five bytes, because a module can have several tables.
#[test]
fn modules_of_todays_compilers_load() {
    let text = r#"(module
  (type $f (func (result i64)))
  (table 1 funcref) (elem (i32.const 0) $one)
  (memory (export "memory") 1)
  (func $one (type $f) (i64.const 0))
  (func (export "alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "guard") (param i32 i32) (result i64)
    (memory.fill (i32.const 0) (i32.const 0) (i32.const 8))
    (drop (i32.extend8_s (i32.const 1)))
    (drop (i32.trunc_sat_f32_s (f32.const 1)))
    (call_indirect (type $f) (i32.const 0))))"#;
    load(text);
}
