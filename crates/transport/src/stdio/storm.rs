use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Maximum number of answered unreadable lines …
const MOST: usize = 10;
/// … within this time.
const WINDOW: Duration = Duration::from_secs(10);

/// The log line when the limit is reached.
pub(super) const NOTICE: &str = "{\"level\":\"warn\",\"service\":\"stdio\",\"message\":\"too many unreadable lines; \
                                 not answering them until ten seconds have passed\"}";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Answer,
    StopAnswering,
    Silence,
}

/// Detects a connection that sends only unreadable lines. A request or notification resets the count. A
/// response does not, because it may be the echo of our own error.
#[derive(Debug)]
pub(super) struct Storm {
    recent: VecDeque<Instant>,
    told: bool,
}

impl Storm {
    pub(super) fn new() -> Storm {
        Storm { recent: VecDeque::with_capacity(MOST), told: false }
    }

    pub(super) fn judge(&mut self) -> Verdict {
        self.judge_at(Instant::now())
    }

    /// Resets the count after a valid message.
    pub(super) fn calm(&mut self) {
        self.recent.clear();
    }

    fn judge_at(&mut self, now: Instant) -> Verdict {
        while self.recent.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            self.recent.pop_front();
        }
        if self.recent.len() < MOST {
            self.recent.push_back(now);
            self.told = false;
            return Verdict::Answer;
        }
        if std::mem::replace(&mut self.told, true) { Verdict::Silence } else { Verdict::StopAnswering }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Storm, Verdict, WINDOW};
    use std::time::Instant;

    #[test]
    fn a_storm_is_met_with_silence_and_forgiven() {
        let (mut storm, start) = (Storm::new(), Instant::now());
        for _ in 0..MOST {
            assert_eq!(storm.judge_at(start), Verdict::Answer);
        }
        assert_eq!(storm.judge_at(start), Verdict::StopAnswering);
        assert_eq!(storm.judge_at(start), Verdict::Silence);
        assert_eq!(storm.judge_at(start + WINDOW), Verdict::Answer);
        for _ in 0..MOST {
            storm.judge_at(start + WINDOW);
        }
        storm.calm();
        assert_eq!(storm.judge_at(start + WINDOW), Verdict::Answer);
    }
}
