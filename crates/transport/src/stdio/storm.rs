use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Answers at the most this many unreadable lines …
const MOST: usize = 10;
/// … within this time.
const WINDOW: Duration = Duration::from_secs(10);

/// Notices when a connection does nothing but send lines that cannot be read.
#[derive(Debug)]
pub(super) struct Storm {
    recent: VecDeque<Instant>,
    told: bool,
}

impl Storm {
    pub(super) fn new() -> Storm {
        Storm { recent: VecDeque::with_capacity(MOST), told: false }
    }

    pub(super) fn may_answer(&mut self) -> bool {
        self.may_answer_at(Instant::now())
    }

    fn may_answer_at(&mut self, now: Instant) -> bool {
        while self.recent.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            self.recent.pop_front();
        }
        if self.recent.len() >= MOST {
            return false;
        }
        self.recent.push_back(now);
        self.told = false;
        true
    }

    /// True once per storm.
    pub(super) fn just_began(&mut self) -> bool {
        !std::mem::replace(&mut self.told, true)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Storm, WINDOW};
    use std::time::Instant;

    #[test]
    fn a_storm_is_met_with_silence_and_forgiven() {
        let (mut storm, start) = (Storm::new(), Instant::now());
        for _ in 0..MOST {
            assert!(storm.may_answer_at(start));
        }
        assert!(!storm.may_answer_at(start));
        assert!(storm.just_began());
        assert!(!storm.may_answer_at(start));
        assert!(!storm.just_began());
        assert!(storm.may_answer_at(start + WINDOW));
    }
}
