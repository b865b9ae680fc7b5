//! Mistakes in `[[guard.custom]]`, with all expected problems.

pub(crate) const CASES: &[(&str, &[&str])] = &[
    (
        "[guard.custom]\nname = \"g\"\n",
        &[
            "1:8 `custom` must be a list of tables, not a table | write [[guard.custom]] with two pairs of brackets above each one",
        ],
    ),
    (
        "[[guard.custom]]\n",
        &[
            "1:1 the guard has no name | add name = \"…\": lowercase letters, digits, - and _",
            "1:1 the guard has neither `wasm` nor `command` | add wasm = \"guard.wasm\" or command = [\"program\", \"argument\"]",
        ],
    ),
    (
        "[[guard.custom]]\n\
         name = \"pii\"\n\
         command = [\"x\"]\n\
         directions = [\"request\"]\n\
         servers = [\"nobody\"]\n\
         timeout_ms = 0\n\
         fuel = 5000\n\
         env = { A = \"SECRET\" }\n\
         critcal = true\n",
        &[
            "2:8 `pii` is the name of a built-in guard | choose another name",
            "3:1 the program of the guard cannot be started: it does not exist | name a program on the PATH, or a path that starts at `cwd`; `critical = false` starts without it",
            "4:15 unknown value `request` | did you mean `requests`?",
            "5:12 there is no server `nobody` | the servers of this file are `lobby`, `shelf`; `*` stands for all",
            "6:14 `timeout_ms` is out of range | give it a value from 1 to 60000; the default is 1000",
            "7:1 `fuel` has no effect with `command` | remove it: it goes with `wasm`",
            "9:1 unknown key `critcal` | did you mean `critical`?",
        ],
    ),
    (
        "[[guard.custom]]\n\
         name = \"a\"\n\
         wasm = \"none.wasm\"\n\
         command = [\"x\"]\n\
         [[guard.custom]]\n\
         name = \"a\"\n\
         command = []\n\
         [[guard.custom]]\n\
         name = \"b\"\n\
         wasm = \"none.wasm\"\n\
         env = { A = \"SECRET\" }\n",
        &[
            "4:1 the guard has both `wasm` and `command` | keep `wasm` for a module, or `command` for a program to start",
            "6:8 `a` is the name of two guards | rename one; the other is on line 2",
            "7:1 `command` has no program | name the program first: command = [\"program\", \"argument\"]",
            "10:8 the module cannot be read: No such file or directory (os error 2) | name a .wasm or .wat file",
            "11:1 `env` has no effect with `wasm` | remove it: it goes with `command`",
        ],
    ),
    // The configuration file itself serves as an invalid module.
    (
        "[[guard.custom]]\n\
         name = \"g\"\n\
         wasm = \"failwell.toml\"\n",
        &[WASM],
    ),
];

#[cfg(feature = "wasm")]
const WASM: &str = "3:8 this is no WebAssembly module: expected `(` | name a WebAssembly module (.wasm), or its text (.wat); not a component";
#[cfg(not(feature = "wasm"))]
const WASM: &str = "3:8 WebAssembly is not in this build: it was built without the feature `wasm` | add it with: ./x install wasm";
