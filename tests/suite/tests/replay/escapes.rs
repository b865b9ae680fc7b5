use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use failwell_symbolic::{Completion, PyValue};

use super::{call, pool};

/// The expected outcome of an attempt.
enum EscapeResult {
    /// It raises this exception.
    Raise(&'static str),
    /// It finds nothing.
    Nothing,
    /// There is no answer.
    Fail,
    /// It returns the id of a process that it left running and that must be killed.
    NoProcessLeft,
}

#[tokio::test]
async fn nothing_gets_out_of_the_sandbox() {
    use EscapeResult::{Fail, NoProcessLeft, Nothing, Raise};
    let folder = std::env::temp_dir().join(format!("failwell-escapes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("secret"), "MARK").expect("a secret");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    listener.set_nonblocking(true).expect("a listener that does not wait");
    let port = listener.local_addr().expect("its address").port();
    let mut outsider = Command::new("sleep").arg("600").spawn().expect("somebody outside");
    let (out, secret) =
        (folder.join("out").display().to_string(), folder.join("secret").display().to_string());
    let attempts: Vec<(String, EscapeResult)> = vec![
        (format!("open('{out}', 'w').write('x')"), Raise("PermissionError")),
        (format!("open('{secret}').read()"), Raise("PermissionError")),
        (format!("os.unlink('{secret}')"), Raise("PermissionError")),
        (format!("os.rename('{secret}', '{out}')"), Raise("PermissionError")),
        (format!("os.symlink('{secret}', 'x')"), Raise("FileNotFoundError")),
        ("open('out', 'w')".to_owned(), Raise("FileNotFoundError")),
        ("open('/etc/passwd').read()".to_owned(), Raise("PermissionError")),
        ("open('/proc/self/environ').read()".to_owned(), Raise("PermissionError")),
        (format!("open('/proc/{}/mem', 'rb')", outsider.id()), Raise("PermissionError")),
        ("os.listdir('/')".to_owned(), Raise("PermissionError")),
        ("os.listdir('/tmp')".to_owned(), Raise("PermissionError")),
        ("dict(os.environ)".to_owned(), Nothing),
        (format!("socket.create_connection(('127.0.0.1', {port}), 1)"), Raise("PermissionError")),
        ("socket.socket(socket.AF_UNIX)".to_owned(), Raise("PermissionError")),
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)".to_owned(), Raise("PermissionError")),
        (format!("os.execv('/bin/sh', ['sh', '-c', 'echo x > {out}'])"), Raise("PermissionError")),
        ("os.execv(sys.executable, ['python', '-c', ''])".to_owned(), Raise("PermissionError")),
        (
            "os.execve(os.open(sys.executable, os.O_RDONLY), ['python'], {})".to_owned(),
            Raise("PermissionError"),
        ),
        ("os.posix_spawn(sys.executable, ['python'], {})".to_owned(), Raise("PermissionError")),
        (
            "os.execv('/lib64/ld-linux-x86-64.so.2', ['ld', sys.executable])".to_owned(),
            Raise("PermissionError"),
        ),
        (format!("os.chmod('{secret}', 0o4777)"), Raise("PermissionError")),
        ("os.chmod(sys.executable, 0o755)".to_owned(), Raise("PermissionError")),
        ("os.fchmod(os.open(sys.executable, os.O_RDONLY), 0o755)".to_owned(), Raise("PermissionError")),
        (format!("os.chown('{secret}', 0, 0)"), Raise("PermissionError")),
        (format!("os.utime('{secret}', (1, 1))"), Raise("PermissionError")),
        (format!("os.setxattr('{secret}', 'user.x', b'x')"), Raise("PermissionError")),
        (format!("os.kill({}, 9)", outsider.id()), Raise("PermissionError")),
        ("[os.fork() for _ in range(30)] and time.sleep(60)".to_owned(), Fail),
        ("os.fork() or (os.setsid(), time.sleep(600))".to_owned(), NoProcessLeft),
        ("os.kill(os.getppid(), 9) or time.sleep(60)".to_owned(), Fail),
        ("os.kill(-1, 9) or time.sleep(60)".to_owned(), Fail),
        ("bytearray(4 << 30)".to_owned(), Fail),
        ("os._exit(0)".to_owned(), Fail),
        ("ctypes.string_at(0)".to_owned(), Fail),
        ("os.closerange(3, 20)".to_owned(), Fail),
    ];
    let before = metadata_of(&folder.join("secret"));
    let pool = pool();
    for (attempt, must) in &attempts {
        let code = format!("import os, socket, sys, time, ctypes\ndef f():\n    return {attempt}\n");
        // A case without an answer may only end by its time limit.
        let limit = if matches!(must, EscapeResult::Fail) { 2 } else { 30 };
        let outcome = call(&pool, &code, &[], &[], Duration::from_secs(limit)).await;
        match (must, outcome) {
            (EscapeResult::Fail, Err(_)) => {}
            (EscapeResult::Raise(class), Ok(outcome)) => match outcome.ended {
                Completion::Raised { class: found, .. } => assert_eq!(found, *class, "{attempt}"),
                Completion::Returned { repr, .. } => panic!("{attempt} returned {repr}"),
            },
            (EscapeResult::Nothing, Ok(outcome)) => match outcome.ended {
                Completion::Returned { value, .. } => {
                    assert_eq!(value, Some(PyValue::Dict(vec![])), "{attempt}")
                }
                Completion::Raised { class, .. } => panic!("{attempt} raised {class}"),
            },
            (EscapeResult::NoProcessLeft, Ok(outcome)) => match outcome.ended {
                Completion::Returned { repr, .. } => is_gone(&repr).await,
                Completion::Raised { class, .. } => panic!("{attempt} raised {class}"),
            },
            (_, outcome) => panic!("{attempt}: {outcome:?}"),
        }
        // The next request is served in any case.
        let next = call(&pool, "def f():\n    return 1\n", &[], &[], Duration::from_secs(60)).await;
        assert!(next.is_ok(), "after {attempt}: {next:?}");
    }
    assert!(listener.accept().is_err(), "somebody connected");
    assert!(outsider.try_wait().expect("its state").is_none(), "the outsider is gone");
    outsider.kill().expect("it ends");
    outsider.wait().expect("it ended");
    let left: Vec<_> =
        std::fs::read_dir(&folder).expect("the folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["secret"]);
    assert_eq!(metadata_of(&folder.join("secret")), before);
    std::fs::remove_dir_all(&folder).expect("the folder goes again");
}

/// The mode and owner of a file, and its `ctime`, which every change of metadata updates.
fn metadata_of(file: &Path) -> (u32, u32, i64, i64) {
    let found = std::fs::metadata(file).expect("a file");
    (found.mode(), found.uid(), found.ctime(), found.ctime_nsec())
}

/// Code that validation cannot see. It runs only when the worker prints the exception.
const DISGUISED: &str = r#"
import string
u = chr(95) * 2
F = string.Formatter()
def get(thing, name):
    return F.get_field("0." + u + name + u, (thing,), {})[0]
class E(Exception):
    def __str__(self):
        done = []
        for one in get(get(get((), "class"), "base"), "subclasses")():
            if get(one, "name") != u[:1] + "wrap_close":
                continue
            system = get(get(one, "init"), "globals")
            for name, more in [
                ("chmod", (0o4777,)), ("chown", (0, 0)), ("utime", ((1, 1),)), ("setxattr", ("user.x", b"x")),
                ("execv", (["x"],)),
            ]:
                try:
                    system[name](PATH, *more)
                    done.append(name)
                except OSError as problem:
                    done.append(problem.errno)
        return str(done)
def f():
    raise E()
"#;

#[tokio::test]
async fn an_exception_changes_nothing_when_it_is_printed() {
    let file = std::env::temp_dir().join(format!("failwell-printed-{}", std::process::id()));
    std::fs::write(&file, "#!/bin/true\n").expect("a file");
    let before = metadata_of(&file);
    let code = DISGUISED.replace("PATH", &format!("'{}'", file.display()));
    let outcome = call(&pool(), &code, &[], &[], Duration::from_secs(60)).await.expect("an answer");
    let after = metadata_of(&file);
    std::fs::remove_file(&file).expect("the file goes again");
    let Completion::Raised { message, .. } = outcome.ended else { panic!("it returned") };
    assert_eq!((message.as_str(), after), ("[1, 1, 1, 1, 1]", before));
}

/// Code that reads the nonce of its own request can write a response itself. It also claims that the worker is ready,
/// writes responses for later requests, and keeps running.
const LIAR: &str = r#"
import json, os, sys, time
def f():
    mark = sys._getframe(1).f_locals["self"].request["nonce"]
    lie = {"returned": {"repr": "666", "type": "int", "value": {"i": "666"}}, "args_after": [], "conditions": [], "sides": []}
    lines = [{**lie, "nonce": mark}, {"ready": True}, {**lie, "nonce": mark}, {**lie, "nonce": None}, lie, {"ready": True}]
    for number in range(3, 64):
        try:
            os.write(number, "".join(json.dumps(line) + "\n" for line in lines).encode())
        except OSError:
            pass
    time.sleep(60)
"#;

#[tokio::test]
async fn a_client_cannot_answer_questions_of_another() {
    let pool = pool();
    for _ in 0..4 {
        let own = call(&pool, LIAR, &[], &[], Duration::from_secs(5)).await;
        assert!(
            matches!(&own, Ok(outcome) if matches!(&outcome.ended, Completion::Returned { repr, .. } if repr == "666")),
            "{own:?}"
        );
        // Three concurrent requests reach every worker.
        let others =
            (0..3).map(|_| call(&pool, "def f():\n    return 1\n", &[], &[], Duration::from_secs(60)));
        for other in futures_util::future::join_all(others).await {
            let outcome = other.expect("an answer");
            assert!(
                matches!(outcome.ended, Completion::Returned { value: Some(value), .. } if value == PyValue::int(1))
            );
        }
    }
}

async fn is_gone(pid: &str) {
    let process = std::path::Path::new("/proc").join(pid);
    for _ in 0..600 {
        if !process.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("process {pid} is still there");
}
