//! Shared by the servers under test: announcing the address, and stopping.

use std::io;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

/// A listener on a free port. Prints its address to standard output.
pub async fn open() -> io::Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    Ok(listener)
}

/// Completes when the parent process closes standard input, or ends.
pub async fn shutdown_requested() {
    let mut nothing = [0; 1];
    let _ = tokio::io::stdin().read(&mut nothing).await;
}
