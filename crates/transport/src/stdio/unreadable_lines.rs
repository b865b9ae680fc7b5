use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Maximum number of unreadable lines that are answered at once …
const MOST: usize = 10;
/// … within this time.
const WINDOW: Duration = Duration::from_secs(10);
/// The pause before the next line is read, after a further request that is answered.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// The log message when the limit is reached.
pub(super) const NOTICE: &str =
    "too many unreadable lines; reading them slowly, and not answering those without an id, for ten seconds";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Answer,
    /// Too many. One log line says so.
    FirstTooMany,
    TooMany,
}

/// Detects a connection that sends only unreadable lines. A request or notification resets the count. A
/// response does not, because it may be the echo of our own error.
#[derive(Debug)]
pub(super) struct UnreadableLines {
    recent: VecDeque<Instant>,
    reported: bool,
}

impl UnreadableLines {
    pub(super) fn new() -> UnreadableLines {
        UnreadableLines { recent: VecDeque::with_capacity(MOST), reported: false }
    }

    pub(super) fn judge(&mut self) -> Verdict {
        self.judge_at(Instant::now())
    }

    /// Resets the count after a valid message.
    pub(super) fn reset(&mut self) {
        self.recent.clear();
    }

    fn judge_at(&mut self, now: Instant) -> Verdict {
        while self.recent.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            self.recent.pop_front();
        }
        if self.recent.len() < MOST {
            self.recent.push_back(now);
            self.reported = false;
            return Verdict::Answer;
        }
        if std::mem::replace(&mut self.reported, true) { Verdict::TooMany } else { Verdict::FirstTooMany }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, UnreadableLines, Verdict, WINDOW};
    use std::time::Instant;

    #[test]
    fn a_storm_is_noticed_once_and_forgiven() {
        let (mut unreadable_lines, start) = (UnreadableLines::new(), Instant::now());
        for _ in 0..MOST {
            assert_eq!(unreadable_lines.judge_at(start), Verdict::Answer);
        }
        assert_eq!(unreadable_lines.judge_at(start), Verdict::FirstTooMany);
        assert_eq!(unreadable_lines.judge_at(start), Verdict::TooMany);
        assert_eq!(unreadable_lines.judge_at(start + WINDOW), Verdict::Answer);
        for _ in 0..MOST {
            unreadable_lines.judge_at(start + WINDOW);
        }
        unreadable_lines.reset();
        assert_eq!(unreadable_lines.judge_at(start + WINDOW), Verdict::Answer);
    }
}
