//! The database of approvals and pins in Redis: its bytes and their version.
//!
//! SQLite is used on threads that block, so this is too: commands run on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use failwell_connect::Trust;
use failwell_fault::{Fault, OrFault, Secret, reason};
use failwell_store::{SharedImage, VersionedImage};
use redis::cmd;

use crate::redis_state::connection::RedisConnection;
use crate::redis_state::random;

const KEY: &str = "failwell:consent";
/// Commands that wait for the thread.
const MOST_WAITING: usize = 64;
/// Longer than a command with its retry may take.
const PATIENCE: Duration = Duration::from_secs(5);

const LOAD: &str = "
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if version == tonumber(ARGV[1]) then return {version, ''} end
return {version, redis.call('HGET', KEYS[1], 'image') or ''}";

/// Returns success if this writer already replaced it: the command may be a retry whose response was lost.
const REPLACE: &str = "
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
local before = tonumber(ARGV[1])
if version == before + 1 and redis.call('HGET', KEYS[1], 'writer') == ARGV[2] then return 1 end
if version ~= before then return 0 end
redis.call('HSET', KEYS[1], 'version', before + 1, 'writer', ARGV[2], 'image', ARGV[3])
return 1";

/// The image in Redis or Valkey.
#[derive(Debug)]
pub struct RedisImage(SyncSender<ImageCommand>);

enum ImageCommand {
    Load { known: u64, reply: SyncSender<Result<VersionedImage, Fault>> },
    Replace { before: u64, bytes: Vec<u8>, reply: SyncSender<Result<bool, Fault>> },
}

impl RedisImage {
    /// Starts the thread. It connects when it is first asked.
    pub fn new(url: &Secret<String>, trust: Trust) -> Result<Arc<RedisImage>, Fault> {
        let redis = RedisConnection::new(url, trust)?;
        let (sender, commands) = sync_channel(MOST_WAITING);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.or_fault(&reason::SERVER_STATE)?;
        let serving = move || runtime.block_on(serve(&redis, &commands));
        std::thread::Builder::new()
            .name("consent".to_owned())
            .spawn(serving)
            .or_fault(&reason::SERVER_STATE)?;
        Ok(Arc::new(RedisImage(sender)))
    }

    fn ask<T>(&self, command: impl FnOnce(SyncSender<Result<T, Fault>>) -> ImageCommand) -> Result<T, Fault> {
        let (reply, answer) = sync_channel(1);
        self.0.try_send(command(reply)).or_fault(&reason::SERVER_STATE)?;
        answer.recv_timeout(PATIENCE).or_fault(&reason::SERVER_STATE)?
    }
}

/// Runs commands until the handle is dropped. The runtime has nothing else to do while it waits for one.
async fn serve(redis: &RedisConnection, commands: &Receiver<ImageCommand>) {
    while let Ok(command) = commands.recv() {
        match command {
            ImageCommand::Load { known, reply } => {
                let mut load = cmd("EVAL");
                load.arg(LOAD).arg(1).arg(KEY).arg(known);
                let found = redis.run::<(u64, Vec<u8>)>(&load).await;
                let _ = reply.send(found.map(|(version, bytes)| VersionedImage { version, bytes }));
            }
            ImageCommand::Replace { before, bytes, reply } => {
                let replaced = match random(8) {
                    Ok(writer) => {
                        let mut replace = cmd("EVAL");
                        replace.arg(REPLACE).arg(1).arg(KEY).arg(before).arg(writer).arg(bytes);
                        redis.run::<bool>(&replace).await
                    }
                    Err(fault) => Err(fault),
                };
                let _ = reply.send(replaced);
            }
        }
    }
}

/// Without the image no decision is possible.
fn undecided(fault: Fault) -> Fault {
    Fault::new(&reason::POLICY_UNDECIDED).absorbing(fault)
}

impl SharedImage for RedisImage {
    fn load(&self, known: u64) -> Result<Option<VersionedImage>, Fault> {
        let found = self.ask(|reply| ImageCommand::Load { known, reply }).map_err(undecided)?;
        Ok((found.version != known).then_some(found))
    }

    fn replace(&self, before: u64, bytes: &[u8]) -> Result<bool, Fault> {
        let bytes = bytes.to_vec();
        self.ask(|reply| ImageCommand::Replace { before, bytes, reply }).map_err(undecided)
    }
}
