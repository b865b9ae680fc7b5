//! The main loop. It scans one value of any depth without recursion.

use super::container_stack::ContainerStack;
use super::keys::{Admission, Keys};
use super::name::{Name, name};
use super::number::number;
use super::space::skip_space;
use super::text::{Form, Text, string};
use super::{Defect, Limits, Places, Slot, Span, Syntax, byte};

/// Buffers that are reused between messages.
#[derive(Default)]
pub(super) struct Scratch {
    keys: Keys,
    nesting: ContainerStack,
}

/// The scan of one message.
pub(super) struct Walk<'a, 's> {
    text: &'a str,
    bytes: &'a [u8],
    limits: &'s Limits,
    keys: &'s mut Keys,
    nesting: &'s mut ContainerStack,
    deepest: usize,
    places: Places,
    /// The current top-level member, and the offset of its value.
    slot: Option<(Slot, usize)>,
    /// The current member inside it: its key, and the offset of its value.
    member: Option<(Span, usize)>,
}

impl<'a, 's> Walk<'a, 's> {
    /// Prepares the scan of one message in `text`. `outside` containers are already open around it.
    pub(super) fn new(text: &'a str, limits: &'s Limits, scratch: &'s mut Scratch, outside: usize) -> Self {
        let Scratch { keys, nesting } = scratch;
        keys.clear();
        nesting.clear();
        let deepest = limits.max_depth.saturating_sub(outside);
        let (bytes, places) = (text.as_bytes(), Places::default());
        Self { text, bytes, limits, keys, nesting, deepest, places, slot: None, member: None }
    }

    /// Scans the value that starts at `start`.
    pub(super) fn run(mut self, start: usize) -> Result<Places, Syntax> {
        let end = self.value(start)?;
        self.places.whole = Span { start, end };
        Ok(self.places)
    }

    fn value(&mut self, mut at: usize) -> Result<usize, Syntax> {
        let mut depth = 0;
        loop {
            at = match byte(self.bytes, at) {
                b'"' => self.text(at)?.end,
                b'{' => {
                    depth = self.open_object(at);
                    let next = skip_space(self.bytes, at + 1);
                    if byte(self.bytes, next) != b'}' {
                        at = self.key(depth, next)?;
                        continue;
                    }
                    depth = self.close_object();
                    next + 1
                }
                b'[' => {
                    depth = self.open_array(at);
                    let next = skip_space(self.bytes, at + 1);
                    if byte(self.bytes, next) != b']' {
                        at = next;
                        continue;
                    }
                    depth = self.nesting.close();
                    next + 1
                }
                b'-' | b'0'..=b'9' => self.number(at)?,
                b't' => literal(self.bytes, at, b"true")?,
                b'f' => literal(self.bytes, at, b"false")?,
                b'n' => literal(self.bytes, at, b"null")?,
                _ => return Err(Syntax(at)),
            };
            loop {
                if depth <= 2 {
                    self.value_ended(depth, at);
                    if depth == 0 {
                        return Ok(at);
                    }
                }
                at = skip_space(self.bytes, at);
                let object = self.nesting.in_object();
                match byte(self.bytes, at) {
                    b',' => {
                        at = skip_space(self.bytes, at + 1);
                        if object {
                            at = self.key(depth, at)?;
                        }
                        break;
                    }
                    b'}' if object => depth = self.close_object(),
                    b']' if !object => depth = self.nesting.close(),
                    _ => return Err(Syntax(at)),
                }
                at += 1;
            }
        }
    }

    /// Reads a key and its colon. Returns the offset of the value.
    #[inline]
    fn key(&mut self, depth: usize, at: usize) -> Result<usize, Syntax> {
        if byte(self.bytes, at) != b'"' {
            return Err(Syntax(at));
        }
        let name = name(self.bytes, at)?;
        let Text { end, form } = name.text;
        if form == Form::Lone {
            self.refuse(Defect::LoneSurrogate { offset: at });
        }
        let inner = Span { start: at + 1, end: end - 1 };
        if self.places.soft.is_none() {
            self.admit(inner, name);
        }
        let colon = skip_space(self.bytes, end);
        if byte(self.bytes, colon) != b':' {
            return Err(Syntax(colon));
        }
        let value = skip_space(self.bytes, colon + 1);
        if depth <= 2 {
            self.member_begins(depth, inner, value);
        }
        Ok(value)
    }

    fn member_begins(&mut self, depth: usize, inner: Span, value: usize) {
        if depth == 1 {
            self.slot = Slot::named(inner.of(self.text)).map(|slot| (slot, value));
        } else if self.slot.is_some_and(|(slot, _)| slot.has_members()) {
            self.member = Some((inner, value));
        }
    }

    fn value_ended(&mut self, depth: usize, end: usize) {
        if depth == 1 {
            if let Some((slot, start)) = self.slot.take() {
                self.places.record(slot, Span { start, end });
            }
        } else if depth == 2
            && let Some((key, start)) = self.member.take()
            && let Some((slot, _)) = self.slot
        {
            self.places.members.remember(slot, key, Span { start, end });
        }
    }

    #[inline(always)]
    fn text(&mut self, at: usize) -> Result<Text, Syntax> {
        let text = string(self.bytes, at)?;
        if text.form == Form::Lone {
            self.refuse(Defect::LoneSurrogate { offset: at });
        }
        Ok(text)
    }

    #[inline(always)]
    fn number(&mut self, at: usize) -> Result<usize, Syntax> {
        let (end, in_range) = number(self.bytes, at, self.limits.max_number)?;
        if !in_range {
            self.refuse(Defect::NumberRange { offset: at });
        }
        Ok(end)
    }

    #[inline]
    fn admit(&mut self, inner: Span, name: Name) {
        let (limit, offset) = (self.limits.max_keys, inner.start - 1);
        match self.keys.admit(self.text, inner, name, limit) {
            Admission::Fresh => {}
            Admission::Repeated => self.refuse(Defect::DuplicateKey { offset }),
            Admission::OverLimit => self.refuse(Defect::TooManyKeys { offset, limit }),
        }
    }

    /// Keys are recorded only until the first defect. Until then both stacks have the same depth.
    #[inline]
    fn open_object(&mut self, at: usize) -> usize {
        let depth = self.nesting.open(1);
        self.check_depth(depth, at);
        if self.places.soft.is_none() {
            self.keys.open();
        }
        depth
    }

    #[inline]
    fn close_object(&mut self) -> usize {
        if self.places.soft.is_none()
            && let Some(offset) = self.keys.close(self.text)
        {
            self.refuse(Defect::DuplicateKey { offset });
        }
        self.nesting.close()
    }

    #[inline]
    fn open_array(&mut self, at: usize) -> usize {
        let depth = self.nesting.open(0);
        self.check_depth(depth, at);
        depth
    }

    #[inline]
    fn check_depth(&mut self, depth: usize, offset: usize) {
        if depth > self.deepest {
            self.refuse(Defect::Depth { offset, limit: self.limits.max_depth });
        }
    }

    /// Records the first defect and continues, because the id may still follow.
    #[cold]
    fn refuse(&mut self, defect: Defect) {
        self.places.soft.get_or_insert(defect);
    }
}

#[inline(always)]
fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, Syntax> {
    let end = at + word.len();
    if bytes.get(at..end) == Some(word) { Ok(end) } else { Err(Syntax(at)) }
}
