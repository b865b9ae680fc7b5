use std::fmt;

/// A value that must not be shown: no `Display`, no `Serialize`, a masked `Debug`. [`Secret::expose`] is the
/// only access to the value, so that every use can be found by name.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    pub fn new(value: T) -> Secret<T> {
        Secret(value)
    }

    /// The value itself.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn debug_is_masked() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(…)");
        assert_eq!(*Secret::new(5).expose(), 5);
    }
}
