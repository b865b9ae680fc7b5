use std::str::Utf8Error;

/// A defect that the scan found, with its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    Syntax {
        /// The first byte that no grammar rule accepts.
        offset: usize,
    },
    /// Not UTF-8, and therefore not JSON.
    Utf8 {
        /// The first byte that is not UTF-8.
        offset: usize,
    },
    /// Nesting beyond the limit.
    Depth {
        /// The container beyond the limit.
        offset: usize,
        limit: usize,
    },
    /// A repeated key in one object.
    DuplicateKey {
        /// The second occurrence.
        offset: usize,
    },
    /// A `\u` escape of one surrogate without the other.
    LoneSurrogate {
        /// The string that contains it.
        offset: usize,
    },
    /// A number that overflows a double, or whose text is too long.
    NumberRange {
        /// The start of the number.
        offset: usize,
    },
    /// Too many members in one object.
    TooManyKeys {
        /// The first key beyond the limit.
        offset: usize,
        limit: usize,
    },
    /// Too many messages in one batch.
    TooManyMessages {
        /// The first message beyond the limit.
        offset: usize,
        limit: usize,
    },
}

impl Defect {
    pub(crate) fn not_utf8(error: Utf8Error) -> Self {
        Self::Utf8 { offset: error.valid_up_to() }
    }

    /// Whether the bytes are not JSON, so that no part after the defect can be trusted.
    pub fn is_hard(self) -> bool {
        matches!(self, Self::Syntax { .. } | Self::Utf8 { .. })
    }

    pub fn offset(mut self) -> usize {
        *self.offset_mut()
    }

    /// The same defect in a text that starts one byte later.
    pub(crate) fn moved_back(mut self) -> Self {
        let offset = self.offset_mut();
        *offset = offset.saturating_sub(1);
        self
    }

    fn offset_mut(&mut self) -> &mut usize {
        match self {
            Self::Syntax { offset }
            | Self::Utf8 { offset }
            | Self::Depth { offset, .. }
            | Self::DuplicateKey { offset }
            | Self::LoneSurrogate { offset }
            | Self::NumberRange { offset }
            | Self::TooManyKeys { offset, .. }
            | Self::TooManyMessages { offset, .. } => offset,
        }
    }
}

/// The offset of a syntax error. It is small enough for registers in the hot loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Syntax(pub(crate) usize);

impl From<Syntax> for Defect {
    fn from(Syntax(offset): Syntax) -> Self {
        Self::Syntax { offset }
    }
}
