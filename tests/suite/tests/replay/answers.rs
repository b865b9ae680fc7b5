use std::time::{Duration, Instant};

use failwell_symbolic::{Completion, Condition, ConditionOutcome, InstanceField, PyValue, ReplayProblem};

use super::{call, pool};

const LONG: Duration = Duration::from_secs(60);

/// Functions and their results, as text and as data.
#[tokio::test]
async fn values_come_back_as_data() {
    let pool = pool();
    let instance = PyValue::Instance {
        class: "P".to_owned(),
        fields: vec![InstanceField { name: "x".to_owned(), value: PyValue::int(1) }],
    };
    for (body, repr, value) in [
        ("None", "None", Some(PyValue::None)),
        ("True", "True", Some(PyValue::Bool(true))),
        ("-0.0", "-0.0", Some(PyValue::Float(-0.0))),
        ("2 ** 70", "1180591620717411303424", Some(PyValue::int(1_180_591_620_717_411_303_424_i128))),
        ("'a\\ud800'", "'a\\ud800'", Some(PyValue::Str(vec![97, 0xD800]))),
        (
            "(1, [2])",
            "(1, [2])",
            Some(PyValue::Tuple(vec![PyValue::int(1), PyValue::List(vec![PyValue::int(2)])])),
        ),
        ("{'k': 1}", "{'k': 1}", Some(PyValue::Dict(vec![(PyValue::text("k"), PyValue::int(1))]))),
        ("b'ab'", "b'ab'", Some(PyValue::Bytes(vec![97, 98]))),
        ("P(1)", "P(x=1)", Some(instance)),
        ("len", "<built-in function len>", None),
        ("iter([])", "<list_iterator object at 0x0>", None),
    ] {
        let code = format!(
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef f():\n    return {body}\n"
        );
        let outcome = call(&pool, &code, &[], &[], LONG).await.expect(body);
        let Completion::Returned { repr: printed, value: data, .. } = outcome.ended else {
            panic!("{body} raised")
        };
        assert_eq!((printed.as_str(), data), (repr, value), "{body}");
    }
}

#[tokio::test]
async fn exceptions_come_back_with_their_place_and_conditions_with_their_truth() {
    let pool = pool();
    let code = "class Mine(KeyError): pass\n\ndef g(x):\n    raise Mine(x)\n\ndef f(xs, n=2):\n    xs.append(n)\n    if n == 3:\n        g(n)\n    return len(xs)\n";
    let condition = |text: &str, before| Condition { text: text.to_owned(), before, snapshot: None };
    let conditions = [
        condition("len(xs) == 1", true),
        condition("_ == len(__old__.xs) + 1 and all(x <= n for x in xs)", false),
        condition("result > 5", false),
        condition("undefined_name", false),
        Condition { text: "len(xs)".to_owned(), before: true, snapshot: Some("size".to_owned()) },
        condition("OLD.size == 1", false),
    ];
    let args = [PyValue::List(vec![PyValue::int(1)])];
    let outcome = call(&pool, code, &args, &conditions, LONG).await.expect("an answer");
    assert_eq!(outcome.args_after, ["[1, 2]", "2"]);
    let raised = ConditionOutcome::Raised("NameError".to_owned());
    let holds = ConditionOutcome::Holds;
    let expected = [holds.clone(), holds.clone(), ConditionOutcome::Fails, raised, holds.clone(), holds];
    assert_eq!(outcome.conditions, expected);
    let args = [PyValue::List(vec![]), PyValue::int(3)];
    let outcome = call(&pool, code, &args, &[condition("True", false)], LONG).await.expect("an answer");
    assert_eq!(outcome.conditions, [ConditionOutcome::NotEvaluated]);
    let Completion::Raised { class, mro, message, line, traceback } = outcome.ended else {
        panic!("it returned")
    };
    assert_eq!((class.as_str(), message.as_str(), line), ("Mine", "3", Some(4)));
    assert_eq!(mro[..3], ["Mine", "KeyError", "LookupError"]);
    assert!(traceback.contains("line 9, in f") && traceback.contains("line 4, in g"), "{traceback}");
}

#[tokio::test]
async fn what_does_not_end_is_ended_and_the_next_call_is_answered() {
    let pool = pool();
    pool.warm().await.expect("a worker");
    let limit = Duration::from_millis(300);
    for code in
        ["def f():\n    while True: pass\n", "while True: pass\n", "def f():\n    return 10 ** 10 ** 10\n"]
    {
        let began = Instant::now();
        assert_eq!(call(&pool, code, &[], &[], limit).await, Err(ReplayProblem::TimedOut), "{code}");
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    }
    let outcome = call(&pool, "def f():\n    return 1\n", &[], &[], LONG).await;
    assert!(matches!(outcome.expect("an answer").ended, Completion::Returned { .. }));
}

#[tokio::test]
async fn memory_has_an_end() {
    let outcome = call(&pool(), "def f():\n    return len('a' * (1 << 33))\n", &[], &[], LONG).await;
    assert_eq!(outcome, Err(ReplayProblem::OutOfMemory));
    let own = call(&pool(), "def f():\n    raise MemoryError('mine')\n", &[], &[], LONG).await;
    assert!(matches!(own.expect("an answer").ended, Completion::Raised { .. }));
}

#[tokio::test]
async fn many_at_once_are_all_answered() {
    let pool = pool();
    let calls = (0..40).map(|number| {
        let pool = pool.clone();
        tokio::spawn(async move {
            let args = [PyValue::int(number)];
            call(&pool, "def f(x):\n    return x * x\n", &args, &[], LONG).await
        })
    });
    for (number, running) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        let outcome = running.await.expect("no panic").expect("an answer");
        let Completion::Returned { repr, .. } = outcome.ended else { panic!("it raised") };
        assert_eq!(repr, (number * number).to_string());
    }
}

#[tokio::test]
async fn python_has_the_last_word_on_what_compiles() {
    let pool = pool();
    let deadline = Instant::now() + LONG;
    for (code, line) in [
        ("x = 1\n", None),
        ("x = 1\nreturn x\n", Some(2)),
        ("def f():\n    nonlocal y\n", Some(2)),
        ("x = (\n", Some(1)),
    ] {
        assert_eq!(pool.compile(code, deadline).await, Ok(line), "{code}");
    }
}
