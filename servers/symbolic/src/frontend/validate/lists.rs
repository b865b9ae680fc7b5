//! The allow-lists and block-lists.

/// Modules that may be imported.
pub const ALLOWED_MODULES: [&str; 21] = [
    "math",
    "random",
    "string",
    "collections",
    "itertools",
    "functools",
    "operator",
    "typing",
    "re",
    "json",
    "datetime",
    "decimal",
    "fractions",
    "statistics",
    "dataclasses",
    "enum",
    "copy",
    "heapq",
    "bisect",
    "typing_extensions",
    "abc",
];

/// Modules without effect: language switches, and libraries with decorators that are read as contracts. The
/// worker replaces these libraries even if the real ones are installed.
pub(super) const READ_ONLY_MODULES: [&str; 3] = ["__future__", "icontract", "deal"];

/// Modules that can break out of the sandbox. Other modules outside the allow-list are reported as not allowed.
pub const BLOCKED_MODULES: [&str; 62] = [
    "os",
    "sys",
    "subprocess",
    "shutil",
    "pathlib",
    "socket",
    "socketserver",
    "ssl",
    "select",
    "selectors",
    "http",
    "urllib",
    "requests",
    "ftplib",
    "smtplib",
    "poplib",
    "imaplib",
    "telnetlib",
    "xmlrpc",
    "asyncio",
    "threading",
    "multiprocessing",
    "concurrent",
    "signal",
    "ctypes",
    "cffi",
    "mmap",
    "fcntl",
    "resource",
    "pty",
    "tty",
    "termios",
    "posix",
    "nt",
    "io",
    "tempfile",
    "glob",
    "fileinput",
    "pickle",
    "shelve",
    "marshal",
    "dbm",
    "sqlite3",
    "importlib",
    "imp",
    "pkgutil",
    "runpy",
    "zipimport",
    "builtins",
    "__builtin__",
    "__main__",
    "code",
    "codeop",
    "inspect",
    "gc",
    "ast",
    "dis",
    "types",
    "traceback",
    "webbrowser",
    "platform",
    "_thread",
];

/// Built-in names that could escape the sandbox.
pub const BLOCKED_BUILTINS: [&str; 20] = [
    "eval",
    "exec",
    "compile",
    "__import__",
    "open",
    "globals",
    "locals",
    "vars",
    "dir",
    "__builtins__",
    "__loader__",
    "__spec__",
    "__class__",
    "__build_class__",
    "breakpoint",
    "input",
    "help",
    "exit",
    "quit",
    "memoryview",
];

/// Attributes that lead from any object to arbitrary others.
pub const BLOCKED_ATTRIBUTES: [&str; 36] = [
    "__subclasses__",
    "__bases__",
    "__mro__",
    "__globals__",
    "__class__",
    "__code__",
    "__base__",
    "__builtins__",
    "__import__",
    "__loader__",
    "__spec__",
    "__dict__",
    "__getattribute__",
    "__self__",
    "__func__",
    "__closure__",
    "__reduce__",
    "__reduce_ex__",
    "__objclass__",
    "__traceback__",
    "__build_class__",
    "__subclasshook__",
    "__defaults__",
    "__kwdefaults__",
    "__wrapped__",
    "tb_frame",
    "tb_next",
    "f_globals",
    "f_builtins",
    "f_locals",
    "f_back",
    "f_code",
    "gi_frame",
    "gi_code",
    "cr_frame",
    "ag_frame",
];

/// Functions that look up an attribute by name. The name must be a readable literal.
pub(super) const BY_NAME: [&str; 4] = ["getattr", "setattr", "delattr", "hasattr"];

/// The same in `operator`, where every argument is a name.
pub(super) const ALL_BY_NAME: [&str; 2] = ["attrgetter", "methodcaller"];

/// Members of allowed modules that evaluate text or expose foreign objects.
pub(super) const BLOCKED_MEMBERS: [(&str, &str); 6] = [
    ("typing", "get_type_hints"),
    ("typing_extensions", "get_type_hints"),
    ("typing", "ForwardRef"),
    ("typing_extensions", "ForwardRef"),
    ("typing_extensions", "evaluate_forward_ref"),
    ("functools", "singledispatchmethod"),
];

/// Submodules that may be imported.
pub(super) const SUBMODULES: [&str; 3] = ["collections.abc", "json.decoder", "json.encoder"];

/// Whether a member of an allowed module is a foreign module, which it imports and therefore exposes.
pub(super) fn is_foreign_module(member: &str) -> bool {
    let plain = member.trim_start_matches('_');
    let known = |name: &str| BLOCKED_MODULES.contains(&name) || MODULES_INSIDE.contains(&name);
    known(member) || (member.starts_with('_') && (known(plain) || plain == "random"))
}

/// Modules that allowed ones import, in addition to those blocked by name.
const MODULES_INSIDE: [&str; 14] = [
    "codecs",
    "contextlib",
    "copyreg",
    "keyword",
    "locale",
    "numbers",
    "reprlib",
    "sre_compile",
    "sre_constants",
    "sre_parse",
    "warnings",
    "weakref",
    "scanner",
    "bltns",
];
