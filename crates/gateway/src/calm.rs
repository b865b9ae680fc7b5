//! Many who say the same at once, heard once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use failwell_server::Event;

use crate::upstream::Changed;

/// For how long the same change is one change.
const WINDOW: Duration = Duration::from_millis(250);

/// What was told lately, and whether it was said again since.
#[derive(Default)]
pub(crate) struct Calm(Mutex<Vec<(Event, Again)>>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    No,
    Yes,
}

impl Calm {
    fn lock(&self) -> MutexGuard<'_, Vec<(Event, Again)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells everybody at once, or at the end of the window when it was just told.
    pub(crate) fn tell(self: &Arc<Self>, event: Event, changed: &Arc<Changed>) {
        {
            let mut recent = self.lock();
            if let Some((_, again)) = recent.iter_mut().find(|(known, _)| *known == event) {
                *again = Again::Yes;
                return;
            }
            recent.push((event.clone(), Again::No));
        }
        changed(event.clone(), None);
        let (calm, changed) = (self.clone(), changed.clone());
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(WINDOW).await;
                if calm.settle(&event) == Again::No {
                    return;
                }
                changed(event.clone(), None);
            }
        });
    }

    /// The window is over: whether it was said again within it.
    fn settle(&self, event: &Event) -> Again {
        let mut recent = self.lock();
        match recent.iter_mut().find(|(known, _)| known == event) {
            Some((_, again)) if *again == Again::Yes => {
                *again = Again::No;
                Again::Yes
            }
            _ => {
                recent.retain(|(known, _)| known != event);
                Again::No
            }
        }
    }
}
