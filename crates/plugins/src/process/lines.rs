//! Reads lines of bounded length from a child's output.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum OutputLine {
    /// A line without its line break.
    Whole(Vec<u8>),
    /// A line beyond the limit. Its rest was skipped.
    TooLong,
}

/// The next line, or `None` at the end of the output. The last line needs no line break.
pub(super) async fn next(
    output: &mut (impl AsyncBufRead + Unpin),
    longest: usize,
) -> io::Result<Option<OutputLine>> {
    let (mut line, mut is_too_long) = (Vec::new(), false);
    loop {
        let part = output.fill_buf().await?;
        if part.is_empty() {
            let nothing = line.is_empty() && !is_too_long;
            return Ok((!nothing).then(|| finished(line, is_too_long)));
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let kept = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
        if line.len() + kept.len() > longest {
            is_too_long = true;
            line.clear();
        } else if !is_too_long {
            line.extend_from_slice(kept);
        }
        let taken = end.map_or(part.len(), |end| end + 1);
        output.consume(taken);
        if end.is_some() {
            return Ok(Some(finished(line, is_too_long)));
        }
    }
}

fn finished(line: Vec<u8>, is_too_long: bool) -> OutputLine {
    if is_too_long { OutputLine::TooLong } else { OutputLine::Whole(line) }
}

#[cfg(test)]
mod tests {
    use super::{OutputLine, next};
    use tokio::io::BufReader;

    #[tokio::test]
    async fn lines_come_whole_or_not_at_all() {
        let text = "ab\n\n0123456789\nabcdefgh\nlast";
        let mut output = BufReader::with_capacity(3, text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = next(&mut output, 8).await.expect("read") {
            lines.push(line);
        }
        let whole = |text: &str| OutputLine::Whole(text.as_bytes().to_vec());
        assert_eq!(lines, [whole("ab"), whole(""), OutputLine::TooLong, whole("abcdefgh"), whole("last")]);
    }
}
