//! Reads events in batches. Waiting for every line would wake the reader for every line, on a processor that
//! the tests could use. This reader takes all available bytes and then lets more arrive.

use std::io::{PipeReader, Read};
use std::time::Duration;

use failwell_process::EventReader;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;

/// The pause in which events accumulate. A pipe holds 64 KiB, far more than arrive in this time.
const GATHER: Duration = Duration::from_millis(4);
/// The first reads have no pause, because batching does not help a short run.
const READ_AT_ONCE: usize = 64;
/// Interval of checking whether the receiver is gone.
const LOOK_UP: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// Capacity of the channel, in batches.
const MOST_WAITING: usize = 16;

/// The bytes of the pipe, until it closes or the receiver is gone.
pub(crate) fn batches(events: EventReader) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(MOST_WAITING);
    if let Ok(pipe) = events.into_blocking_fd() {
        // If the thread cannot be started, the pipe closes at once, and only the exit decides the verdict.
        let _ =
            std::thread::Builder::new().name("events".to_owned()).spawn(move || drain(pipe.into(), &sender));
    }
    receiver
}

fn drain(mut pipe: PipeReader, sender: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = vec![0; 64 * 1024];
    let mut batches = 0;
    while !sender.is_closed() {
        match poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&LOOK_UP)) {
            Ok(0) => continue,
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        let Ok(count @ 1..) = pipe.read(&mut buffer) else { return };
        let batch = buffer.get(..count).unwrap_or_default().to_vec();
        if sender.blocking_send(batch).is_err() {
            return;
        }
        batches += 1;
        if batches > READ_AT_ONCE {
            std::thread::sleep(GATHER);
        }
    }
}
