//! symbolic: ways in which an analysis can fail. A counterexample is not among them: it is an ordinary result.

reasons! {
    SYMBOLIC_SYNTAX = "symbolic/SYNTAX" {
        Invalid, BadArguments, Caller,
        title: "the code is not Python",
        detail: "Syntax error: invalid syntax (unknown_line, line {line})",
        hint: "correct line {line} of `code`, and send all of it again",
        about: "The code does not parse, or CPython does not compile it. The line is the one on which that shows.",
    }
    SYMBOLIC_TOO_LARGE = "symbolic/TOO_LARGE" {
        Invalid, BadArguments, Caller,
        title: "the code is too large",
        detail: "Code size exceeds 64KB limit",
        hint: "send the function and what it uses alone: at most {limit_bytes} bytes of `code`",
        about: "The size is counted in bytes of UTF-8.",
    }
    SYMBOLIC_TOO_DEEP = "symbolic/TOO_DEEP" {
        Invalid, BadArguments, Caller,
        title: "the code is nested too deeply",
        detail: "Code is nested too deeply",
        hint: "split the long expression or the nested blocks: at most 200 brackets, 100 levels of indentation and 1500 tokens in one expression",
        about: "CPython has limits of its own here, of the same order.",
    }
    SYMBOLIC_BLOCKED = "symbolic/BLOCKED" {
        Invalid, BadArguments, Caller,
        title: "the code uses something that is blocked",
        detail: "Blocked function call: {name}",
        hint: "take it out of line {line}; the resource config://security lists what is blocked",
        about: "Functions, names and attributes that lead out of the code, and modules that touch the machine, are refused before anything is done with the code, in whatever form they are written. Names of a function's own, such as a parameter called dir, are not meant.",
    }
    SYMBOLIC_IMPORT = "symbolic/IMPORT" {
        Invalid, BadArguments, Caller,
        title: "the code imports a module that is not allowed",
        detail: "Module not allowed: {module}",
        hint: "take the import out of line {line}, or use one of the modules that the resource config://security lists",
        about: "Only modules of a short list can be imported.",
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
        title: "there is no such exception",
        detail: "Exception type '{exception}' not found",
        hint: "name a built-in exception, or a class of the code that is one, as `exception_type`",
        about: "A name nobody knows would be unreachable for the wrong reason.",
    }
    SYMBOLIC_MODULE_RAISES = "symbolic/MODULE_RAISES" {
        Invalid, BadArguments, Caller,
        title: "the code raises when it is loaded",
        detail: "Code raises {exception} when it is loaded (line {line})",
        hint: "correct line {line}; statements outside functions are run before any function can be called",
        about: "A module that cannot be loaded has no functions.",
    }
    SYMBOLIC_VACUOUS = "symbolic/VACUOUS" {
        Invalid, BadArguments, Caller,
        title: "no input satisfies the precondition",
        detail: "No input satisfies the precondition, so that there is nothing to check",
        hint: "correct the precondition: its conditions contradict each other",
        about: "A contract that asks nothing of any call would be verified for the wrong reason.",
    }
    SYMBOLIC_TIMEOUT = "symbolic/TIMEOUT" {
        Timeout, ToolFailed, Server,
        title: "the analysis did not come to a verdict in time",
        detail: "Analysis did not finish within {limit_s} seconds",
        hint: "narrow the inputs with a precondition, split the function, or allow more with `timeout_seconds`, at most 300; `proof` says how far it got",
        about: "Steps of the interpreter and of the solver that go with the time limit, or the time itself, ran out. Nothing was proven and nothing was found.",
    }
    SYMBOLIC_MEMORY = "symbolic/MEMORY" {
        Timeout, ToolFailed, Server,
        title: "the analysis took too much memory",
        detail: "Analysis needed more than {limit_mb} MB of memory",
        hint: "narrow the inputs with a precondition that bounds lengths and loops, or split the function; the operator can allow more with --memory-mb",
        about: "Each analysis runs in a process of its own with a limit of memory. Nothing was proven and nothing was found; other calls are not affected.",
    }
    SYMBOLIC_BOUND = "symbolic/BOUND" {
        Timeout, ToolFailed, Server,
        title: "the analysis stopped at a bound",
        detail: "Analysis stopped at a bound before a verdict",
        hint: "narrow the inputs with a precondition that bounds loops, recursion and lengths; `proof.bounds_hit` names the bounds",
        about: "Loops, recursion and containers are followed to a depth. What lies behind it is unknown, and not called verified.",
    }
    SYMBOLIC_UNSUPPORTED = "symbolic/UNSUPPORTED" {
        Unsupported, ToolFailed, Server,
        title: "the code uses something the analysis does not know",
        detail: "Construct not supported: {construct} (line {line})",
        hint: "rewrite line {line} with plainer means, or analyse a part of the code that does without it",
        about: "What the engine does not know is said, never guessed.",
    }
    SYMBOLIC_NO_SOLVER = "symbolic/NO_SOLVER" {
        Precondition, ToolFailed, Server,
        title: "there is no solver",
        detail: "No solver was found",
        hint: "install z3 (python3 -m pip install z3-solver), or name it in the variable FAILWELL_Z3; then start the server again",
        about: "Z3 is looked for in FAILWELL_Z3, then on the PATH.",
    }
    SYMBOLIC_NO_PYTHON = "symbolic/NO_PYTHON" {
        Precondition, ToolFailed, Server,
        title: "there is no Python that can be used",
        detail: "No Python was found that can run in the sandbox",
        hint: "install Python 3.10 or newer, or start the server with --python PATH; `failwell doctor` says what this machine has",
        about: "Every finding is replayed in real CPython, inside a sandbox, before it is told. Without that nothing is told.",
    }
    SYMBOLIC_BUSY = "symbolic/BUSY" {
        Exhausted, ToolFailed, Server,
        title: "too many analyses are waiting",
        detail: "More than {limit} analyses are running or waiting",
        hint: "wait for the answers of earlier calls, then ask again",
        about: "Analyses run a few at a time, and a few more may wait.",
    }
    SYMBOLIC_FAILED = "symbolic/FAILED" {
        Bug, ToolFailed, Failwell,
        title: "the analysis failed",
        detail: "Analysis failed unexpectedly",
        hint: "report the reference; the operator finds the whole story under it",
        about: "The engine broke one of its own promises. Nothing it may have found is told.",
    }
}
