//! Compares the interpreter with CPython: values and exceptions.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may stop at the first surprise"
)]

mod generate;
mod support;

use failwell_symbolic::analyse::{Evaluation, evaluate};
use failwell_symbolic::{Program, PyValue};
use serde_json::{Value, json};
use support::Python;

/// The number of compared programs, and of programs per batch for CPython.
const PROGRAMS: u64 = 20_000;
const BATCH: u64 = 500;

/// Maximum share of random programs beyond the engine, in percent.
const MOST_UNKNOWN: u64 = 10;

#[test]
fn random_programs() {
    half(0);
}

/// The second half, so that both halves run in parallel.
#[test]
fn more_random_programs() {
    half(PROGRAMS / 2);
}

fn half(first: u64) {
    let python = Python::start();
    let count = PROGRAMS / 2;
    let (mut unknown, mut wrong, mut reasons) = (0, Vec::new(), Vec::new());
    for start in (first..first + count).step_by(BATCH as usize) {
        let programs: Vec<generate::GeneratedCode> = (start..start + BATCH).map(generate::program).collect();
        let requests: Vec<Value> =
            programs.iter().map(|program| json!({"code": program.code, "args": program.args})).collect();
        let answers = python.ask(&json!({ "batch": requests }));
        for (index, (program, answer)) in
            programs.iter().zip(answers.as_array().expect("answers")).enumerate()
        {
            match compare(program, answer) {
                Verdict::Same => {}
                Verdict::Unknown(why) => {
                    unknown += 1;
                    reasons.push(why);
                }
                Verdict::Different(how) => wrong.push(format!("seed {}: {how}", start + index as u64)),
            }
        }
    }
    reasons.sort();
    let mut counted: Vec<(usize, String)> =
        reasons.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0].clone())).collect();
    counted.sort();
    counted.reverse();
    counted.truncate(12);
    println!("{count} programs, {unknown} beyond the engine: {counted:#?}");
    let shown: Vec<&String> = wrong.iter().take(12).collect();
    assert!(wrong.is_empty(), "{} of {count} differ: {shown:#?}", wrong.len());
    assert!(
        unknown * 100 <= count * MOST_UNKNOWN,
        "{unknown} of {count} are beyond the engine: {counted:#?}"
    );
}

enum Verdict {
    Same,
    Unknown(String),
    Different(String),
}

/// The arguments are part of the code, so that both sides read the same text.
fn compare(program: &generate::GeneratedCode, answer: &Value) -> Verdict {
    let code = format!("{}\ndef call():\n    return f({})\n", program.code, program.args.join(", "));
    let parsed = match Program::parse(&code) {
        Ok(parsed) => parsed,
        Err(problem) => return Verdict::Different(format!("does not parse: {problem:?}\n{code}")),
    };
    let args: &[PyValue] = &[];
    if answer[0].as_str() == Some("skipped") {
        return Verdict::Unknown("too long for CPython".to_owned());
    }
    let ours = evaluate(&parsed, "call", args, 200_000);
    let theirs = match answer[0].as_str() {
        Some("returned") => Evaluation::Returned(answer[1].as_str().unwrap_or_default().to_owned()),
        _ => Evaluation::Raised(
            answer[1].as_str().unwrap_or_default().to_owned(),
            answer[2].as_str().map(str::to_owned),
        ),
    };
    match (&ours, &theirs) {
        (Evaluation::Unknown(why), _) => Verdict::Unknown(why.clone()),
        (Evaluation::Returned(a), Evaluation::Returned(b)) if a == b => Verdict::Same,
        (Evaluation::Raised(a, _), Evaluation::Raised(b, _)) if a == b => Verdict::Same,
        _ => Verdict::Different(format!("\n{code}\nours {ours:?}\ntheirs {theirs:?}")),
    }
}
