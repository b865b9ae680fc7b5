use super::{Incoming, read, sort};
use crate::scan::{Limits, scan_text};
use bytes::Bytes;
use bytestring::ByteString;

/// A receive buffer. Owned values share it without a copy: see [`Request::keep`](super::Request::keep).
#[derive(Clone, Debug)]
pub struct MessageBuf(Result<ByteString, Bytes>);

impl MessageBuf {
    /// Wraps bytes, which need not be UTF-8.
    pub fn new(bytes: Bytes) -> Self {
        Self(ByteString::try_from(bytes.clone()).map_err(|_| bytes))
    }

    /// Scans the bytes and classifies the message.
    pub fn read(&self, limits: &Limits) -> Incoming<'_> {
        match &self.0 {
            Ok(text) => sort(scan_text(text, limits), Some(text)),
            Err(bytes) => read(bytes, limits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MessageBuf;
    use crate::message::{Incoming, Message};
    use crate::scan::Limits;
    use bytes::Bytes;

    #[test]
    fn what_is_kept_is_no_copy_and_outlives_the_letter() {
        let bytes = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"b":"c"}}}"#);
        let letter = MessageBuf::new(bytes.clone());
        let Incoming::One(Ok(Message::Request(request))) = letter.read(&Limits::default()) else {
            panic!("a request");
        };
        let kept = request.keep(request.param("a").expect("a member"));
        drop(letter);
        assert_eq!(kept.text(), r#"{"b":"c"}"#);
        assert!(bytes.as_ptr_range().contains(&kept.text().as_ptr()));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_as_ever() {
        let bytes = Bytes::from_static(b"{\"jsonrpc\":\"\xff\"}");
        let letter = MessageBuf::new(bytes.clone());
        let Incoming::One(Err(misread)) = letter.read(&Limits::default()) else { panic!("a refusal") };
        let Incoming::One(Err(plainly)) = super::read(&bytes, &Limits::default()) else {
            panic!("a refusal")
        };
        assert_eq!(misread.fault.reason().id, plainly.fault.reason().id);
    }
}
