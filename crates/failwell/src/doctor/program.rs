//! Checks of programs by their version output.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::CheckOutcome;

/// Maximum number of bytes read from a version output.
const MOST_OUTPUT: u64 = 4 * 1024;

/// Timeout of one command, so that a slow first one leaves time for the second.
const PATIENCE: Duration = Duration::from_millis(2_000);

/// Tries the commands until one succeeds.
pub(super) async fn look(tries: &[&[&str]], at_least: Option<(u32, u32)>) -> CheckOutcome {
    for line in tries {
        if let Some(output) = output_of(line).await {
            return judge(&output, at_least);
        }
    }
    let names: Vec<String> = tries.iter().map(|line| line.join(" ")).collect();
    CheckOutcome::missing(format!("`{}` does not work", names.first().map_or("", String::as_str)))
}

fn judge(output: &str, at_least: Option<(u32, u32)>) -> CheckOutcome {
    let Some(version) = version_in(output) else {
        let line = output.lines().next().unwrap_or_default();
        return CheckOutcome::ok(line.chars().filter(|c| !c.is_control()).take(60).collect::<String>());
    };
    match at_least {
        Some((major, minor)) if numbers(version) < (major, minor) => {
            CheckOutcome::old(format!("{version}, needs {major}.{minor} or newer"))
        }
        _ => CheckOutcome::ok(version),
    }
}

/// The first word that looks like a version: digits with at least one dot between them.
fn version_in(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|word| word.trim_matches('.'))
        .find(|word| word.contains('.') && word.len() <= 40)
}

fn numbers(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// The output of a command. `None` if it is missing, fails or exceeds its timeout.
async fn output_of(line: &[&str]) -> Option<String> {
    let (program, arguments) = line.split_first()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = Group(command.spawn().ok()?);
    let (status, output) = timeout(PATIENCE, child.finish()).await.ok()??;
    status.success().then_some(output)
}

/// A child with its process group. Dropping it ends the group.
struct Group(Child);

impl Group {
    async fn finish(&mut self) -> Option<(ExitStatus, String)> {
        let (out, err) = (self.0.stdout.take()?, self.0.stderr.take()?);
        let (out, err, status) = tokio::join!(some_of(out), some_of(err), self.0.wait());
        Some((status.ok()?, out + &err))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(pid) =
            self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

async fn some_of(stream: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    let _ = stream.take(MOST_OUTPUT).read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{CheckOutcome, judge, look, version_in};

    #[test]
    fn versions_are_read_from_what_programs_say() {
        for (output, version) in [
            ("Python 3.11.7", Some("3.11.7")),
            ("v20.20.2\n", Some("20.20.2")),
            ("Z3 version 4.13.0 - 64 bit", Some("4.13.0")),
            ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0", Some("7.0.15")),
            ("git version 2.43.0.", Some("2.43.0")),
            ("ChromeDriver 131.0.6778.85 (abc)", Some("131.0.6778.85")),
            ("hello", None),
            ("7", None),
        ] {
            assert_eq!(version_in(output), version, "{output}");
        }
    }

    #[test]
    fn an_outdated_version_is_distinguished_from_a_current_one() {
        assert_eq!(judge("v20.20.2", Some((22, 0))), CheckOutcome::old("20.20.2, needs 22.0 or newer"));
        assert_eq!(judge("Python 3.9.1", Some((3, 10))), CheckOutcome::old("3.9.1, needs 3.10 or newer"));
        assert_eq!(judge("Python 3.10.0", Some((3, 10))), CheckOutcome::ok("3.10.0"));
        assert_eq!(judge("something else", None), CheckOutcome::ok("something else"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn programs_that_fail_hang_or_shout_are_survived() {
        let fails: &[&[&str]] = &[&["sh", "-c", "echo 1.2; exit 3"]];
        assert_eq!(look(fails, None).await, CheckOutcome::missing("`sh -c echo 1.2; exit 3` does not work"));
        let second: &[&[&str]] = &[&["no-such-program"], &["sh", "-c", "echo 1.2 >&2"]];
        assert_eq!(look(second, None).await, CheckOutcome::ok("1.2"));
        let began = std::time::Instant::now();
        let hangs: &[&[&str]] = &[&["sh", "-c", "sleep 60 & sleep 60"]];
        assert_eq!(
            look(hangs, None).await,
            CheckOutcome::missing("`sh -c sleep 60 & sleep 60` does not work")
        );
        assert!(began.elapsed().as_secs() < 30);
    }
}
