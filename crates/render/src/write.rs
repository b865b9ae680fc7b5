use failwell_rpc::{Raw, push_json_string};

/// Writes JSON objects and arrays in the given order and places the commas.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    fresh: bool,
}

/// The text of an object with these members.
pub(crate) fn object(capacity: usize, members: impl FnOnce(&mut Writer)) -> String {
    let mut out = Writer::with_capacity(capacity + 64);
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

    /// Writes a key. The names are literals and need no escapes.
    pub(crate) fn key(&mut self, name: &'static str) {
        self.item();
        self.bytes.reserve(name.len() + 3);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
    }

    /// Starts an array item or a key: writes a comma, except before the first.
    pub(crate) fn item(&mut self) {
        if !self.fresh {
            self.bytes.push(b',');
        }
        self.fresh = false;
    }

    pub(crate) fn text(&mut self, text: &str) {
        push_json_string(&mut self.bytes, text);
    }

    /// Writes text that is already JSON.
    pub(crate) fn raw(&mut self, json: &str) {
        self.bytes.extend_from_slice(json.as_bytes());
    }

    /// Writes the members of a JSON object, without its braces.
    pub(crate) fn members_of(&mut self, object: &str) {
        self.members(Raw::written(object.trim()).members());
    }

    /// Writes members that are already JSON.
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

    /// Writes an object member, unless it is empty.
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
