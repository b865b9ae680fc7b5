use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Reads lines up to a maximum length. Of a longer line only the start is kept, and the rest is skipped.
pub struct Lines<R> {
    input: R,
    buffer: BytesMut,
    searched: usize,
    cap: usize,
    skipping: Option<Bytes>,
    ended: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum InputLine {
    /// A line within the maximum, without its line break.
    Whole(Bytes),
    /// The start of a line that exceeds the maximum.
    TooLong(Bytes),
}

/// Bytes kept of an overlong line: enough to find its id.
const KEPT: usize = 64 * 1024;
/// Bytes per read.
const CHUNK: usize = 64 * 1024;

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of at most `cap` bytes.
    pub fn new(input: R, cap: usize) -> Lines<R> {
        Lines { input, buffer: BytesMut::new(), searched: 0, cap, skipping: None, ended: false }
    }

    /// The next non-empty line; `None` at the end of input. Cancel-safe.
    pub async fn next(&mut self) -> Option<InputLine> {
        loop {
            if let Some(line) = self.take_line() {
                return Some(line);
            }
            self.buffer.reserve(CHUNK);
            match self.input.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => {
                    self.ended = true;
                    return self.last_line();
                }
                Ok(_) => {}
            }
        }
    }

    /// Whether the input has ended. The line before had no line break then, and may be cut.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    fn take_line(&mut self) -> Option<InputLine> {
        while let Some(at) = memchr(b'\n', self.buffer.get(self.searched..).unwrap_or_default()) {
            let mut line = self.buffer.split_to(self.searched + at + 1);
            self.searched = 0;
            line.truncate(line.len().saturating_sub(1));
            if let Some(start) = self.skipping.take() {
                return Some(InputLine::TooLong(start));
            }
            if let Some(line) = self.finished(line) {
                return Some(line);
            }
        }
        self.searched = self.buffer.len();
        if self.searched > self.cap || self.skipping.is_some() {
            self.skip();
        }
        None
    }

    fn skip(&mut self) {
        if self.skipping.is_none() {
            let kept = self.buffer.get(..KEPT.min(self.buffer.len())).unwrap_or_default();
            self.skipping = Some(Bytes::copy_from_slice(kept));
        }
        self.buffer.clear();
        self.searched = 0;
    }

    fn finished(&self, mut line: BytesMut) -> Option<InputLine> {
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        if line.len() > self.cap {
            line.truncate(KEPT);
            return Some(InputLine::TooLong(line.freeze()));
        }
        (!line.iter().all(u8::is_ascii_whitespace)).then(|| InputLine::Whole(line.freeze()))
    }

    /// The last line without a line break.
    fn last_line(&mut self) -> Option<InputLine> {
        if let Some(start) = self.skipping.take() {
            self.buffer.clear();
            return Some(InputLine::TooLong(start));
        }
        let rest = self.buffer.split();
        self.searched = 0;
        self.finished(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::{InputLine, Lines};

    async fn check(input: &'static [u8], cap: usize, expected: &[InputLine]) {
        let mut lines = Lines::new(input, cap);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await {
            found.push(line);
        }
        assert_eq!(found, expected, "{}", String::from_utf8_lossy(input));
    }

    #[tokio::test]
    async fn lines_are_cut_capped_and_empty_ones_skipped() {
        let whole = |text: &'static str| InputLine::Whole(text.into());
        let long = |text: &'static str| InputLine::TooLong(text.into());
        check(b"a\nb\n", 10, &[whole("a"), whole("b")]).await;
        check(b"a\r\n\n  \nb", 10, &[whole("a"), whole("b")]).await;
        check(b"", 10, &[]).await;
        check(b"0123456789A\nok\n", 10, &[long("0123456789A"), whole("ok")]).await;
        check(b"0123456789A", 10, &[long("0123456789A")]).await;
    }

    #[tokio::test]
    async fn a_line_far_past_the_cap_is_skipped_without_being_buffered() {
        let (mut client, server) = tokio::io::duplex(1024);
        let feed = tokio::spawn(async move {
            use tokio::io::AsyncWriteExt;
            client.write_all(b"{\"id\":7,").await.expect("written");
            for _ in 0..1_000 {
                client.write_all(&[b'x'; 1_000]).await.expect("written");
            }
            client.write_all(b"\nnext\n").await.expect("written");
        });
        let mut lines = Lines::new(server, 100_000);
        assert!(
            matches!(lines.next().await, Some(InputLine::TooLong(start)) if start.starts_with(b"{\"id\":7,"))
        );
        assert_eq!(lines.next().await, Some(InputLine::Whole("next".into())));
        feed.await.expect("fed");
    }
}
