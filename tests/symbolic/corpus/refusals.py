"""Calls that are refused, and with which words."""

from . import add, refused

GOOD = "def f(x: int) -> int:\n    return x\n"

refused("syntax", "symbolic_check", {"code": "x = 1\n\n\n\ndef f(:\n    pass\n", "function_name": "f"}, "SyntaxError",
        "Syntax error: invalid syntax (unknown_line, line 5)", "the parameter list is open on line 5")
refused("syntax that only the compiler sees", "symbolic_check",
        {"code": "def f(x: int) -> int:\n    return x\n\nbreak\n", "function_name": "f"}, "SyntaxError",
        "Syntax error: invalid syntax (unknown_line, line 4)", "break outside a loop")
refused("no such function", "symbolic_check", {"code": GOOD, "function_name": "missing_func"}, "ValueError",
        "Function 'missing_func' not found in code", "the code has f alone")
refused("no such second function", "compare_functions", {"code": GOOD, "function_a": "f", "function_b": "gg"}, "ValueError",
        "Function 'gg' not found in code", "the code has f alone")
refused("eval", "symbolic_check", {"code": "def f(x: str):\n    return eval(x)\n", "function_name": "f"}, "ValidationError",
        "Blocked function call: eval", "eval runs text")
refused("import os", "find_path_to_exception",
        {"code": "import os\n" + GOOD, "function_name": "f", "exception_type": "ValueError"}, "ValidationError",
        "Blocked function call: import os", "os touches the machine")
refused("import of something else", "analyze_branches", {"code": "import numpy\n" + GOOD, "function_name": "f"}, "ImportError",
        "Module not allowed: numpy", "numpy is not on the list")
refused("too large", "symbolic_check", {"code": GOOD + "#" * 65536, "function_name": "f"}, "ValidationError",
        "Code size exceeds 64KB limit", "65536 bytes are the most")
refused("no time", "symbolic_check", {"code": GOOD, "function_name": "f", "timeout_seconds": 0}, "ValueError",
        "Invalid parameter 'timeout_seconds': must be at least 1", "at least a second")
refused("too much time", "compare_functions", {"code": GOOD, "function_a": "f", "function_b": "f", "timeout_seconds": 301},
        "ValueError", "Invalid parameter 'timeout_seconds': must be at most 300", "at most five minutes")
refused("a parameter of the wrong type", "symbolic_check", {"code": GOOD, "function_name": 3}, "ValueError",
        "Invalid parameter 'function_name': must be of type string", "names are text")
refused("a parameter that is missing", "symbolic_check", {"code": GOOD}, "ValueError",
        "Invalid parameter 'function_name': field required", "nobody says which function")
refused("an exception nobody knows", "find_path_to_exception",
        {"code": GOOD, "function_name": "f", "exception_type": "ValueEror"}, "ValueError",
        "Exception type 'ValueEror' not found", "a name nobody knows is no proof")
refused("code that cannot be loaded", "symbolic_check", {"code": "x = 1 // 0\n" + GOOD, "function_name": "f"}, "ValueError",
        "Code raises ZeroDivisionError when it is loaded (line 1)", "the module raises before f is there")

add("health", "health_check", "healthy", "the server works", None, {})
