//! Attacks on verdicts of random programs: a proof must hold in CPython, and a finding must be reproducible.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may stop at the first surprise"
)]

mod generate;
mod support;

use failwell_symbolic::analyse::Analysis;
use failwell_symbolic::report::{CheckVerdict, CompareVerdict, Failure};
use failwell_symbolic::{Budget, NoProgress, Program};
use serde_json::json;
use support::Python;

/// The number of analysed programs, and of inputs per proof.
const PROGRAMS: u64 = 40;
const ATTACKS: u64 = 200;

fn budget() -> Budget {
    Budget {
        interpreter_steps: 50_000,
        solver_steps: 400_000,
        question_steps: 100_000,
        // The step budget decides. The time limit allows for a busy machine.
        ..Budget::for_seconds(20)
    }
}

fn analysis<'a>(program: &'a Program, python: &'a Python) -> Analysis<'a> {
    Analysis { program, budget: budget(), replayer: python, progress: &NoProgress }
}

/// CPython's outcomes for random arguments: `returned …` or `raised …`, one text each.
fn attack(python: &Python, code: &str, kinds: &[generate::Type], seed: u64) -> Vec<(Vec<String>, String)> {
    let rows: Vec<Vec<String>> =
        (0..ATTACKS).map(|index| generate::arguments(kinds, seed * 1_000 + index)).collect();
    let requests: Vec<_> = rows.iter().map(|args| json!({"code": code, "args": args})).collect();
    let answers = python.ask(&json!({ "batch": requests }));
    let texts = answers.as_array().expect("answers").iter().map(|answer| match answer[0].as_str() {
        Some("raised") => format!("raised {}", answer[1]),
        _ => answer.to_string(),
    });
    rows.into_iter().zip(texts.collect::<Vec<_>>()).collect()
}

#[test]
fn proofs_hold() {
    let python = Python::start();
    let first: u64 =
        std::env::var("ATTACK_FROM").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let (mut verified, mut broken, mut open, mut mismatches) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for seed in first..first + PROGRAMS {
        let generated = generate::program(seed);
        let program = Program::parse(&generated.annotated).expect("it parses");
        let report = analysis(&program, &python).check("f");
        mismatches += report.proof.mismatches;
        if report.proof.mismatches > 0 {
            wrong
                .push(format!("seed {seed}: CPython disagrees\n{}\n{:?}", generated.annotated, report.proof));
        }
        match report.verdict {
            CheckVerdict::Verified => {
                verified += 1;
                for (args, answer) in attack(&python, &generated.code, &generated.kinds, seed) {
                    if answer.starts_with("raised") {
                        wrong.push(format!(
                            "seed {seed}: f({}) {answer}\n{}",
                            args.join(", "),
                            generated.annotated
                        ));
                        break;
                    }
                }
            }
            CheckVerdict::Counterexamples(_) => broken += 1,
            CheckVerdict::Inconclusive(Failure::Bug(what)) | CheckVerdict::Failed(Failure::Bug(what)) => {
                wrong.push(format!("seed {seed}: {what}\n{}", generated.annotated));
            }
            CheckVerdict::Inconclusive(_) | CheckVerdict::Failed(_) => open += 1,
        }
    }
    println!("{verified} verified, {broken} with a counterexample, {open} open, {mismatches} mismatches");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.iter().take(6).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(verified >= 3 && broken >= 5, "{verified} verified, {broken} broken");
}

/// Compares a program with a slightly changed one.
#[test]
fn equivalences_hold() {
    let python = Python::start();
    let first: u64 =
        std::env::var("ATTACK_FROM").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000_000);
    let (mut equivalent, mut different, mut open) = (0, 0, 0);
    let mut wrong = Vec::new();
    for seed in first..first + PROGRAMS {
        let generated = generate::program(seed);
        let changed = change(&generated.annotated, seed);
        let changed_plain = change(&generated.code, seed);
        let cut = |code: &str| code.find("def f(").map_or(0, |at| at);
        let body = |code: &str| code.get(cut(code)..).unwrap_or_default().to_owned();
        let helper = generated.annotated.get(..cut(&generated.annotated)).unwrap_or_default();
        let code = format!(
            "{helper}{}\n{}",
            body(&generated.annotated),
            body(&changed).replacen("def f(", "def f2(", 1)
        );
        let program = Program::parse(&code).expect("it parses");
        let report = analysis(&program, &python).compare("f", "f2");
        if report.proof.mismatches > 0 {
            wrong.push(format!("seed {seed}: CPython disagrees\n{code}\n{:?}", report.proof));
        }
        match report.verdict {
            CompareVerdict::Equivalent => {
                equivalent += 1;
                let a = attack(&python, &generated.code, &generated.kinds, seed);
                let b = attack(&python, &changed_plain, &generated.kinds, seed);
                for ((args, a), (_, b)) in a.into_iter().zip(b) {
                    if a != b && !a.contains("skipped") && !b.contains("skipped") {
                        wrong.push(format!("seed {seed}: ({}) {a} against {b}\n{code}", args.join(", ")));
                        break;
                    }
                }
            }
            CompareVerdict::Different(_) => different += 1,
            CompareVerdict::Failed(Failure::Bug(what)) => wrong.push(format!("seed {seed}: {what}\n{code}")),
            CompareVerdict::Failed(_) => open += 1,
        }
    }
    println!("{equivalent} equivalent, {different} different, {open} open");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.iter().take(6).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(equivalent >= 3, "{equivalent} equivalent, {different} different");
}

/// Replaces one operator by another that is often equivalent.
fn change(code: &str, seed: u64) -> String {
    let pairs = [
        (" + ", " - "),
        (" < ", " <= "),
        (" and ", " or "),
        (" > ", " >= "),
        ("min(", "max("),
        ("= 0", "= 1"),
        (" // ", " % "),
    ];
    let at = usize::try_from(seed % 7).expect("small");
    let cut = code.find("def f(").unwrap_or(0);
    let (head, body) = code.split_at(cut);
    let (from, to) = pairs[at];
    format!("{head}{}", body.replacen(from, to, 1))
}
