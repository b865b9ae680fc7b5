use std::time::Duration;

use failwell_fault::Fault;
use tokio_postgres::Client;

use crate::settings::Address;
use crate::tls::Tls;
use crate::why::{because, failed, late};

/// A connection; what belongs to it runs beside, and ends with it.
pub(crate) async fn connect(address: &Address, limit: Duration) -> Result<Client, Fault> {
    let tls = Tls::of(&address.trust).await.map_err(|error| failed("TLS cannot be used").because(error))?;
    let mut config = address.config.clone();
    config.connect_timeout(limit);
    let connecting = tokio::time::timeout(limit, config.connect(tls)).await.map_err(|_| late(limit))?;
    let (client, connection) = connecting.map_err(because)?;
    // How it ends is found out by whoever uses the client.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(client)
}
