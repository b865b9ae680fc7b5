//! The built-in exceptions and their hierarchy.

/// Name and parent. Each parent precedes its children.
const TABLE: &[(&str, &str)] = &[
    ("BaseException", ""),
    ("Exception", "BaseException"),
    ("ArithmeticError", "Exception"),
    ("FloatingPointError", "ArithmeticError"),
    ("OverflowError", "ArithmeticError"),
    ("ZeroDivisionError", "ArithmeticError"),
    ("AssertionError", "Exception"),
    ("AttributeError", "Exception"),
    ("BufferError", "Exception"),
    ("EOFError", "Exception"),
    ("ImportError", "Exception"),
    ("ModuleNotFoundError", "ImportError"),
    ("LookupError", "Exception"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("MemoryError", "Exception"),
    ("NameError", "Exception"),
    ("UnboundLocalError", "NameError"),
    ("OSError", "Exception"),
    ("BlockingIOError", "OSError"),
    ("ChildProcessError", "OSError"),
    ("ConnectionError", "OSError"),
    ("BrokenPipeError", "ConnectionError"),
    ("ConnectionAbortedError", "ConnectionError"),
    ("ConnectionRefusedError", "ConnectionError"),
    ("ConnectionResetError", "ConnectionError"),
    ("FileExistsError", "OSError"),
    ("FileNotFoundError", "OSError"),
    ("InterruptedError", "OSError"),
    ("IsADirectoryError", "OSError"),
    ("NotADirectoryError", "OSError"),
    ("PermissionError", "OSError"),
    ("ProcessLookupError", "OSError"),
    ("TimeoutError", "OSError"),
    ("ReferenceError", "Exception"),
    ("RuntimeError", "Exception"),
    ("NotImplementedError", "RuntimeError"),
    ("RecursionError", "RuntimeError"),
    ("StopAsyncIteration", "Exception"),
    ("StopIteration", "Exception"),
    ("SyntaxError", "Exception"),
    ("IndentationError", "SyntaxError"),
    ("TabError", "IndentationError"),
    ("SystemError", "Exception"),
    ("TypeError", "Exception"),
    ("ValueError", "Exception"),
    ("UnicodeError", "ValueError"),
    ("UnicodeDecodeError", "UnicodeError"),
    ("UnicodeEncodeError", "UnicodeError"),
    ("UnicodeTranslateError", "UnicodeError"),
    ("Warning", "Exception"),
    ("BytesWarning", "Warning"),
    ("DeprecationWarning", "Warning"),
    ("EncodingWarning", "Warning"),
    ("FutureWarning", "Warning"),
    ("ImportWarning", "Warning"),
    ("PendingDeprecationWarning", "Warning"),
    ("ResourceWarning", "Warning"),
    ("RuntimeWarning", "Warning"),
    ("SyntaxWarning", "Warning"),
    ("UnicodeWarning", "Warning"),
    ("UserWarning", "Warning"),
    ("GeneratorExit", "BaseException"),
    ("KeyboardInterrupt", "BaseException"),
    ("SystemExit", "BaseException"),
    // Not built in, but raised by a supported module of the standard library.
    ("FrozenInstanceError", "AttributeError"),
    ("StatisticsError", "ValueError"),
];

/// The index of an exception.
pub(crate) fn exception_named(name: &str) -> Option<u8> {
    let name = match name {
        "IOError" | "EnvironmentError" => "OSError",
        name => name,
    };
    TABLE.iter().position(|(known, _)| *known == name).and_then(|index| u8::try_from(index).ok())
}

pub(crate) fn name(index: u8) -> &'static str {
    TABLE.get(usize::from(index)).map_or("Exception", |(name, _)| name)
}

/// The exception and all of its ancestors.
pub(crate) fn ancestors(index: u8) -> Vec<u8> {
    let mut all = vec![index];
    let mut current = index;
    while let Some((_, parent)) = TABLE.get(usize::from(current)) {
        let Some(parent) = exception_named(parent) else { break };
        all.push(parent);
        current = parent;
    }
    all
}

pub(crate) fn is_exception_below(index: u8, above: u8) -> bool {
    ancestors(index).contains(&above)
}

#[cfg(test)]
mod tests {
    use super::{exception_named, is_exception_below};

    #[test]
    fn the_hierarchy() {
        let index = |name| exception_named(name).expect("known");
        assert!(is_exception_below(index("KeyError"), index("LookupError")));
        assert!(is_exception_below(index("ZeroDivisionError"), index("Exception")));
        assert!(!is_exception_below(index("KeyboardInterrupt"), index("Exception")));
    }
}
