//! A child gets exactly what its plan names, and its exit is reported correctly.

use std::time::{Duration, Instant};

use crate::support::{run, shell, start, start_until_ready};
use failwell_process::{Caps, Environment, Exit, ExitCause, Input, Plan, Signal, Stdout};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn exits_are_reported_by_code_and_signal_name() {
    for (script, how) in [
        ("exit 0", ExitCause::Code(0)),
        ("exit 7", ExitCause::Code(7)),
        ("exit 255", ExitCause::Code(255)),
        ("kill -SEGV $$", ExitCause::Signal(Signal::parse("SIGSEGV").unwrap())),
        ("kill -ABRT $$", ExitCause::Signal(Signal::parse("SIGABRT").unwrap())),
        ("kill -KILL $$", ExitCause::Signal(Signal::KILL)),
        ("kill -TERM $$", ExitCause::Signal(Signal::TERM)),
    ] {
        let ended = run(shell(script)).await;
        assert_eq!(ended.how, how, "{script}");
        assert_eq!(ended.survivors, 0);
    }
}

#[tokio::test]
async fn the_environment_is_the_planned_one() {
    let mut plan = Plan::new("/usr/bin/env", "/").arguments(["-0"]);
    plan.environment = Environment::empty().with("ONE", "1").with("EMPTY", "").with("LINE", "a\nb");
    let ended = run(plan).await;
    let text = ended.output.stdout.text();
    let mut found: Vec<&str> = text.split_terminator('\0').collect();
    found.sort_unstable();
    assert_eq!(found, ["EMPTY=", "LINE=a\nb", "ONE=1"]);
}

#[tokio::test]
async fn descriptors_are_the_planned_ones() {
    // Without close-on-exec, every child would inherit this descriptor by fork and exec.
    let leak = std::fs::File::open("/etc/passwd").unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let script =
        "python3 -c 'import os; print(sorted(int(n) for n in os.listdir(\"/proc/self/fd\")))'; echo $EVENTS";
    let plain = run(shell(script)).await.output.stdout.text();
    // Descriptor 3 belongs to the listing itself.
    assert_eq!(plain, "[0, 1, 2, 3]\n\n");
    let mut plan = shell(script);
    plan.events = Some("EVENTS".into());
    let text = run(plan).await.output.stdout.text();
    let (listed, number) = text.trim_end().split_once('\n').unwrap();
    let number: i32 = number.parse().unwrap();
    let numbers: Vec<i32> =
        listed.trim_matches(['[', ']']).split(", ").map(|text| text.parse().unwrap()).collect();
    assert_eq!(numbers.len(), 5, "{listed}");
    assert!(number > 2 && numbers.contains(&number), "{number} in {listed}");
    drop(leak);
}

#[tokio::test]
async fn no_input_is_the_end_of_it() {
    let ended = run(shell("cat; readlink /proc/self/fd/0")).await;
    assert_eq!(ended.output.stdout.text(), "/dev/null\n");
}

#[tokio::test]
async fn pipes_carry_input_output_and_events() {
    let mut plan = shell("cat; eval \"echo event >&$EVENTS\"");
    plan.input = Input::Pipe;
    plan.stdout = Stdout::Piped;
    plan.events = Some("EVENTS".into());
    let mut child = start(plan).await;
    let (mut input, mut output) = (child.take_input().unwrap(), child.take_output().unwrap());
    let mut events = child.take_events().unwrap();
    assert!(child.take_input().is_none());
    input.write_all(b"hello").await.unwrap();
    let mut echoed = [0; 5];
    output.read_exact(&mut echoed).await.unwrap();
    assert_eq!(&echoed, b"hello");
    drop(input);
    let (mut rest, mut event) = (String::new(), String::new());
    output.read_to_string(&mut rest).await.unwrap();
    events.read_to_string(&mut event).await.unwrap();
    assert_eq!((rest.as_str(), event.as_str()), ("", "event\n"));
    let ended = child.wait().await;
    assert_eq!(ended.how, ExitCause::Code(0));
    assert_eq!(ended.output.stdout.total, 0);
    assert_eq!(child.wait().await, ended);
}

#[tokio::test]
async fn thirty_two_megabytes_on_both_pipes_are_drained() {
    let mut plan =
        shell("head -c 33554432 /dev/zero & head -c 33554432 /dev/zero >&2 & wait; echo end; echo END >&2");
    plan.output = Caps { head: 1000, tail: 500 };
    let ended = run(plan).await;
    assert_eq!(ended.how, ExitCause::Code(0));
    for (captured, last) in [(&ended.output.stdout, "end\n"), (&ended.output.stderr, "END\n")] {
        assert_eq!(captured.total, 33_554_436);
        assert_eq!((captured.head.len(), captured.tail.len()), (1000, 500));
        assert_eq!(captured.cut(), 33_554_436 - 1500);
        assert!(captured.tail.ends_with(last.as_bytes()));
    }
}

#[tokio::test]
async fn bytes_that_are_not_text_are_stored() {
    let ended = run(shell(r"printf '\377\000\376a'; printf '\000\300\200' >&2")).await;
    assert_eq!(ended.output.stdout.to_bytes(), b"\xff\0\xfea");
    assert_eq!(ended.output.stderr.to_bytes(), b"\0\xc0\x80");
}

#[tokio::test]
async fn signals_reach_the_child_alone() {
    let script = "trap 'echo got; exit 3' USR1; (trap 'echo WRONG' USR1; sleep 1) & echo ready; while :; do sleep 0.02; done";
    let (mut child, mut output) = start_until_ready(script).await;
    child.signal(Signal::USR1).await.unwrap();
    assert_eq!(child.wait().await.how, ExitCause::Code(3));
    let mut text = String::new();
    output.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "got\n");
    tokio::time::sleep(Duration::from_millis(20)).await;
    let late = child.signal(Signal::TERM).await.unwrap_err();
    assert_eq!(late.reason().id, "process/ENDED");
}

#[tokio::test]
async fn stopping_asks_first() {
    let script = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done";
    let (mut child, _output) = start_until_ready(script).await;
    let began = Instant::now();
    let ended = child.stop(Duration::from_secs(60)).await;
    assert_eq!((ended.how, ended.exit), (ExitCause::Stopped, Some(Exit::Code(5))));
    assert!(began.elapsed() < Duration::from_secs(40));
}
