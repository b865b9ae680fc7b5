//! Merges equal change events that arrive within a short time: every session of an upstream announces the same
//! change.

use std::sync::Arc;
use std::time::Duration;

use failwell_toolbox::Event;
use parking_lot::Mutex;

use crate::upstream::ChangeListener;

const WINDOW: Duration = Duration::from_millis(250);

/// Events of the current window, and whether each was repeated.
#[derive(Default)]
pub(crate) struct Debouncer(Mutex<Vec<(Event, Repeat)>>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeat {
    No,
    Yes,
}

impl Debouncer {
    /// Forwards an event at once, or at the end of the window if it was forwarded within it.
    pub(crate) fn notify(self: &Arc<Self>, event: Event, changed: &Arc<ChangeListener>) {
        {
            let mut recent = self.0.lock();
            if let Some((_, again)) = recent.iter_mut().find(|(known, _)| *known == event) {
                *again = Repeat::Yes;
                return;
            }
            recent.push((event.clone(), Repeat::No));
        }
        changed(event.clone(), None);
        let (debouncer, changed) = (self.clone(), changed.clone());
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(WINDOW).await;
                if debouncer.end_window(&event) == Repeat::No {
                    return;
                }
                changed(event.clone(), None);
            }
        });
    }

    /// Ends the window. Returns whether the event was repeated within it.
    fn end_window(&self, event: &Event) -> Repeat {
        let mut recent = self.0.lock();
        match recent.iter_mut().find(|(known, _)| known == event) {
            Some((_, again)) if *again == Repeat::Yes => {
                *again = Repeat::No;
                Repeat::Yes
            }
            _ => {
                recent.retain(|(known, _)| known != event);
                Repeat::No
            }
        }
    }
}
