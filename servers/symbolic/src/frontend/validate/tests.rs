use super::{ValidationError, validate};

/// The name that each piece of code is refused for. `None` if it passes.
fn check(code: &str, expected: Option<&str>) {
    let found = match validate(code) {
        Ok(()) => None,
        Err(ValidationError::Blocked { name, .. }) => Some(name),
        Err(ValidationError::NotAllowed { module, .. }) => Some(format!("not allowed: {module}")),
        Err(ValidationError::Syntax { line }) => Some(format!("syntax: {line}")),
        Err(ValidationError::TooLarge) => Some("too large".to_owned()),
        Err(ValidationError::TooDeep) => Some("too deep".to_owned()),
    };
    assert_eq!(found.as_deref(), expected, "{code}");
}

#[test]
fn what_opens_a_way_out_is_refused_in_any_form() {
    for (code, name) in [
        ("eval('1')", "eval"),
        ("def f(x):\n    return eval(x)", "eval"),
        ("f = eval", "eval"),
        ("def f(x, g=exec): pass", "exec"),
        ("@eval\ndef f(): pass", "eval"),
        ("class A:\n    run = eval", "eval"),
        ("map(eval, ['1'])", "eval"),
        ("f'{eval(\"1\")}'", "eval"),
        ("lambda: eval", "eval"),
        ("[eval for eval in [eval]]", "eval"),
        ("if 0:\n    eval = 1\neval('1')", "eval"),
        ("eval = eval", "eval"),
        ("def f():\n    global eval\n    return eval('1')", "eval"),
        ("def eval(x): pass\ndel eval\neval('1')", "eval"),
        ("def f(x: 'eval(1)'): pass", "eval"),
        ("def f(x: 'list[eval(1)]'): pass", "eval"),
        ("def f(x):\n    '''post: eval(\"1\")'''", "eval"),
        ("\u{1d452}val('1')", "eval"),
        ("ｅxec('1')", "exec"),
        ("__builtins__", "__builtins__"),
        ("__builtins__['eval']", "__builtins__"),
        ("x.__class__", "__class__"),
        ("().__cｌass__", "__class__"),
        ("x.__class__ = int", "__class__"),
        ("class A:\n    def f(self): return __class__", "__class__"),
        ("getattr(x, '__cl' + 'ass__')", "__class__"),
        ("getattr(x, ''.join(['__', 'class', '__']))", "__class__"),
        ("getattr(x, '__ssalc__'[::-1])", "__class__"),
        ("getattr(x, '__%s__' % 'class')", "__class__"),
        ("getattr(x, f'__{\"class\"}__')", "__class__"),
        ("getattr(x, chr(95) * 2 + 'class')", "getattr"),
        ("def f(n): return getattr(f, n)", "getattr"),
        ("g = getattr", "getattr"),
        ("getattr(*a)", "getattr"),
        ("import operator\noperator.attrgetter('__class__')(1)", "__class__"),
        ("from operator import attrgetter as g\ng('real.__class__')", "__class__"),
        ("from operator import *\nattrgetter(x)", "attrgetter"),
        ("import operator\ng = operator.attrgetter", "attrgetter"),
        ("from operator import methodcaller\nmethodcaller('__subclasses__')", "__subclasses__"),
        ("'{0.__class__}'.format(x)", "__class__"),
        ("'{x.__init__.__globals__}'.format_map(d)", "__globals__"),
        ("('{0.__cl' + 'ass__}').format(x)", "__class__"),
        ("match x:\n    case object(__class__=c): pass", "__class__"),
        ("def g(): yield\ng().gi_frame.f_back", "f_back"),
        ("try: pass\nexcept E as e: e.__traceback__", "__traceback__"),
        ("object.__getattribute__(x, n)", "__getattribute__"),
        ("type.__dict__", "__dict__"),
    ] {
        check(code, Some(name));
    }
}

#[test]
fn only_listed_modules_come_in_and_only_their_own_members_go_out() {
    for (code, found) in [
        ("import os", "import os"),
        ("import math, os", "import os"),
        ("import os.path as p", "import os"),
        ("from os import path", "import os"),
        ("def f():\n    import subprocess", "import subprocess"),
        ("class A:\n    import socket", "import socket"),
        ("from builtins import eval", "import builtins"),
        ("import numpy", "not allowed: numpy"),
        ("import json.tool", "not allowed: json.tool"),
        ("from . import x", "not allowed: ."),
        ("from ..a import x", "not allowed: .a"),
        ("from random import _os", "import os"),
        ("import random\nrandom._os.system('x')", "import os"),
        ("import random as r\nr._os", "import os"),
        ("import typing\ntyping.sys", "import sys"),
        ("import dataclasses\ndataclasses.inspect", "import inspect"),
        ("import enum\nm = enum", "module enum as a value"),
        ("import random\ngetattr(random, '_os')", "import os"),
        ("import json\njson.codecs.open('x', 'w')", "import codecs"),
        ("import statistics\nstatistics._ss", "statistics._ss"),
        ("from typing import get_type_hints", "get_type_hints"),
    ] {
        check(code, Some(found));
    }
    for code in [
        "import math, random, string, collections, itertools, functools, operator, typing, re, json, datetime, decimal",
        "import fractions, statistics, dataclasses, enum, copy, heapq, bisect, typing_extensions, abc",
        "from __future__ import annotations\nimport collections.abc\nfrom collections import abc, deque\nfrom math import *",
        "import icontract\n@icontract.require(lambda x: x > 0)\ndef f(x): return x",
        "import math as m\ndef f(x): return m.sqrt(x) + m.pi",
        "from collections import abc\ndef f(x: abc.Sequence): return x",
    ] {
        check(code, None);
    }
}

#[test]
fn what_only_looks_like_it_passes() {
    for code in [
        "def f(x):\n    code = []\n    code.append(x)\n    return code",
        "def f(dir: int): return dir + 1",
        "def f(vars):\n    return [dir for dir in vars]",
        "def f(open: bool):\n    if open: return 1\n    return lambda: open",
        "def evaluate(x): return x\ndef f(x): return evaluate(x)",
        "def compile(x): return x + 1\ndef f(x): return compile(x)",
        "class Door:\n    def __init__(self): self.open = True\n    def eval(self): return self.open\ndef f(d: Door): return d.eval()",
        "def f(x):\n    'Uses __class__ inside.'\n    return x",
        "import re\ndef f(s): return re.compile('a').match(s)",
        "def f(x):\n    return getattr(x, 'name', None)",
        "def f(x): return '{0} and {1.real}'.format(x, x)",
        "from typing import Literal\ndef f(x: Literal['eval', 'open']): return x",
        "def f(operator): return operator\nimport operator",
        "def f(requests): return requests.get('a')",
        "class A:\n    __slots__ = ('x',)\n    def __init__(self): self.x = 1\n    def __eq__(self, o): return True",
        "if __name__ == '__main__': pass",
        "def f(globals, locals): return globals + locals",
        "def f(os: str, sys: int): return os * sys",
        "def f(x):\n    try:\n        return 1 / x\n    except ZeroDivisionError as exec:\n        return str(exec)",
        "def f(input: str): return input.upper()",
    ] {
        check(code, None);
    }
}

#[test]
fn an_error_names_its_position_and_has_a_bounded_size() {
    check("def f():\n    return 1\n\n\ndef g(:\n    pass\n", Some("syntax: 5"));
    check("def f(", Some("syntax: 1"));
    check("x = 'a\0b'", Some("syntax: 1"));
    check(&format!("x = 1{}", " ".repeat(64 * 1024)), Some("too large"));
    for deep in [
        format!("{}1{}", "(".repeat(250), ")".repeat(250)),
        format!("x = {}1", "-".repeat(20_000)),
        format!("x{}", ".a".repeat(20_000)),
        format!("x = {}1", "not ".repeat(10_000)),
        format!("x = 1{}", "+1".repeat(20_000)),
        format!("x = {}1", "lambda:".repeat(5_000)),
        (0..150).fold(String::new(), |code, level| code + &" ".repeat(level) + "if 1:\n")
            + &" ".repeat(150)
            + "x",
    ] {
        check(&deep, Some("too deep"));
    }
    let long = format!("x = [{}]", "1, ".repeat(20_000));
    check(&long, None);
}

#[test]
fn refusals_have_the_words_of_the_record() {
    for (code, error_type, message) in [
        ("eval('1')", "ValidationError", "Blocked function call: eval"),
        ("import os", "ValidationError", "Blocked function call: import os"),
        ("import numpy", "ImportError", "Module not allowed: numpy"),
        ("\n\n\n\nx = (", "SyntaxError", "Syntax error: invalid syntax (unknown_line, line 5)"),
    ] {
        let refusal = validate(code).expect_err(code);
        assert_eq!((refusal.error_type(), refusal.fault().detail().as_str()), (error_type, message));
    }
    assert_eq!(ValidationError::TooLarge.fault().detail(), "Code size exceeds 64KB limit");
}
