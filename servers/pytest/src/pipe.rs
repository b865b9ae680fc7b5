//! Reads events in batches. A reader that waits for every line is woken for every line, on a processor that the tests
//! could use; this one looks, takes what is there, and lets some more gather.

use std::io::{PipeReader, Read};
use std::time::Duration;

use failwell_process::EventReader;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;

/// How long events may gather. A pipe holds 64 KiB, which is many more than fit into this.
const GATHER: Duration = Duration::from_millis(4);
/// Short runs are read as they go: nothing is gained by gathering a few events.
const READ_AT_ONCE: usize = 64;
/// How often a reader that nobody listens to any more notices.
const LOOK_UP: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// Batches that may wait to be heard.
const MOST_WAITING: usize = 16;

/// What comes through the pipe, until it closes or nobody listens.
pub(crate) fn batches(events: EventReader) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(MOST_WAITING);
    if let Ok(pipe) = events.into_blocking_fd() {
        // A thread that cannot be started is a pipe that closes at once: the run is then judged by its exit alone.
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
