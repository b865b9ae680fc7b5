//! Load on the program itself: configuration reloads and silent connections.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::SETTLING;
use crate::verdict::Verdict;

/// The number of silent connections, and of those with half a request head.
const SILENT: usize = 40;
const BETWEEN_RELOADS: Duration = Duration::from_millis(1_500);

/// Saves the configuration repeatedly, each time with another setting of one upstream, while calls run.
pub(crate) async fn reloads(folder: &Path, config: &str, end: Instant, verdict: &Verdict) {
    let file = folder.join("failwell.toml");
    let mut limit = 100_000;
    while Instant::now() + BETWEEN_RELOADS < end {
        tokio::time::sleep(BETWEEN_RELOADS).await;
        limit += 1;
        let changed = config.replace("max_message_bytes = 100000", &format!("max_message_bytes = {limit}"));
        assert_ne!(changed, config, "the setting is there");
        std::fs::write(&file, changed).expect("the file is saved");
        verdict.count("(saved the file)".to_owned());
    }
}

/// Opens connections that send nothing and connections that send half a head. The program must close both.
pub(crate) async fn silence(address: SocketAddr, verdict: &Verdict) {
    let mut half = Vec::new();
    for _ in 0..SILENT {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127").await.expect("half a head is sent");
        half.push(stream);
    }
    let closed = join_all((0..SILENT).map(|_| is_closed(address))).await;
    let left = closed.iter().filter(|closed| !**closed).count();
    verdict.check(left == 0, || format!("{left} of {SILENT} silent connections stay open"));
    verdict.figure(format!("silence: {SILENT} connections closed"));
}

async fn is_closed(address: SocketAddr) -> bool {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let mut rest = Vec::new();
    tokio::time::timeout(SETTLING, stream.read_to_end(&mut rest)).await.is_ok()
}
