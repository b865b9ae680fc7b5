//! The connection: made when needed, dropped when it fails, and not tried again for a moment.

use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, Secret, reason};
use failwell_transport::Trust;
use redis::aio::{MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, RedisResult};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::secure::Secure;

/// How long connecting may take, and one command.
pub(crate) const WAIT: Duration = Duration::from_secs(1);
/// How long nobody tries again after a failure.
const REST: Duration = Duration::from_millis(500);

/// What an address over TLS begins with.
const OVER_TLS: &str = "rediss://";

/// One connection for everybody.
pub(crate) struct Link {
    client: Client,
    secure: Option<Secure>,
    slot: Mutex<Slot>,
}

#[derive(Default)]
struct Slot {
    connection: Option<MultiplexedConnection>,
    /// Counts connections, so that one that failed is dropped once and not its successor.
    number: u64,
    rest_until: Option<Instant>,
}

impl Link {
    pub(crate) fn new(url: &Secret<String>, trust: Trust) -> Result<Link, Fault> {
        let (url, secure) = match url.expose().strip_prefix(OVER_TLS) {
            Some(rest) => (format!("redis://{rest}"), Some(Secure::new(trust))),
            None => (url.expose().clone(), None),
        };
        let client = Client::open(url).or_fault(&reason::SERVER_STATE)?;
        Ok(Link { client, secure, slot: Mutex::default() })
    }

    async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(Some(WAIT)).set_response_timeout(Some(WAIT));
        let Some(secure) = &self.secure else {
            return self.client.get_multiplexed_async_connection_with_config(&config).await;
        };
        let info = self.client.get_connection_info();
        let stream = secure.connect(info.addr()).await?;
        let (connection, driver) =
            MultiplexedConnection::new_with_config(info.redis_settings(), stream, config).await?;
        // It ends with the last handle of the connection.
        tokio::spawn(driver);
        Ok(connection)
    }

    /// A connection to hear on.
    pub(crate) async fn ear(&self) -> RedisResult<PubSub> {
        let Some(secure) = &self.secure else { return self.client.get_async_pubsub().await };
        let info = self.client.get_connection_info();
        PubSub::new(info.redis_settings(), secure.connect(info.addr()).await?).await
    }

    async fn connection(&self) -> Result<(MultiplexedConnection, u64), Fault> {
        let mut slot = self.slot.lock().await;
        if let Some(connection) = &slot.connection {
            return Ok((connection.clone(), slot.number));
        }
        if slot.rest_until.is_some_and(|until| until > Instant::now()) {
            return Err(Fault::new(&reason::SERVER_STATE).note("redis", "away a moment ago"));
        }
        match timeout(WAIT, self.connect()).await {
            Ok(Ok(connection)) => {
                slot.number += 1;
                slot.connection = Some(connection.clone());
                Ok((connection, slot.number))
            }
            failed => {
                slot.rest_until = Some(Instant::now() + REST);
                Err(match failed {
                    Ok(Err(error)) => away(&error),
                    _ => late(),
                })
            }
        }
    }

    async fn drop_connection(&self, number: u64) {
        let mut slot = self.slot.lock().await;
        if slot.number == number {
            slot.connection = None;
        }
    }

    async fn rest(&self) {
        self.slot.lock().await.rest_until = Some(Instant::now() + REST);
    }

    /// One command. Tried a second time on a fresh connection when the one at hand turned out to be dead: each of ours
    /// may come twice.
    pub(crate) async fn run<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Fault> {
        let mut tries = 0;
        loop {
            tries += 1;
            let (mut connection, number) = self.connection().await?;
            match timeout(WAIT, command.query_async(&mut connection)).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(error)) if is_broken(&error) => {
                    self.drop_connection(number).await;
                    if tries == 2 {
                        self.rest().await;
                        return Err(away(&error));
                    }
                }
                Ok(Err(error)) => return Err(away(&error)),
                Err(_) => {
                    self.drop_connection(number).await;
                    self.rest().await;
                    return Err(late());
                }
            }
        }
    }
}

/// Whether the connection is to blame, and not the command.
fn is_broken(error: &RedisError) -> bool {
    error.is_io_error() || error.is_connection_dropped() || error.is_timeout()
}

pub(crate) fn away(error: &RedisError) -> Fault {
    Fault::new(&reason::SERVER_STATE).note("redis", error.to_string())
}

fn late() -> Fault {
    Fault::new(&reason::SERVER_STATE).note("redis", "no answer in time")
}
