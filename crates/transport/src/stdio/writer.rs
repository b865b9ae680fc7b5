use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use failwell_pipeline::{Stream, StreamRead};
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Maximum time for one write before the connection is given up.
const SLOWEST: Duration = Duration::from_secs(30);

/// Writes each frame as a line until the stream ends or a write fails.
pub async fn write_lines(stream: Arc<Stream>, mut output: impl AsyncWrite + Unpin) {
    let mut last = 0;
    loop {
        match stream.next(last).await {
            StreamRead::End => return,
            StreamRead::Pause(_) => {}
            StreamRead::Frame(frame) => {
                last = frame.number;
                let line = async {
                    // Write frame and line break together, so that the reader wakes once.
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
