//! Streams of sessions, written down frame by frame.

use std::collections::HashMap;

use failwell_fault::{Fault, OrFault, reason};
use failwell_server::{Frame, Happened, Opened, Track, Written};
use redis::cmd;

use crate::redis_state::Inner;

/// The entry that says that a stream is over comes behind every frame.
const LAST: u64 = u64::MAX;
/// The most entries read at once.
const MOST: usize = 1_000;

/// An entry: its id, and its fields.
type Entry = (String, HashMap<String, Vec<u8>>);

fn key(at: &Track) -> String {
    format!("failwell:stream:{}:{}:{}", at.of.house, at.of.session, at.number)
}

fn opened_key(at: &Track) -> String {
    format!("{}:opened", key(at))
}

impl Inner {
    pub(crate) async fn write_stream(&self, at: &Track, happened: Happened) -> Result<(), Fault> {
        let idle = self.idle.as_millis() as u64;
        let mut command = cmd("XADD");
        command.arg(key(at));
        match happened {
            Happened::Opened(opened) => {
                let text = serde_json::to_string(&opened).or_fault(&reason::SERVER_BUG)?;
                return self.link.run(cmd("SET").arg(opened_key(at)).arg(text).arg("PX").arg(idle)).await;
            }
            Happened::Said { frame, oldest } => {
                command.arg("MINID").arg(format!("{oldest}-0"));
                command.arg(format!("{}-1", frame.number)).arg("said").arg(&frame.bytes[..]);
            }
            Happened::Ended => {
                command.arg(format!("{LAST}-1")).arg("over").arg("");
            }
        }
        let _: String = self.link.run(&command).await?;
        for key in [key(at), opened_key(at)] {
            let _: u8 = self.link.run(cmd("PEXPIRE").arg(key).arg(idle)).await?;
        }
        Ok(())
    }

    pub(crate) async fn read_stream(&self, at: &Track, after: u64) -> Result<Option<Written>, Fault> {
        let opened: Option<String> = self.link.run(cmd("GET").arg(opened_key(at))).await?;
        let Some(opened) = opened else { return Ok(None) };
        let opened: Opened = serde_json::from_str(&opened).or_fault(&reason::SERVER_BUG)?;
        let mut command = cmd("XRANGE");
        command.arg(key(at)).arg(format!("{}-0", after.saturating_add(1))).arg("+").arg("COUNT").arg(MOST);
        let entries: Vec<Entry> = self.link.run(&command).await?;
        let mut written = Written { opened, frames: Vec::new(), is_over: false };
        for (id, mut fields) in entries {
            let number = id.split('-').next().and_then(|number| number.parse().ok()).unwrap_or(LAST);
            match fields.remove("said") {
                Some(bytes) => written.frames.push(Frame { number, bytes: bytes.into() }),
                None => written.is_over = true,
            }
        }
        Ok(Some(written))
    }
}
