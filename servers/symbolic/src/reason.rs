//! The reasons of the symbolic server. A counterexample is not among them: it is an ordinary result (ADR
//! 0003).

pub(crate) use failwell_fault::reason::*;

failwell_fault::reasons! {
    SYMBOLIC_SYNTAX = "symbolic/SYNTAX" {
        Invalid, BadArguments, Caller,
        title: "the code is not valid Python",
        detail: "Syntax error: invalid syntax (unknown_line, line {line})",
        hint: "correct line {line} of `code`, and send the whole code again",
        about: "The code does not parse, or CPython does not compile it. The line is the one that the parser reports.",
    }
    SYMBOLIC_TOO_LARGE = "symbolic/TOO_LARGE" {
        Invalid, BadArguments, Caller,
        title: "the code is too large",
        detail: "Code size exceeds 64KB limit",
        hint: "send only the function and its dependencies: at most {limit_bytes} bytes of `code`",
        about: "The size is counted in bytes of UTF-8.",
    }
    SYMBOLIC_TOO_DEEP = "symbolic/TOO_DEEP" {
        Invalid, BadArguments, Caller,
        title: "the code is nested too deeply",
        detail: "Code is nested too deeply",
        hint: "split the long expression or the nested blocks: at most 200 brackets, 100 levels of indentation and 1500 tokens in one expression",
        about: "CPython has limits of the same order.",
    }
    SYMBOLIC_BLOCKED = "symbolic/BLOCKED" {
        Invalid, BadArguments, Caller,
        title: "the code uses a blocked name",
        detail: "Blocked function call: {name}",
        hint: "remove it from line {line}; the resource config://security lists all blocked names",
        about: "Names that lead out of the code and modules that access the machine are rejected before the analysis starts. Local names, such as a parameter called dir, are allowed.",
    }
    SYMBOLIC_IMPORT = "symbolic/IMPORT" {
        Invalid, BadArguments, Caller,
        title: "the code imports a module that is not allowed",
        detail: "Module not allowed: {module}",
        hint: "remove the import from line {line}, or use one of the modules that the resource config://security lists",
        about: "The code can import only the modules of an allow-list.",
    }
    SYMBOLIC_UNKNOWN_FUNCTION = "symbolic/UNKNOWN_FUNCTION" {
        NotFound, BadArguments, Caller,
        title: "the code has no such function",
        detail: "Function '{function}' not found in code",
        hint: "name a function at the top level of the code, or a method as Class.method",
        about: "Functions inside functions, lambdas and imported functions cannot be analysed by name.",
    }
    SYMBOLIC_UNKNOWN_EXCEPTION = "symbolic/UNKNOWN_EXCEPTION" {
        NotFound, BadArguments, Caller,
        title: "no such exception type",
        detail: "Exception type '{exception}' not found",
        hint: "set `exception_type` to a built-in exception, or to an exception class of the code",
        about: "An unknown exception would be reported as unreachable, which would mislead the caller.",
    }
    SYMBOLIC_MODULE_RAISES = "symbolic/MODULE_RAISES" {
        Invalid, BadArguments, Caller,
        title: "the code raises when it is loaded",
        detail: "Code raises {exception} when it is loaded (line {line})",
        hint: "correct line {line}; statements outside functions run before any function can be called",
        about: "A module that cannot be loaded has no functions to analyse.",
    }
    SYMBOLIC_VACUOUS = "symbolic/VACUOUS" {
        Invalid, BadArguments, Caller,
        title: "no input satisfies the precondition",
        detail: "No input satisfies the precondition, so there is nothing to check",
        hint: "correct the precondition: its conditions contradict each other",
        about: "A contract that no input satisfies would always be verified.",
    }
    SYMBOLIC_TIMEOUT = "symbolic/TIMEOUT" {
        Timeout, ToolFailed, Server,
        title: "the analysis did not reach a verdict in time",
        detail: "Analysis did not finish within {limit_s} seconds",
        hint: "narrow the inputs with a precondition, split the function, or allow more with `timeout_seconds`, at most 300; `proof` shows the progress",
        about: "The analysis reached its time limit, or the step limits that follow from it. It has no proof and no finding.",
    }
    SYMBOLIC_MEMORY = "symbolic/MEMORY" {
        Timeout, ToolFailed, Server,
        title: "the analysis exceeded its memory limit",
        detail: "Analysis needed more than {limit_mb} MB of memory",
        hint: "narrow the inputs with a precondition that bounds lengths and loops, or split the function; the operator can allow more with --memory-mb",
        about: "Each analysis runs in its own process with a memory limit. It has no proof and no finding; other calls are not affected.",
    }
    SYMBOLIC_BOUND = "symbolic/BOUND" {
        Timeout, ToolFailed, Server,
        title: "the analysis stopped at a bound",
        detail: "Analysis stopped at a bound before a verdict",
        hint: "narrow the inputs with a precondition that bounds loops, recursion and lengths; `proof.bounds_hit` names the bounds",
        about: "Loops, recursion and containers are explored up to a bound. The result beyond the bound is unknown, so it is not reported as verified.",
    }
    SYMBOLIC_UNSUPPORTED = "symbolic/UNSUPPORTED" {
        Unsupported, ToolFailed, Server,
        title: "the code uses an unsupported construct",
        detail: "Construct not supported: {construct} (line {line})",
        hint: "rewrite line {line} with simpler constructs, or analyse a part of the code without it",
        about: "The engine reports a construct that it does not support and never guesses its behaviour.",
    }
    SYMBOLIC_NO_SOLVER = "symbolic/NO_SOLVER" {
        Precondition, ToolFailed, Server,
        title: "no solver was found",
        detail: "No solver was found",
        hint: "install z3 (python3 -m pip install z3-solver), or set FAILWELL_Z3 to its path; then restart the server",
        about: "The server searches for Z3 in FAILWELL_Z3, then on the PATH.",
    }
    SYMBOLIC_NO_PYTHON = "symbolic/NO_PYTHON" {
        Precondition, ToolFailed, Server,
        title: "no usable Python was found",
        detail: "No Python was found that can run in the sandbox",
        hint: "install Python 3.10 or newer, or start the server with --python PATH; `failwell doctor` shows the Python of this machine",
        about: "Every finding is replayed in CPython, in a sandbox, before it is reported. Without Python nothing is reported.",
    }
    SYMBOLIC_BUSY = "symbolic/BUSY" {
        Exhausted, ToolFailed, Server,
        title: "too many analyses are waiting",
        detail: "More than {limit} analyses are running or waiting",
        hint: "wait for earlier calls to finish, then try again",
        about: "A limited number of analyses run at once, and a limited number wait.",
    }
    SYMBOLIC_FAILED = "symbolic/FAILED" {
        Bug, ToolFailed, Failwell,
        title: "the analysis failed",
        detail: "Analysis failed unexpectedly",
        hint: "report the reference to the operator",
        about: "The engine violated one of its own invariants. Its findings are discarded.",
    }
}
