//! Generates statements.

use super::{TYPES, Type, Writer};

impl Writer {
    /// A helper `g` with two integer parameters.
    pub(crate) fn helper(&mut self) -> String {
        self.random
            .pick(&[
                "def g(a, b):\n    return a - b\n\n",
                "def g(a, b=1):\n    if a > b:\n        return a\n    return b\n\n",
                "def g(a, b):\n    try:\n        return a // b\n    except ZeroDivisionError as e:\n        return len(str(e))\n\n",
                "def g(a, b):\n    t = 0\n    for i in range(a % 5):\n        if i == b:\n            continue\n        t += i\n    else:\n        t += 1\n    return t\n\n",
                "def g(a, b, d=0):\n    return b if d > 3 or a < 2 else g(a // 2, b + 1, d + 1)\n\n",
                "class E(Exception):\n    pass\n\ndef g(a, b):\n    try:\n        if a > b:\n            raise E(a)\n        return a\n    except E as e:\n        return e.args[0] + 1\n    finally:\n        b = 0\n\n",
                "def h():\n    n = 0\n    def step(by):\n        nonlocal n\n        n += by\n        return n\n    return step\n\ndef g(a, b):\n    s = h()\n    s(a)\n    return s(b)\n\n",
                "def gen(n):\n    i = 0\n    while i < n:\n        yield i * i\n        i += 1\n\ndef g(a, b):\n    return sum(gen(a % 6)) + b\n\n",
                "from dataclasses import dataclass\n\n@dataclass(order=True)\nclass P:\n    x: int\n    y: int = 3\n\n    def total(self):\n        return self.x + self.y\n\ndef g(a, b):\n    p = P(a)\n    q = P(a, b)\n    if p == q:\n        return 0\n    return p.total() if p < q else q.total()\n\n",
                "def g(a, b):\n    match (a % 3, b):\n        case (0, x):\n            return x\n        case (1, 5 | 7):\n            return 57\n        case (n, _) if n > 1:\n            return n\n        case _:\n            return -1\n\n",
                "class A:\n    k = 2\n    def __init__(self, v):\n        self.v = v\n    @property\n    def twice(self):\n        return self.v * self.k\n    def __add__(self, o):\n        return type(self)(self.v + o.v)\n    def __eq__(self, o):\n        return self.v == o.v\n\nclass B(A):\n    k = 3\n    def __init__(self, v):\n        super().__init__(v + 1)\n\ndef g(a, b):\n    return (A(a) + B(b)).twice + (A(a) == B(b))\n\n",
            ])
            .to_owned()
    }

    /// The statements of a block. At the top level the last one is a return.
    pub(crate) fn body(&mut self, indent: usize, count: usize) -> String {
        let mut out = String::new();
        for _ in 0..count {
            out.push_str(&self.statement(indent, 2));
        }
        let kind = TYPES[self.random.below(TYPES.len())];
        let value = self.expression(kind, 3);
        let value = if kind == Type::Set { format!("sorted({value})") } else { value };
        out.push_str(&format!("{}return {value}\n", pad(indent)));
        out
    }

    fn block(&mut self, indent: usize, depth: usize) -> String {
        let known = self.names.len();
        let mut out = String::new();
        for _ in 0..=self.random.below(2) {
            out.push_str(&self.statement(indent, depth));
        }
        // A name bound in a block may be unbound after it.
        self.names.truncate(known);
        out
    }

    fn statement(&mut self, indent: usize, depth: usize) -> String {
        let space = pad(indent);
        let kind = TYPES[self.random.below(TYPES.len())];
        match self.random.below(if depth == 0 { 8 } else { 14 }) {
            0..=3 => {
                let value = self.expression(kind, 2);
                let name = self.fresh("v");
                self.names.push((name.clone(), kind));
                format!("{space}{name} = {value}\n")
            }
            4 => match self.name(Type::Int) {
                Some(name) => {
                    let op = self.random.pick(&["+=", "-=", "*=", "//=", "%=", "|=", "^="]);
                    format!("{space}{name} {op} {}\n", self.expression(Type::Int, 2))
                }
                None => format!("{space}pass\n"),
            },
            5 => match self.name(Type::List) {
                Some(name) => {
                    let value = self.expression(Type::Int, 1);
                    match self.random.below(8) {
                        0 => format!("{space}{name}.append({value})\n"),
                        1 => format!("{space}{name}.insert(1, {value})\n"),
                        2 => format!("{space}{name}.pop()\n"),
                        3 => format!("{space}{name}.sort()\n"),
                        4 => format!("{space}{name}.remove({value})\n"),
                        5 => format!("{space}{name}[0] = {value}\n"),
                        6 => format!("{space}del {name}[{}:]\n", self.random.pick(&["1", "-1", "2"])),
                        _ => format!("{space}{name} += [{value}]\n"),
                    }
                }
                None => format!("{space}pass\n"),
            },
            6 => match self.name(Type::Dict) {
                Some(name) => {
                    let key = self.expression(Type::Str, 1);
                    match self.random.below(4) {
                        0 => format!("{space}{name}[{key}] = {}\n", self.expression(Type::Int, 1)),
                        1 => format!("{space}{name}.pop({key}, None)\n"),
                        2 => format!("{space}{name}.setdefault({key}, 4)\n"),
                        _ => format!("{space}del {name}[{key}]\n"),
                    }
                }
                None => format!("{space}pass\n"),
            },
            7 => {
                let value = self.expression(Type::Tuple, 2);
                let (a, b) = (self.fresh("v"), self.fresh("v"));
                self.names.push((a.clone(), Type::Int));
                self.names.push((b.clone(), Type::Int));
                format!("{space}{a}, {b} = {value}\n")
            }
            8 | 9 => {
                let test = self.expression(Type::Bool, 2);
                let body = self.block(indent + 1, depth - 1);
                if self.random.chance(50) {
                    let other = self.block(indent + 1, depth - 1);
                    format!("{space}if {test}:\n{body}{space}else:\n{other}")
                } else {
                    format!("{space}if {test}:\n{body}")
                }
            }
            10 => {
                let list = self.expression(Type::List, 2);
                let name = self.fresh("i");
                self.names.push((name.clone(), Type::Int));
                let body = self.block(indent + 1, depth - 1);
                self.names.retain(|(known, _)| *known != name);
                let stop = if self.random.chance(30) {
                    format!("{}if {name} > 50:\n{}break\n", pad(indent + 1), pad(indent + 2))
                } else {
                    String::new()
                };
                format!("{space}for {name} in {list}[:5]:\n{stop}{body}")
            }
            11 => {
                let count = self.fresh("n");
                self.loops += 1;
                let body = self.block(indent + 1, depth - 1);
                format!(
                    "{space}{count} = 0\n{space}while {count} < 3:\n{}{count} += 1\n{body}",
                    pad(indent + 1)
                )
            }
            12 => {
                let body = self.block(indent + 1, depth - 1);
                let class = self.random.pick(&[
                    "ZeroDivisionError",
                    "IndexError",
                    "KeyError",
                    "ValueError",
                    "(KeyError, IndexError)",
                    "Exception",
                    "ArithmeticError",
                ]);
                let other = self.block(indent + 1, depth - 1);
                format!("{space}try:\n{body}{space}except {class}:\n{other}")
            }
            _ => {
                let text = self.expression(Type::Str, 2);
                let name = self.fresh("c");
                self.names.push((name.clone(), Type::Str));
                let body = self.block(indent + 1, depth - 1);
                self.names.retain(|(known, _)| *known != name);
                let index = self.fresh("i");
                format!("{space}for {index}, {name} in enumerate({text}[:4]):\n{body}")
            }
        }
    }
}

fn pad(indent: usize) -> String {
    "    ".repeat(indent)
}
