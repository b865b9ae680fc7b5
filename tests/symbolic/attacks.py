"""Code that tries to escape. Each snippet is refused before it runs, or contained by the sandbox.

Snippets write to OUT, read SECRET, or connect to PORT, which the suite replaces. `refused`: by validation, with this word in
the message. `contained`: it passes validation and may run, but nothing comes of it.
"""

import os
import socket
import textwrap
import threading
import time

WRITE = 'open("OUT", "w").write("x")'

# (name, what the message says, code). Every one defines f(x: int).
REFUSED = [
    ("import", "import os", "import os\ndef f(x: int): os.system('touch OUT')"),
    ("import behind another", "import os", "import math, os\ndef f(x: int): os.system('touch OUT')"),
    ("import under another name", "import subprocess", "import subprocess as math\ndef f(x: int): math.run(['touch', 'OUT'])"),
    ("import inside", "import socket", "def f(x: int):\n    import socket\n    socket.create_connection(('127.0.0.1', PORT))"),
    ("import of a submodule", "import os", "import os.path\ndef f(x: int): os.path.os.system('touch OUT')"),
    ("import from", "import os", "from os import system as print\ndef f(x: int): print('touch OUT')"),
    ("import of everything", "import os", "from os import *\ndef f(x: int): system('touch OUT')"),
    ("import of built-ins", "import builtins", "import builtins\ndef f(x: int): builtins.open('OUT', 'w')"),
    ("import of an importer", "import importlib", "import importlib\ndef f(x: int): importlib.import_module('os')"),
    ("import of io", "import io", "import io\ndef f(x: int): io.open('OUT', 'w')"),
    ("import of posix", "import posix", "import posix\ndef f(x: int): posix.system('touch OUT')"),
    ("import of something unknown", "numpy", "import numpy\ndef f(x: int): numpy.save('OUT', x)"),
    ("import relative", ".", "from . import os\ndef f(x: int): os.system('touch OUT')"),
    ("import in a class", "import ctypes", "class A:\n    import ctypes\ndef f(x: int): return A.ctypes"),
    ("import from the inside of a module", "import os", "from random import _os\ndef f(x: int): _os.system('touch OUT')"),
    ("a module's own import", "import os", "import random\ndef f(x: int): random._os.system('touch OUT')"),
    ("a module's own import, renamed", "import sys", "import typing as t\ndef f(x: int): return t.sys.modules['os'].system('touch OUT')"),
    ("a module's own import, by name", "import os", "import random\ndef f(x: int): getattr(random, '_' + 'os').system('touch OUT')"),
    ("a module as a value", "module random", "import random\nm = random\ndef f(x: int): m._os.system('touch OUT')"),
    ("a module handed on", "module random", "import random\ndef g(m): return m._os\ndef f(x: int): g(random).system('touch OUT')"),
    ("open", "open", "def f(x: int): " + WRITE),
    ("open as a default", "open", "def f(x: int, o=open): o('OUT', 'w').write('x')"),
    ("open as a decorator", "open", "@open\ndef f(x: int): pass"),
    ("open in a class body", "open", "class A:\n    o = open('OUT', 'w')\ndef f(x: int): pass"),
    ("open in a comprehension", "open", "def f(x: int): return [open for open in [open]]"),
    ("open in an f-string", "open", "def f(x: int): return f'{" + "open(\"OUT\", \"w\")" + "}'"),
    ("open after being bound in vain", "open", "if 0:\n    open = 1\ndef f(x: int): " + WRITE),
    ("open after being deleted", "open", "open = 1\ndel open\ndef f(x: int): " + WRITE),
    ("open behind global", "open", "def f(x: int):\n    global open\n    return open('OUT', 'w')"),
    ("open in letters of another kind", "open", "def f(x: int): \U0001d5fc\U0001d5fd\U0001d5f2\U0001d5fb('OUT', 'w')"),
    ("eval", "eval", "def f(x: int): eval('" + WRITE.replace('"', '\\"') + "')"),
    ("eval in full width", "eval", "def f(x: int): \uff45\uff56\uff41\uff4c('1')"),
    ("exec", "exec", "exec('import os')\ndef f(x: int): pass"),
    ("compile", "compile", "def f(x: int): compile('1', '', 'exec')"),
    ("__import__", "__import__", "def f(x: int): __import__('os').system('touch OUT')"),
    ("the dictionary of built-ins", "__builtins__", "def f(x: int): __builtins__['open']('OUT', 'w')"),
    ("the object of built-ins", "__builtins__", "def f(x: int): __builtins__.open('OUT', 'w')"),
    ("globals", "globals", "def f(x: int): globals()['__builtins__']"),
    ("vars", "vars", "def f(x: int): vars()['x']"),
    ("up the classes", "__subclasses__", "def f(x: int): return ().__class__.__bases__[0].__subclasses__()"),
    ("up the classes from a type", "__subclasses__", "def f(x: int): return object.__subclasses__()"),
    ("up the classes by name", "__class__", "def f(x: int): return getattr(x, '__cl' + 'ass__')"),
    ("up the classes by a joined name", "__class__", "def f(x: int): return getattr(x, ''.join(('__', 'class', '__')))"),
    ("up the classes by a reversed name", "__class__", "def f(x: int): return getattr(x, '__ssalc__'[::-1])"),
    ("up the classes by a computed name", "getattr", "def f(x: int): return getattr(x, chr(95) * 2 + 'class' + chr(95) * 2)"),
    ("getattr under another name", "getattr", "g = getattr\ndef f(x: int): return g(x, '__cl' 'ass__')"),
    ("attrgetter", "__class__", "from operator import attrgetter\ndef f(x: int): return attrgetter('real.__class__')(x)"),
    ("methodcaller", "__subclasses__", "import operator\ndef f(x: int): return operator.methodcaller('__subclasses__')(object)"),
    ("a function's globals", "__globals__", "def f(x: int): return f.__globals__"),
    ("a function's code", "__code__", "def f(x: int): return f.__code__"),
    ("a format that looks inside", "__class__", "def f(x: int): return '{0.__class__}'.format(x)"),
    ("a format that looks inside, in parts", "__globals__", "def f(x: int): return ('{0.__glo' + 'bals__}').format(f)"),
    ("a pattern that looks inside", "__class__", "def f(x: int):\n    match x:\n        case object(__class__=c): return c"),
    ("a frame", "f_globals", "def g():\n    yield 1\ndef f(x: int): return g().gi_frame.f_back.f_globals"),
    ("a traceback", "tb_frame", "def f(x: int):\n    try:\n        1 / 0\n    except Exception as e:\n        return e.__traceback__.tb_frame"),
    ("an annotation that is evaluated", "eval", "import functools\ndef f(x: 'eval(\"1\")'): return x"),
    ("a contract that is evaluated", "open", "def f(x: int):\n    '''post: open(\"OUT\", \"w\")'''\n    return x"),
    ("a contract that imports", "__import__", "def f(x: int):\n    '''pre: __import__(\"os\")'''\n    return x"),
]

# Code that passes validation and that the sandbox must contain.
CONTAINED = [
    ("a module that never ends", "while True:\n    pass\ndef f(x: int) -> int: return 1 // x"),
    ("a function that never ends", "def f(x: int) -> int:\n    while True:\n        x += 1"),
    ("a class body that never ends", "class A:\n    while True: pass\ndef f(x: int) -> int: return 1 // x"),
    ("a default that never ends", "def f(x: int, y=[z for z in iter(int, 1)]) -> int: return 1 // x"),
    ("memory", "def f(x: int) -> int:\n    y = 'a' * (10 ** 12)\n    return len(y)"),
    ("memory of a module", "y = [0] * (10 ** 11)\ndef f(x: int) -> int: return 1 // x"),
    ("a number without end", "def f(x: int) -> int:\n    return 9 ** 9 ** 9"),
    ("a pattern that backtracks", "import re\ndef f(x: int) -> bool:\n    return bool(re.match('(a+)+$', 'a' * 40 + 'b'))"),
    ("a recursion without end", "def f(x: int) -> int:\n    return f(x)"),
    ("a destructor that never ends", "class A:\n    def __del__(self):\n        while True: pass\ndef f(x: int) -> int:\n    A()\n    return 1 // x"),
]

# Harmless code that resembles an attack: it passes validation, with any verdict.
INNOCENT = [
    "def f(x: int) -> int:\n    code = []\n    code.append(x)\n    return len(code)",
    "def f(dir: int) -> int:\n    return dir + 1",
    "def f(vars: int) -> int:\n    return vars * 2",
    "def f(open: bool) -> int:\n    return 1 if open else 0",
    "def f(eval: int) -> int:\n    return eval",
    "def f(input: int) -> int:\n    return abs(input)",
    "def f(os: int, sys: int) -> int:\n    return os + sys",
    "def evaluate(x: int) -> int:\n    return x\ndef f(x: int) -> int:\n    return evaluate(x)",
    "def compile(x: int) -> int:\n    return x + 1\ndef f(x: int) -> int:\n    return compile(x)",
    "def f(x: int) -> int:\n    '''Looks at __class__ and eval in words only.'''\n    return x",
    "def f(x: int) -> int:\n    # import os; eval('1')\n    return x",
    "def f(x: int) -> str:\n    return 'import os' if x else 'eval()'",
    "class Door:\n    def __init__(self) -> None:\n        self.open = 1\ndef f(x: int) -> int:\n    return Door().open + x",
    "def f(globals: int, locals: int) -> int:\n    return globals - locals",
    "def f(x: int) -> int:\n    exec_count = x\n    return exec_count",
    "from typing import Literal\ndef f(x: Literal['eval', 'open']) -> int:\n    return len(x)",
    "import math\ndef f(x: int) -> int:\n    return math.gcd(x, 12)",
    "def f(x: int) -> int:\n    total = 0\n    for dir in (1, 2):\n        total += dir\n    return total",
    "def f(x: int) -> int:\n    try:\n        return 10 // x\n    except ZeroDivisionError as exec:\n        return 0",
    "def f(requests: int) -> int:\n    get = requests + 1\n    return get",
]

SECONDS = 3  # what contained snippets are given
OVERSHOOT = 10  # seconds; the bar of half a second is the benchmark's, on a quiet machine


class Bait:
    """A folder to write to, a file to read, and a server to connect to."""

    def __init__(self, home):
        self.folder = home / "bait"
        self.folder.mkdir()
        self.out, self.secret = self.folder / "out", self.folder / "secret"
        self.secret.write_text("MARK-OF-THE-SECRET")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.visitors = self.listener.getsockname()[1], 0
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.visitors += 1
            connection.close()

    def fill(self, code):
        return code.replace("OUT", str(self.out)).replace("SECRET", str(self.secret)).replace("PORT", str(self.port))

    def check(self):
        assert not self.out.exists(), "a file was written"
        assert self.visitors == 0, "a connection was made"
        assert sorted(os.listdir(self.folder)) == ["secret"], os.listdir(self.folder)


def checks(suite):
    bait = Bait(suite.home)
    with suite.server() as server:
        for name, word, code in REFUSED:
            suite.check(f"refused: {name}", lambda w=word, c=code: refused(server, bait, w, c))
        for name, code in CONTAINED:
            suite.check(f"contained: {name}", lambda c=code: contained(server, bait, c))
        for code in INNOCENT:
            suite.check(f"innocent: {code[:40]!r}", lambda c=code: innocent(server, c))
    suite.check("nothing was written, nobody was called", bait.check)
    assert len(REFUSED) + len(CONTAINED) >= 60 and len(INNOCENT) >= 20


def refused(server, bait, word, code):
    result = server.call("symbolic_check", code=bait.fill(code), function_name="f", timeout_seconds=SECONDS)["result"]
    content = result["structuredContent"]
    assert result.get("isError") and content["error_type"] in ("ValidationError", "ImportError"), result
    assert word in content["message"], content["message"]
    assert "counterexamples" in content and "proof" in content, content
    bait.check()


def contained(server, bait, code):
    code = textwrap.dedent(bait.fill(code))
    for tool, more in (("symbolic_check", {}), ("find_path_to_exception", {"exception_type": "Exception"})):
        began = time.monotonic()
        number = server.begin(tool, code=code, function_name="f", timeout_seconds=SECONDS, **more)
        health = server.call("health_check")["result"]["structuredContent"]
        assert health["status"] == "healthy", health
        result = server.answer(number)["result"]
        took = time.monotonic() - began
        assert took < SECONDS + OVERSHOOT, f"{tool} took {took:.1f} s"
        assert result["structuredContent"]["status"] not in ("verified", "unreachable"), result
    bait.check()


def innocent(server, code):
    result = server.call("symbolic_check", code=code, function_name="f", timeout_seconds=SECONDS)["result"]
    content = result["structuredContent"]
    assert content.get("error_type") not in ("ValidationError", "ImportError", "SyntaxError", "ValueError"), content
