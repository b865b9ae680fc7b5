//! The event streams of sessions, stored frame by frame.

use std::collections::HashMap;

use failwell_fault::{Fault, OrFault, reason};
use failwell_pipeline::{Frame, StreamEvent, StreamOpening, StreamRecord, Track};
use redis::cmd;

use crate::redis_state::RedisNode;

/// The id of the entry that ends a stream; it sorts after all frames.
const LAST: u64 = u64::MAX;
/// Maximum number of entries read at once.
const MOST: usize = 1_000;

/// The id and the fields of an entry.
type Entry = (String, HashMap<String, Vec<u8>>);

fn key(at: &Track) -> String {
    format!("failwell:stream:{}:{}:{}", at.of.pipeline, at.of.session, at.number)
}

fn opened_key(at: &Track) -> String {
    format!("{}:opened", key(at))
}

impl RedisNode {
    pub(crate) async fn write_stream(&self, at: &Track, happened: StreamEvent) -> Result<(), Fault> {
        let idle = self.idle.as_millis() as u64;
        let mut command = cmd("XADD");
        command.arg(key(at));
        match happened {
            StreamEvent::Opened(opened) => {
                let text = serde_json::to_string(&opened).or_fault(&reason::SERVER_BUG)?;
                return self.redis.run(cmd("SET").arg(opened_key(at)).arg(text).arg("PX").arg(idle)).await;
            }
            StreamEvent::Frame { frame, oldest } => {
                command.arg("MINID").arg(format!("{oldest}-0"));
                command.arg(format!("{}-1", frame.number)).arg("said").arg(&frame.bytes[..]);
            }
            StreamEvent::Ended => {
                command.arg(format!("{LAST}-1")).arg("over").arg("");
            }
        }
        let _: String = self.redis.run(&command).await?;
        for key in [key(at), opened_key(at)] {
            let _: u8 = self.redis.run(cmd("PEXPIRE").arg(key).arg(idle)).await?;
        }
        Ok(())
    }

    pub(crate) async fn read_stream(&self, at: &Track, after: u64) -> Result<Option<StreamRecord>, Fault> {
        let opened: Option<String> = self.redis.run(cmd("GET").arg(opened_key(at))).await?;
        let Some(opened) = opened else { return Ok(None) };
        let opened: StreamOpening = serde_json::from_str(&opened).or_fault(&reason::SERVER_BUG)?;
        let mut command = cmd("XRANGE");
        command.arg(key(at)).arg(format!("{}-0", after.saturating_add(1))).arg("+").arg("COUNT").arg(MOST);
        let entries: Vec<Entry> = self.redis.run(&command).await?;
        let mut written = StreamRecord { opened, frames: Vec::new(), is_over: false };
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
