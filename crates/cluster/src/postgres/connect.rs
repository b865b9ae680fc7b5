use std::time::Duration;

use failwell_fault::Fault;
use tokio_postgres::Client;

use crate::postgres::errors::{because, failed, late};
use crate::postgres::settings::PostgresAddress;
use crate::postgres::tls::PostgresTls;

/// Opens a connection. Its driver runs as a task and ends with the client.
pub(crate) async fn connect(address: &PostgresAddress, limit: Duration) -> Result<Client, Fault> {
    let tls = PostgresTls::new(&address.trust)
        .await
        .map_err(|error| failed("TLS cannot be used").because(error))?;
    let mut config = address.config.clone();
    config.connect_timeout(limit);
    let connecting = tokio::time::timeout(limit, config.connect(tls)).await.map_err(|_| late(limit))?;
    let (client, connection) = connecting.map_err(because)?;
    // The user of the client sees an error of the connection on its next query.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(client)
}
