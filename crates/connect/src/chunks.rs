use std::io;

use bytes::{Buf, Bytes, BytesMut};

use super::head::odd;

/// Maximum length of a line between chunks, and of the trailer.
const LONGEST_LINE: usize = 4 * 1024;

/// A body with chunked transfer encoding.
#[derive(Default)]
pub(super) struct Chunks {
    state: ChunkState,
    trailed: usize,
}

#[derive(Default, Clone, Copy)]
enum ChunkState {
    #[default]
    Size,
    Data(u64),
    AfterData,
    Trailer,
}

/// The result of decoding the received bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkStep {
    Piece(Bytes),
    End,
    /// More bytes are needed.
    More,
}

impl Chunks {
    pub(super) fn cut(&mut self, came: &mut BytesMut) -> io::Result<ChunkStep> {
        loop {
            match self.state {
                ChunkState::Size => {
                    match httparse::parse_chunk_size(came).map_err(|_| odd("a chunk has no size"))? {
                        httparse::Status::Complete((length, size)) => {
                            came.advance(length);
                            self.state = if size == 0 { ChunkState::Trailer } else { ChunkState::Data(size) };
                        }
                        httparse::Status::Partial if came.len() > LONGEST_LINE => {
                            return Err(odd("the size of a chunk is too long"));
                        }
                        httparse::Status::Partial => return Ok(ChunkStep::More),
                    }
                }
                ChunkState::Data(left) => {
                    if came.is_empty() {
                        return Ok(ChunkStep::More);
                    }
                    let length = came.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    let left = left - length as u64;
                    self.state = if left == 0 { ChunkState::AfterData } else { ChunkState::Data(left) };
                    return Ok(ChunkStep::Piece(came.split_to(length).freeze()));
                }
                ChunkState::AfterData => match came.get(..2) {
                    Some(b"\r\n") => {
                        came.advance(2);
                        self.state = ChunkState::Size;
                    }
                    Some(_) => return Err(odd("a chunk is longer than its size")),
                    None => return Ok(ChunkStep::More),
                },
                ChunkState::Trailer => match memchr::memchr(b'\n', came) {
                    Some(end) => {
                        let is_last = matches!(came.get(..end), Some(b"" | b"\r"));
                        came.advance(end + 1);
                        self.trailed += end;
                        if is_last {
                            return Ok(ChunkStep::End);
                        }
                        if self.trailed > LONGEST_LINE {
                            return Err(odd("too much follows the last chunk"));
                        }
                    }
                    None if came.len() > LONGEST_LINE => return Err(odd("too much follows the last chunk")),
                    None => return Ok(ChunkStep::More),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ChunkStep, Chunks};
    use bytes::BytesMut;

    /// Returns the body and the bytes after it, `None` if it is incomplete, or an error if it is invalid.
    fn read(pieces: &[&str]) -> std::io::Result<Option<(String, String)>> {
        let (mut chunks, mut came, mut body) = (Chunks::default(), BytesMut::new(), String::new());
        for piece in pieces {
            came.extend_from_slice(piece.as_bytes());
            loop {
                match chunks.cut(&mut came)? {
                    ChunkStep::Piece(bytes) => body.push_str(std::str::from_utf8(&bytes).expect("text")),
                    ChunkStep::More => break,
                    ChunkStep::End => {
                        return Ok(Some((body, String::from_utf8(came.to_vec()).expect("text"))));
                    }
                }
            }
        }
        Ok(None)
    }

    #[test]
    fn chunks_are_joined_wherever_the_pieces_end() {
        let whole = "5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX-Trailer: x\r\n\r\nrest";
        let expected = Some(("hello!".to_owned(), "rest".to_owned()));
        assert_eq!(read(&[whole]).expect("chunks"), expected);
        let single: Vec<&str> = whole.split_inclusive(|_: char| true).collect();
        let (body, rest) = read(&single).expect("chunks").expect("the end");
        assert_eq!((body.as_str(), rest.as_str()), ("hello!", ""));
        assert_eq!(read(&["5\r\nhel"]).expect("chunks"), None);
    }

    #[test]
    fn nonsense_between_chunks_is_refused() {
        for odd in ["x\r\n", "1\r\nab\r\n", "fffffffffffffffff\r\n"] {
            assert!(read(&[odd]).is_err(), "{odd}");
        }
        assert!(read(&["0\r\n", &"a: b\r\n".repeat(2_000)]).is_err());
        assert!(read(&["1;", &"x".repeat(5_000)]).is_err());
    }
}
