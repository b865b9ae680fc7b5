use failwell_rpc::{Raw, push_json_string};

/// Writes JSON objects and arrays in the order it is told, with no way to forget a comma.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    fresh: bool,
}

/// The text of an object with these members.
pub(crate) fn object(room: usize, members: impl FnOnce(&mut Writer)) -> String {
    let mut out = Writer::with_capacity(room + 64);
    out.open(b'{');
    members(&mut out);
    out.close(b'}');
    String::from_utf8_lossy(&out.finish()).into_owned()
}

impl Writer {
    pub(crate) fn with_capacity(capacity: usize) -> Writer {
        Writer { bytes: Vec::with_capacity(capacity), fresh: true }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn open(&mut self, bracket: u8) {
        self.bytes.push(bracket);
        self.fresh = true;
    }

    pub(crate) fn close(&mut self, bracket: u8) {
        self.bytes.push(bracket);
        self.fresh = false;
    }

    /// A name of ours, which needs no escapes.
    pub(crate) fn key(&mut self, name: &'static str) {
        self.item();
        self.bytes.reserve(name.len() + 3);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
    }

    /// Starts an array item, or a key: the comma before it, unless it is the first.
    pub(crate) fn item(&mut self) {
        if !self.fresh {
            self.bytes.push(b',');
        }
        self.fresh = false;
    }

    pub(crate) fn text(&mut self, text: &str) {
        push_json_string(&mut self.bytes, text);
    }

    /// Text that is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.bytes.extend_from_slice(json.as_bytes());
    }

    /// The members of an object that is JSON already, without its braces.
    pub(crate) fn members_of(&mut self, object: &str) {
        self.members(Raw::written(object.trim()).members());
    }

    /// Members that are JSON already.
    pub(crate) fn members(&mut self, members: &str) {
        if !members.is_empty() {
            self.item();
            self.raw(members);
        }
    }

    pub(crate) fn number(&mut self, number: impl std::fmt::Display) {
        self.bytes.extend_from_slice(number.to_string().as_bytes());
    }

    pub(crate) fn text_member(&mut self, name: &'static str, text: &str) {
        self.key(name);
        self.text(text);
    }

    pub(crate) fn number_member(&mut self, name: &'static str, number: impl std::fmt::Display) {
        self.key(name);
        self.number(number);
    }

    /// A member that is an object, unless nothing is written into it.
    pub(crate) fn object_member(&mut self, name: &'static str, write: impl FnOnce(&mut Writer)) {
        let before = (self.bytes.len(), self.fresh);
        self.key(name);
        self.open(b'{');
        write(self);
        if self.fresh {
            self.bytes.truncate(before.0);
            self.fresh = before.1;
        } else {
            self.close(b'}');
        }
    }

    pub(crate) fn raw_member(&mut self, name: &'static str, json: &str) {
        self.key(name);
        self.raw(json);
    }
}
