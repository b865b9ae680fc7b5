use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use failwell_server::{Next, Stream};
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// How long one write may take before the reader is given up.
const SLOWEST: Duration = Duration::from_secs(30);

/// Writes every frame as a line until there are no more, or nobody reads them.
pub async fn write_lines(stream: Arc<Stream>, mut output: impl AsyncWrite + Unpin) {
    let mut last = 0;
    loop {
        match stream.next(last).await {
            Next::End => return,
            Next::Pause(_) => {}
            Next::Frame(frame) => {
                last = frame.number;
                let line = async {
                    // In one piece: whoever reads lines is woken once.
                    output.write_all_buf(&mut Buf::chain(&frame.bytes[..], &b"\n"[..])).await?;
                    output.flush().await
                };
                if !matches!(tokio::time::timeout(SLOWEST, line).await, Ok(Ok(()))) {
                    return stream.abandon();
                }
            }
        }
    }
}
