//! The connection to Redis: opened on demand, dropped on failure, and reopened after a short back-off.

use std::time::{Duration, Instant};

use failwell_backoff::with_jitter;
use failwell_connect::Trust;
use failwell_fault::{Fault, OrFault, Secret, reason};
use redis::aio::{MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, RedisResult};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::redis_state::tls::RedisTls;

/// Maximum time to connect, and for one command.
pub(crate) const WAIT: Duration = Duration::from_secs(1);
/// Time without new attempts after a failure.
const PAUSE: Duration = Duration::from_millis(500);

const OVER_TLS: &str = "rediss://";

/// One connection, shared by all requests.
pub(crate) struct RedisConnection {
    client: Client,
    secure: Option<RedisTls>,
    slot: Mutex<ConnectionState>,
}

#[derive(Default)]
struct ConnectionState {
    connection: Option<MultiplexedConnection>,
    /// The number of the connection, so that a failed connection is dropped once, and not its successor.
    number: u64,
    backoff_until: Option<Instant>,
}

impl RedisConnection {
    pub(crate) fn new(url: &Secret<String>, trust: Trust) -> Result<RedisConnection, Fault> {
        let (url, secure) = match url.expose().strip_prefix(OVER_TLS) {
            Some(rest) => (format!("redis://{rest}"), Some(RedisTls::new(trust))),
            None => (url.expose().clone(), None),
        };
        let client = Client::open(url).or_fault(&reason::SERVER_STATE)?;
        Ok(RedisConnection { client, secure, slot: Mutex::default() })
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
        // The driver ends when the last handle of the connection is dropped.
        tokio::spawn(driver);
        Ok(connection)
    }

    /// Opens a connection for subscriptions.
    pub(crate) async fn subscribe(&self) -> RedisResult<PubSub> {
        let Some(secure) = &self.secure else { return self.client.get_async_pubsub().await };
        let info = self.client.get_connection_info();
        PubSub::new(info.redis_settings(), secure.connect(info.addr()).await?).await
    }

    async fn connection(&self) -> Result<(MultiplexedConnection, u64), Fault> {
        let mut slot = self.slot.lock().await;
        if let Some(connection) = &slot.connection {
            return Ok((connection.clone(), slot.number));
        }
        if slot.backoff_until.is_some_and(|until| until > Instant::now()) {
            return Err(Fault::new(&reason::SERVER_STATE).note("redis", "away a moment ago"));
        }
        match timeout(WAIT, self.connect()).await {
            Ok(Ok(connection)) => {
                slot.number += 1;
                slot.connection = Some(connection.clone());
                Ok((connection, slot.number))
            }
            failed => {
                slot.backoff_until = Some(Instant::now() + with_jitter(PAUSE));
                Err(match failed {
                    Ok(Err(error)) => unreachable(&error),
                    _ => timed_out(),
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

    async fn back_off(&self) {
        self.slot.lock().await.backoff_until = Some(Instant::now() + with_jitter(PAUSE));
    }

    /// Runs one command. If the connection turns out to be dead, the command is retried once on a new one.
    /// All commands of this crate are safe to run twice.
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
                        self.back_off().await;
                        return Err(unreachable(&error));
                    }
                }
                Ok(Err(error)) => return Err(unreachable(&error)),
                Err(_) => {
                    self.drop_connection(number).await;
                    self.back_off().await;
                    return Err(timed_out());
                }
            }
        }
    }
}

/// Returns true if the connection failed, not the command.
fn is_broken(error: &RedisError) -> bool {
    error.is_io_error() || error.is_connection_dropped() || error.is_timeout()
}

pub(crate) fn unreachable(error: &RedisError) -> Fault {
    Fault::new(&reason::SERVER_STATE).note("redis", error.to_string())
}

fn timed_out() -> Fault {
    Fault::new(&reason::SERVER_STATE).note("redis", "no answer in time")
}
