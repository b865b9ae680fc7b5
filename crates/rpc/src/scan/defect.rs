/// What the scan found wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Not JSON.
    Syntax {
        /// Offset of the byte that no grammar rule accepts.
        offset: usize,
    },
    /// Not UTF-8, so not JSON either.
    Utf8 {
        /// Offset of the first byte that is not UTF-8.
        offset: usize,
    },
    /// Containers nested deeper than the limit.
    Depth {
        /// Offset of the container that went over.
        offset: usize,
        /// The limit it went over.
        limit: usize,
    },
    /// The same key twice in one object.
    DuplicateKey {
        /// Offset of the repeated key.
        offset: usize,
    },
    /// A `\u` escape that is half a character.
    LoneSurrogate {
        /// Offset of the string that holds it.
        offset: usize,
    },
    /// A number that overflows a double, or whose text is absurdly long.
    NumberRange {
        /// Offset of the number.
        offset: usize,
    },
    /// More members in one object than the limit.
    TooManyKeys {
        /// Offset of the key that went over.
        offset: usize,
        /// The limit it went over.
        limit: usize,
    },
    /// More messages in one batch than the limit.
    TooManyMessages {
        /// Offset of the message that went over.
        offset: usize,
        /// The limit it went over.
        limit: usize,
    },
}

impl Defect {
    /// Whether the bytes are not JSON at all, so that nothing after the defect can be trusted.
    pub fn is_hard(self) -> bool {
        matches!(self, Self::Syntax { .. } | Self::Utf8 { .. })
    }

    /// Where the defect is.
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

/// The offset of a syntax error: small enough to travel in registers through the hot loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Syntax(pub(crate) usize);

impl From<Syntax> for Defect {
    fn from(Syntax(offset): Syntax) -> Self {
        Self::Syntax { offset }
    }
}
