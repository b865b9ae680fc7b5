//! Real CPython for tests: one process, one JSON object per line.

#![allow(dead_code, reason = "each test uses its part")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use failwell_symbolic::analyse::{Evaluation, evaluate};
use failwell_symbolic::{
    Completion, ConditionOutcome, Program, ReplayOutcome, ReplayProblem, ReplayRequest, Replayer,
    SolverConnection,
};
use serde_json::{Value, json};

pub(crate) struct Python(Mutex<Inner>);

struct Inner {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Python {
    pub(crate) fn start() -> Self {
        let mut child = Command::new("python3")
            .args([
                "-I",
                "-u",
                "-c",
                concat!(include_str!("../../python/watch.py"), "\n", include_str!("cpython.py")),
            ])
            .env("PYTHONHASHSEED", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self(Mutex::new(Inner { child, input, output }))
    }

    pub(crate) fn ask(&self, request: &Value) -> Value {
        let mut inner = self.0.lock().expect("not poisoned");
        writeln!(inner.input, "{request}").expect("python3 reads");
        let mut line = String::new();
        inner.output.read_line(&mut line).expect("python3 answers");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        if let Ok(inner) = self.0.get_mut() {
            let _ = inner.child.kill();
            let _ = inner.child.wait();
        }
    }
}

/// Bodies of `f()`: CPython and the engine must agree on values, exceptions and their texts.
pub(crate) fn agree(bodies: &[&str]) {
    let python = Python::start();
    let module = |text: &&str| {
        let body: String = text.lines().map(|line| format!("    {line}\n")).collect();
        format!("def f():\n{body}")
    };
    let codes: Vec<String> = bodies.iter().map(module).collect();
    // Imports are slow on a busy machine.
    let requests: Vec<_> =
        codes.iter().map(|code| json!({"code": code, "args": [], "seconds": 30})).collect();
    let answers = python.ask(&json!({ "batch": requests }));
    let mut wrong = Vec::new();
    for (code, answer) in codes.iter().zip(answers.as_array().expect("answers")) {
        let text = |index: usize| answer[index].as_str().unwrap_or_default().to_owned();
        let theirs = match text(0).as_str() {
            "returned" => Evaluation::Returned(text(1)),
            _ => Evaluation::Raised(text(1), Some(text(2))),
        };
        let program = Program::parse(code).unwrap_or_else(|problem| panic!("{problem:?}: {code}"));
        let ours = evaluate(&program, "f", &[], 200_000);
        if ours != theirs {
            wrong.push(format!("{code}ours   {ours:?}\ntheirs {theirs:?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), codes.len(), wrong.join("\n"));
}

impl Replayer for Python {
    fn run(&self, request: &ReplayRequest<'_>) -> Result<ReplayOutcome, ReplayProblem> {
        let args: Vec<String> = request.args.iter().map(|value| value.to_literal()).collect();
        let kwargs: Vec<(String, String)> =
            request.kwargs.iter().map(|(name, value)| (name.clone(), value.to_literal())).collect();
        let conditions: Vec<Value> = request
            .conditions
            .iter()
            .map(|found| json!({"text": found.text, "before": found.before, "snapshot": found.snapshot}))
            .collect();
        let answer = self.ask(&json!({
            "code": request.code, "function": request.function, "args": args, "kwargs": kwargs, "conditions": conditions,
            "branches": request.branches,
        }));
        if let Some(broken) = answer.get("broken") {
            return Err(ReplayProblem::Broken(broken.to_string()));
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let ended = match (&answer["returned"], &answer["raised"]) {
            (Value::Array(parts), _) => {
                Completion::Returned { repr: text(&parts[0]), type_name: text(&parts[1]), value: None }
            }
            (_, raised) => Completion::Raised {
                class: text(&raised[0]),
                mro: raised[1].as_array().into_iter().flatten().map(text).collect(),
                message: text(&raised[2]),
                line: raised[3].as_u64().and_then(|line| u32::try_from(line).ok()),
                traceback: String::new(),
            },
        };
        let outcomes = answer["conditions"].as_array().into_iter().flatten();
        let conditions = outcomes
            .map(|outcome| match outcome.as_str().unwrap_or_default() {
                "holds" => ConditionOutcome::Holds,
                "fails" => ConditionOutcome::Fails,
                "none" => ConditionOutcome::NotEvaluated,
                other => ConditionOutcome::Raised(other.trim_start_matches('!').to_owned()),
            })
            .collect();
        let args_after = answer["after"].as_array().into_iter().flatten().map(text).collect();
        let sides = answer["sides"].as_array().into_iter().flatten();
        let sides = sides
            .filter_map(|one| Some((u32::try_from(one[0].as_u64()?).ok()?, one[1].as_bool()?)))
            .collect();
        Ok(ReplayOutcome { ended, args_after, conditions, sides })
    }

    fn solver(&self) -> Option<Box<dyn SolverConnection>> {
        Z3::start().map(|child| Box::new(child) as Box<dyn SolverConnection>)
    }
}

/// A separate solver for every analysis.
struct Z3 {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Z3 {
    /// `None` if there is none. The engine searches in the same places.
    fn start() -> Option<Self> {
        let tools =
            std::env::var_os("FAILWELL_TOOLS").map(|tools| format!("{}/python/bin/z3", tools.display()));
        let named = std::env::var_os("FAILWELL_Z3")
            .or_else(|| Some(tools?.into()).filter(|path| std::path::Path::new(path).is_file()));
        let mut child = Command::new(named.unwrap_or_else(|| "z3".into()))
            .args(["-in", "-smt2", "-memory:1024"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (mut input, output) = (child.stdin.take()?, child.stdout.take()?);
        input.write_all(b"(set-option :global-declarations true)\n").ok()?;
        let (sender, lines) = sync_channel(1024);
        std::thread::spawn(move || {
            let _ =
                BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line));
        });
        Some(Self { child, input, lines })
    }
}

impl SolverConnection for Z3 {
    fn ask(&mut self, commands: &str, deadline: Instant) -> Option<String> {
        self.input.write_all(commands.as_bytes()).ok()?;
        self.input.write_all(b"(echo \"<end>\")\n").ok()?;
        self.input.flush().ok()?;
        let mut output = String::new();
        loop {
            let left = deadline.checked_duration_since(Instant::now())?;
            match self.lines.recv_timeout(left).ok()? {
                line if line == "<end>" => return Some(output),
                line => output.push_str(&(line + "\n")),
            }
        }
    }
}

impl Drop for Z3 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
