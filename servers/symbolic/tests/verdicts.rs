//! Every analysis on functions with a known truth.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may stop at the first surprise"
)]

mod support;

use std::time::{Duration, Instant};

use failwell_symbolic::analyse::{Analysis, Depth};
use failwell_symbolic::report::{CheckVerdict, CompareVerdict, ExceptionVerdict, Failure, Reachability};
use failwell_symbolic::{Budget, NoProgress, Program};
use support::Python;

fn program(code: &str) -> Program {
    Program::parse(code).unwrap_or_else(|problem| panic!("{problem:?}: {code}"))
}

/// The step budget decides. The time limit allows for a busy machine.
fn budget() -> Budget {
    Budget { deadline: Instant::now() + Duration::from_secs(120), ..Budget::for_seconds(20) }
}

fn analysis<'a>(program: &'a Program, python: &'a Python) -> Analysis<'a> {
    Analysis { program, budget: budget(), replayer: python, progress: &NoProgress }
}

/// `verified`, `counterexample`, `inconclusive` or `failed`, with its description.
fn check(python: &Python, code: &str) -> (&'static str, String) {
    let program = program(code);
    let report = analysis(&program, python).check("f");
    let word = match &report.verdict {
        CheckVerdict::Verified => "verified",
        CheckVerdict::Counterexamples(_) => "counterexample",
        CheckVerdict::Inconclusive(_) => "inconclusive",
        CheckVerdict::Failed(_) => "failed",
    };
    (word, format!("{report:#?}"))
}

const CHECKS: &[(&str, &str)] = &[
    ("verified", "def f(x: int) -> int:\n    '''post: _ > x'''\n    return x + 1\n"),
    ("counterexample", "def f(x: int) -> int:\n    '''post: _ != 123456789'''\n    return x\n"),
    ("verified", "def f(x: int) -> int:\n    '''post: _ >= 0'''\n    return abs(x)\n"),
    (
        "verified",
        "def f(a: int, b: int) -> int:\n    '''\n    pre: b != 0\n    post: a == b * _ + a % b\n    '''\n    return a // b\n",
    ),
    ("counterexample", "def f(a: int, b: int) -> int:\n    return a // b\n"),
    ("counterexample", "def f(x: float) -> float:\n    '''post: _ > x'''\n    return x + 1.0\n"),
    (
        "counterexample",
        "def f(a: float, b: float, c: float) -> bool:\n    '''post: _'''\n    return (a + b) + c == a + (b + c)\n",
    ),
    (
        "verified",
        "def f(x: float) -> float:\n    '''\n    pre: x == x\n    post: _ >= 0.0\n    '''\n    return -x if x < 0.0 else x\n",
    ),
    ("verified", "def f(xs: list[int]) -> int:\n    if not xs:\n        return 0\n    return xs[0]\n"),
    ("counterexample", "def f(xs: list[int]) -> int:\n    return xs[0]\n"),
    ("verified", "def f(s: str) -> int:\n    '''post: _ >= 0'''\n    return len(s)\n"),
    ("counterexample", "def f(s: str) -> bool:\n    '''post: not _'''\n    return s == 'open sesame'\n"),
    ("counterexample", "def f(s: str) -> str:\n    '''post: len(_) == len(s)'''\n    return s.upper()\n"),
    ("verified", "def f(x: int) -> int:\n    assert x > 0\n    y = x * 2\n    assert y > x\n    return y\n"),
    (
        "counterexample",
        "def f(x: int) -> int:\n    assert x > 0\n    y = x * 2\n    assert y > x + 1\n    return y\n",
    ),
    (
        "inconclusive",
        "def f(x: int) -> int:\n    '''\n    pre: x > 0 and x < 0\n    post: False\n    '''\n    return x\n",
    ),
    (
        "verified",
        "def f(n: int) -> int:\n    '''post: _ >= 0'''\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n",
    ),
    // True, but no polynomial expresses it: there must be no proof.
    (
        "inconclusive",
        "def f(n: int) -> int:\n    '''post: _ % 2 == 0'''\n    total = 2\n    for i in range(n):\n        total *= 3\n    return total\n",
    ),
    // The loop stops before its last round: a claim about all rounds must not be used.
    (
        "counterexample",
        "def f(n: int) -> int:\n    '''\n    pre: n >= 0\n    post: _ == n\n    '''\n    total = 0\n    for i in range(n):\n        if i == 12:\n            break\n        total += 1\n    return total\n",
    ),
    // The round changes the iterated object.
    (
        "counterexample",
        "def f(xs: list[int]) -> int:\n    '''\n    pre: len(xs) <= 3\n    post: _ == len(__old__.xs)\n    '''\n    count = 0\n    for x in xs:\n        count += 1\n        if x == 4242 and count < 5:\n            xs.append(0)\n    return count\n",
    ),
    // A nested loop, and one that uses the result of the other.
    (
        "verified",
        "def f(n: int, m: int) -> int:\n    '''\n    pre: n >= 0 and m >= 0\n    post: _ >= 0\n    '''\n    total = 0\n    for i in range(n):\n        total += 1\n    for j in range(m):\n        total += 2\n    return total\n",
    ),
    (
        "counterexample",
        "def f(n: int) -> int:\n    '''\n    pre: n >= 0\n    post: _ != 1240\n    '''\n    total = 0\n    for i in range(n + 1):\n        total += i * i\n    return total\n",
    ),
    ("inconclusive", "def f(x):\n    return x\n"),
    (
        "verified",
        "def f(n: int) -> int:\n    '''\n    pre: 0 <= n <= 5\n    post: _ == n * (n + 1) // 2\n    '''\n    total = 0\n    for i in range(n + 1):\n        total += i\n    return total\n",
    ),
    (
        "verified",
        "def f(x: int) -> int:\n    '''raises: ValueError'''\n    if x < 0:\n        raise ValueError('negative')\n    return x\n",
    ),
    (
        "counterexample",
        "def f(x: int) -> int:\n    '''raises: KeyError'''\n    if x == 77777:\n        raise ValueError('negative')\n    return x\n",
    ),
    (
        "verified",
        "class E(Exception):\n    pass\n\ndef g(x: int) -> int:\n    if x > 10:\n        raise E(x)\n    return x\n\ndef f(x: int) -> int:\n    '''post: _ <= 10'''\n    try:\n        return g(x)\n    except E as e:\n        return 10\n    finally:\n        x = 0\n",
    ),
    (
        "verified",
        "import icontract\n\n@icontract.require(lambda x: x > 3)\n@icontract.ensure(lambda result, x: result > x)\ndef f(x: int) -> int:\n    return x * 2\n",
    ),
    (
        "counterexample",
        "import deal\n\n@deal.pre(lambda x: x > 3)\n@deal.post(lambda result: result != 100)\ndef f(x: int) -> int:\n    return x * 2\n",
    ),
    (
        "verified",
        "from dataclasses import dataclass\n\n@dataclass\nclass P:\n    x: int\n    y: int\n\ndef f(p: P) -> int:\n    '''post: _ == p.x + p.y'''\n    return p.y + p.x\n",
    ),
    (
        "counterexample",
        "from dataclasses import dataclass\n\n@dataclass\nclass P:\n    x: int\n    y: int\n\ndef f(p: P) -> int:\n    '''post: _ != 4242'''\n    return p.y + p.x\n",
    ),
    (
        "verified",
        "from enum import Enum\n\nclass C(Enum):\n    RED = 1\n    BLUE = 2\n\ndef f(c: C) -> int:\n    '''post: _ in (1, 2)'''\n    match c:\n        case C.RED:\n            return 1\n        case C.BLUE:\n            return 2\n",
    ),
    (
        "verified",
        "from typing import Optional\n\ndef f(x: Optional[int]) -> int:\n    '''post: _ >= 0'''\n    if x is None:\n        return 0\n    return x * x\n",
    ),
    (
        "counterexample",
        "def f(xs: list[int]) -> list[int]:\n    '''post: xs == __old__.xs'''\n    xs.append(1)\n    return xs\n",
    ),
    (
        "verified",
        "def f(a: bool, b: bool) -> bool:\n    '''post: _ == (not (a and b))'''\n    return (not a) or (not b)\n",
    ),
    (
        "verified",
        "def f(x: int) -> str:\n    '''\n    pre: 0 <= x < 100\n    post: len(_) <= 2\n    '''\n    return str(x)\n",
    ),
    (
        "counterexample",
        "def fact(n: int) -> int:\n    return 1 if n <= 1 else n * fact(n - 1)\n\ndef f(n: int) -> int:\n    '''post: _ != 120'''\n    return fact(n)\n",
    ),
    (
        "verified",
        "def f(d: dict[str, int]) -> int:\n    '''pre: len(d) <= 2'''\n    return d['a'] if 'a' in d else 0\n",
    ),
    ("verified", "def f(x: int) -> float:\n    return 1 / x if x else 0.0\n"),
    (
        "verified",
        "def f(x: float) -> bool:\n    '''\n    pre: x == x\n    post: _\n    '''\n    return x / 2.0 == x * 0.5\n",
    ),
    ("counterexample", "def f(s: str) -> int:\n    return int(s) if len(s) == 1 and s.isdigit() else 0\n"),
    ("counterexample", "def f(d: dict[str, int]) -> int:\n    return d['key']\n"),
    (
        "counterexample",
        "def f(x: int, y: int) -> int:\n    '''post: _ != 1000003'''\n    if x > 100 and y > 200 and x * 3 + y == 1000003:\n        return 1000003\n    return 0\n",
    ),
];

#[test]
fn contracts() {
    let python = Python::start();
    let mut wrong = Vec::new();
    for (wanted, code) in CHECKS {
        let (found, report) = check(&python, code);
        if found != *wanted {
            wrong.push(format!("{code}\nwanted {wanted}, found {found}: {report}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n----\n"));
}

#[test]
fn exceptions() {
    let python = Python::start();
    let code = "class Own(ValueError):\n    pass\n\ndef f(x: int, d: dict[str, int]) -> int:\n    if x == 31337:\n        raise KeyError(x)\n    if x == -5:\n        raise Own('five')\n    try:\n        y = 10 // x\n    except ZeroDivisionError:\n        y = 0\n    return y\n";
    let program = program(code);
    for (exception, wanted) in [
        ("LookupError", Some(vec![6])),
        ("ValueError", Some(vec![8])),
        ("Exception", Some(vec![6, 8])),
        ("ZeroDivisionError", None),
        ("IndexError", None),
    ] {
        let report = analysis(&program, &python).find_exception("f", exception);
        let found = match &report.verdict {
            ExceptionVerdict::Found(all) => Some(all.iter().map(|one| one.line).collect::<Vec<_>>()),
            ExceptionVerdict::Unreachable => None,
            other => panic!("{exception}: {other:?} {:?}", report.proof),
        };
        assert_eq!(found, wanted, "{exception}");
    }
    let report = analysis(&program, &python).find_exception("f", "Nonsense");
    assert_eq!(report.verdict, ExceptionVerdict::Failed(Failure::NoSuchException));
}

#[test]
fn comparisons() {
    let python = Python::start();
    for (wanted, code) in [
        (
            "equivalent",
            "def a(x: int, y: int) -> int:\n    return x + y\ndef b(x: int, y: int) -> int:\n    return y + x\n",
        ),
        ("different", "def a(x: int) -> int:\n    return 0\ndef b(x: int) -> int:\n    return x\n"),
        ("equivalent", "def a(x: int) -> int:\n    return x * 2\ndef b(x: int) -> int:\n    return x << 1\n"),
        (
            "different",
            "def a(x: int) -> int:\n    return 1\ndef b(x: int) -> int:\n    return 1 if x != 987654 else 2\n",
        ),
        ("different", "def a(x: int):\n    return x > 0\ndef b(x: int):\n    return 1 if x > 0 else 0\n"),
        (
            "different",
            "def a(xs: list[int]):\n    return len(xs)\ndef b(xs: list[int]):\n    xs.clear()\n    return 0\n",
        ),
        (
            "different",
            "def a(x: int):\n    if x == 12345: raise ValueError\n    return x\ndef b(x: int):\n    if x == 12345: raise KeyError\n    return x\n",
        ),
        (
            "equivalent",
            "def a(x: int):\n    if x < 0: raise ValueError('a')\n    return x\ndef b(x: int):\n    if not x >= 0: raise ValueError('b')\n    return x\n",
        ),
        (
            "equivalent",
            "def a(x: int) -> int:\n    '''pre: x > 0'''\n    return abs(x)\ndef b(x: int) -> int:\n    return x\n",
        ),
    ] {
        let program = program(code);
        let report = analysis(&program, &python).compare("a", "b");
        let found = match &report.verdict {
            CompareVerdict::Equivalent => "equivalent",
            CompareVerdict::Different(_) => "different",
            CompareVerdict::Failed(_) => "failed",
        };
        assert_eq!(found, wanted, "{code}\n{report:#?}");
    }
}

#[test]
fn branches() {
    let python = Python::start();
    let code = "def f(x: int) -> int:\n    if x * x < 0:\n        return -1\n    if x > 10:\n        if x == 5:\n            return 5\n        return 1\n    return 0\n";
    let program = program(code);
    let report = analysis(&program, &python).branches("f", Depth::Reachability);
    let sides: Vec<(u32, bool, bool)> = report
        .branches
        .iter()
        .map(|branch| {
            (
                branch.line,
                matches!(branch.when_true, Reachability::Yes(_)),
                matches!(branch.when_false, Reachability::Yes(_)),
            )
        })
        .collect();
    assert_eq!(sides, [(2, false, true), (4, true, true), (5, false, true)], "{report:#?}");
    assert_eq!(report.dead_code_lines, [3, 6]);
    assert_eq!(report.cyclomatic_complexity, 4);
    let syntax = analysis(&program, &python).branches("f", Depth::Syntax);
    assert!(syntax.branches.iter().all(|branch| branch.when_true == Reachability::Unknown));
}
