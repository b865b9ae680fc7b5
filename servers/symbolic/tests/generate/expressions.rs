//! Generates expressions of a type.

use super::{Type, Writer};

const INTS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "-3",
    "5",
    "7",
    "10",
    "-10",
    "17",
    "100",
    "255",
    "-256",
    "1000",
    "65536",
    "2**31",
    "2**63",
    "-2**63",
    "10**18",
    "123456789",
    "2**53 + 1",
];
const FLOATS: &[&str] = &[
    "0.0",
    "-0.0",
    "1.0",
    "0.5",
    "-0.5",
    "0.1",
    "0.2",
    "2.5",
    "-2.5",
    "1e16",
    "1e-5",
    "123.456",
    "-7.25",
    "1e22",
    "3.0",
    "1e308",
    "5e-324",
    "0.30000000000000004",
];
const TEXTS: &[&str] = &[
    "''",
    "'a'",
    "'b'",
    "'ab'",
    "'abc'",
    "'Hello World'",
    "' x '",
    "'12'",
    "'-5'",
    "'a,b,c'",
    "'aXbXc'",
    "'ZzZ'",
    "'\\n'",
    "'it\\'s'",
    "'\"q\"'",
    "'é'",
    "'ß'",
    "'0'",
    "'tab\\there'",
    "'aaa'",
    "'Aa Bb'",
];

const PATTERNS: &[&str] = &[
    "r'a+'",
    "r'[a-c]'",
    "r'[0-9]+'",
    "r'\\d*'",
    "r'\\s'",
    "r'\\w+'",
    "r'(?:a|b)*c?'",
    "r'X'",
    "r'^a'",
    "r'b$'",
    "r'\\bH'",
    "r'[^a-z]'",
    "r'.'",
    "r'a*?b'",
    "r'(?i)hello'",
    "r'a{2}'",
    "r'[A-Z][a-z]*'",
    "r'a|ab'",
    "r','",
    "r'-?\\d{1,2}$'",
];

impl Writer {
    /// A pattern of `re` without groups.
    fn pattern(&mut self) -> &'static str {
        self.random.pick(PATTERNS)
    }

    pub(crate) fn literal(&mut self, kind: Type) -> String {
        let count = self.random.below(5);
        match kind {
            Type::Int => self.random.pick(INTS).to_owned(),
            Type::Bool => self.random.pick(&["True", "False"]).to_owned(),
            Type::Float => self.random.pick(FLOATS).to_owned(),
            Type::Str => self.random.pick(TEXTS).to_owned(),
            Type::List => {
                let items: Vec<&str> = (0..count).map(|_| self.random.pick(&INTS[..15])).collect();
                format!("[{}]", items.join(", "))
            }
            Type::Texts => {
                let items: Vec<&str> = (0..count).map(|_| self.random.pick(TEXTS)).collect();
                format!("[{}]", items.join(", "))
            }
            Type::Tuple => {
                let items: Vec<&str> = (0..2).map(|_| self.random.pick(&INTS[..15])).collect();
                format!("({}, {})", items[0], items[1])
            }
            Type::Dict => {
                let items: Vec<String> = (0..count)
                    .map(|_| format!("{}: {}", self.random.pick(&TEXTS[..8]), self.random.pick(&INTS[..12])))
                    .collect();
                format!("{{{}}}", items.join(", "))
            }
            Type::Set => {
                let items: Vec<&str> =
                    (0..=count).map(|_| self.random.pick(&["0", "1", "2", "3", "4", "5"])).collect();
                format!("{{{}}}", items.join(", "))
            }
        }
    }

    pub(crate) fn expression(&mut self, kind: Type, depth: usize) -> String {
        if depth == 0 || self.random.chance(20) {
            return match self.name(kind) {
                Some(name) if self.random.chance(75) => name,
                _ => self.literal(kind),
            };
        }
        let d = depth - 1;
        match kind {
            Type::Int => self.int(d),
            Type::Bool => self.bool(d),
            Type::Float => self.float(d),
            Type::Str => self.str(d),
            Type::List => self.list(d),
            Type::Texts => self.texts(d),
            Type::Tuple => self.tuple(d),
            Type::Dict => self.dict(d),
            Type::Set => self.set(d),
        }
    }

    fn e(&mut self, kind: Type, depth: usize) -> String {
        self.expression(kind, depth)
    }

    fn int(&mut self, d: usize) -> String {
        use Type::{Dict, Float, Int, List, Set, Str, Texts, Tuple};
        match self.random.below(36) {
            0..=5 => {
                let op = self.random.pick(&["+", "-", "*", "//", "%", "&", "|", "^"]);
                format!("({} {op} {})", self.e(Int, d), self.e(Int, d))
            }
            6 => format!("({} << ({} % 9))", self.e(Int, d), self.e(Int, d)),
            7 => format!("({} >> ({} % 9))", self.e(Int, d), self.e(Int, d)),
            8 => format!("(({} % 50) ** ({} % 5))", self.e(Int, d), self.e(Int, d)),
            9 => format!("{}({})", self.random.pick(&["-", "+", "~", "abs"]), self.e(Int, d)),
            10 => format!("len({})", self.sized(d)),
            11 => format!("{}({}, {})", self.random.pick(&["min", "max"]), self.e(Int, d), self.e(Int, d)),
            12 => format!("sum({})", self.e(List, d)),
            13 => format!("{}({})", self.random.pick(&["min", "max"]), self.e(List, d)),
            14 => format!("{}[{}]", self.e(List, d), self.e(Int, d)),
            15 => format!("{}[{}]", self.e(Tuple, d), self.random.pick(&["0", "1", "-1", "2"])),
            16 => format!("{}[{}]", self.e(Dict, d), self.e(Str, d)),
            17 => format!("{}.get({}, {})", self.e(Dict, d), self.e(Str, d), self.e(Int, d)),
            18 => format!("int({})", self.e(Str, d)),
            19 => format!("int({})", self.e(Float, d)),
            20 => format!("round({})", self.e(Float, d)),
            21 => format!("({} if {} else {})", self.e(Int, d), self.e(Type::Bool, d), self.e(Int, d)),
            22 => {
                let method = self.random.pick(&["find", "count", "index", "rfind"]);
                format!("{}.{method}({})", self.e(Str, d), self.e(Str, d))
            }
            23 => {
                format!("{}.{}({})", self.e(List, d), self.random.pick(&["count", "index"]), self.e(Int, d))
            }
            24 => format!("ord({}[0])", self.e(Str, d)),
            25 => format!("sum(ord(c) for c in {})", self.e(Str, d)),
            26 => format!("g({}, {})", self.e(Int, d), self.e(Int, d)),
            27 => format!("sum(1 for t in {} if t)", self.e(Texts, d)),
            28 => format!("(lambda q: q + {})({})", self.e(Int, d), self.e(Int, d)),
            29 => format!("len(re.findall({}, {}))", self.pattern(), self.e(Str, d)),
            30 => format!("math.gcd({}, {})", self.e(Int, d), self.e(Int, d)),
            31 => format!("functools.reduce(operator.add, {}, {})", self.e(List, d), self.e(Int, d)),
            32 => format!("bisect.bisect_left(sorted({}), {})", self.e(List, d), self.e(Int, d)),
            33 => format!("math.isqrt({})", self.e(Int, d)),
            34 => format!("collections.Counter({})[{}]", self.e(Texts, d), self.e(Str, d)),
            _ => format!("len({})", self.e(Set, d)),
        }
    }

    fn sized(&mut self, d: usize) -> String {
        let kind =
            [Type::Str, Type::List, Type::Texts, Type::Dict, Type::Set, Type::Tuple][self.random.below(6)];
        self.e(kind, d)
    }

    fn bool(&mut self, d: usize) -> String {
        use Type::{Dict, Float, Int, List, Set, Str, Texts, Tuple};
        let compare = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        match self.random.below(16) {
            0..=2 => format!("({} {compare} {})", self.e(Int, d), self.e(Int, d)),
            3 => format!("({} {compare} {})", self.e(Float, d), self.e(Float, d)),
            4 => format!("({} {compare} {})", self.e(Str, d), self.e(Str, d)),
            5 => format!("({} {compare} {})", self.e(List, d), self.e(List, d)),
            6 => format!(
                "({} {} {})",
                self.e(Type::Bool, d),
                self.random.pick(&["and", "or"]),
                self.e(Type::Bool, d)
            ),
            7 => format!("(not {})", self.e(Type::Bool, d)),
            8 => format!("({} {} {})", self.e(Int, d), self.random.pick(&["in", "not in"]), self.e(List, d)),
            9 => format!("({} in {})", self.e(Str, d), self.e(Str, d)),
            10 => format!("({} in {})", self.e(Str, d), self.e(Dict, d)),
            11 => {
                let method =
                    self.random.pick(&["isdigit", "isalpha", "isupper", "islower", "isspace", "isalnum"]);
                format!("{}.{method}()", self.e(Str, d))
            }
            12 => format!(
                "{}.{}({})",
                self.e(Str, d),
                self.random.pick(&["startswith", "endswith"]),
                self.e(Str, d)
            ),
            13 => format!("{}({})", self.random.pick(&["any", "all"]), self.e(Texts, d)),
            14 => format!("({} {compare} {} {compare} {})", self.e(Int, d), self.e(Int, d), self.e(Int, d)),
            _ => match self.random.below(4) {
                0 => format!(
                    "({} {} {})",
                    self.e(Set, d),
                    self.random.pick(&["<=", "==", ">"]),
                    self.e(Set, d)
                ),
                1 => format!("({} {compare} {})", self.e(Tuple, d), self.e(Tuple, d)),
                2 => format!("({} == {})", self.e(Dict, d), self.e(Dict, d)),
                _ => format!("({} {compare} {})", self.e(Int, d), self.e(Float, d)),
            },
        }
    }

    fn float(&mut self, d: usize) -> String {
        use Type::{Float, Int};
        match self.random.below(12) {
            0..=3 => {
                let op = self.random.pick(&["+", "-", "*", "/"]);
                format!("({} {op} {})", self.e(Float, d), self.e(Float, d))
            }
            4 => format!("({} / {})", self.e(Int, d), self.e(Int, d)),
            5 => format!("({} {} {})", self.e(Float, d), self.random.pick(&["//", "%"]), self.e(Float, d)),
            6 => format!("float({})", self.e(Int, d)),
            7 => format!("abs({})", self.e(Float, d)),
            8 => format!("({} {} {})", self.e(Int, d), self.random.pick(&["+", "*", "-"]), self.e(Float, d)),
            9 => format!("round({}, {})", self.e(Float, d), self.random.pick(&["0", "1", "2", "3"])),
            10 => {
                format!("{}({}, {})", self.random.pick(&["min", "max"]), self.e(Float, d), self.e(Float, d))
            }
            _ => format!("-{}", self.e(Float, d)),
        }
    }

    fn str(&mut self, d: usize) -> String {
        use Type::{Dict, Float, Int, List, Str, Texts};
        match self.random.below(24) {
            0 | 1 => format!("({} + {})", self.e(Str, d), self.e(Str, d)),
            2 => format!("({} * ({} % 4))", self.e(Str, d), self.e(Int, d)),
            3 => format!("{}[{}]", self.e(Str, d), self.e(Int, d)),
            4 => format!("{}[{}:{}]", self.e(Str, d), self.e(Int, d), self.e(Int, d)),
            5 => format!("{}[::{}]", self.e(Str, d), self.random.pick(&["-1", "2", "-2", "1", "3"])),
            6 => {
                let method = self.random.pick(&[
                    "upper",
                    "lower",
                    "strip",
                    "title",
                    "capitalize",
                    "swapcase",
                    "lstrip",
                    "rstrip",
                ]);
                format!("{}.{method}()", self.e(Str, d))
            }
            7 => format!("{}.replace({}, {})", self.e(Str, d), self.e(Str, d), self.e(Str, d)),
            8 => format!("str({})", self.e(Int, d)),
            9 => format!("str({})", self.e(Float, d)),
            10 => format!("repr({})", self.e(Str, d)),
            11 => format!("{}.join({})", self.e(Str, d), self.e(Texts, d)),
            12 => format!(
                "f\"<{{{}}}>{{{}!r}}\"",
                self.name(Int).unwrap_or("1".to_owned()),
                self.name(Str).unwrap_or("2".to_owned())
            ),
            13 => {
                let spec = self.random.pick(&["5", "<6", "^7", "05d", "+d", ",", "x", "b", "08b", "_", ">4"]);
                format!("format({}, '{spec}')", self.e(Int, d))
            }
            14 => {
                let spec = self.random.pick(&[".2f", ".0f", "10.3f", ".3e", "g", ".4g", "+.1f", ",.2f", "%"]);
                format!("format({}, '{spec}')", self.e(Float, d))
            }
            15 => format!("str({})", self.e(List, d)),
            16 => format!("str({})", self.e(Dict, d)),
            17 => {
                let method = self.random.pick(&["ljust", "rjust", "center", "zfill"]);
                format!("{}.{method}({} % 9)", self.e(Str, d), self.e(Int, d))
            }
            18 => format!(
                "{}.{}({})",
                self.e(Str, d),
                self.random.pick(&["strip", "removeprefix", "removesuffix", "lstrip"]),
                self.e(Str, d)
            ),
            19 => format!("({} if {} else {})", self.e(Str, d), self.e(Type::Bool, d), self.e(Str, d)),
            20 => format!("chr({} % 1000 + 32)", self.e(Int, d)),
            21 => {
                let put = self.random.pick(&["''", "'-'", "r'<\\g<0>>'", "lambda m: m.group().upper()"]);
                format!("re.sub({}, {put}, {})", self.pattern(), self.e(Str, d))
            }
            22 => format!("str(re.match({}, {}) is None)", self.pattern(), self.e(Str, d)),
            _ => format!("{}({})", self.random.pick(&["hex", "bin", "oct"]), self.e(Int, d)),
        }
    }

    fn list(&mut self, d: usize) -> String {
        use Type::{Int, List, Set, Str};
        match self.random.below(18) {
            0 => format!("({} + {})", self.e(List, d), self.e(List, d)),
            1 => format!("({} * ({} % 3))", self.e(List, d), self.e(Int, d)),
            2 => format!("sorted({})", self.e(List, d)),
            3 => format!("sorted({}, reverse=True)", self.e(List, d)),
            4 => format!("sorted({}, key=lambda k: k % 7)", self.e(List, d)),
            5 => format!("[v + {} for v in {}]", self.e(Int, d), self.e(List, d)),
            6 => format!("[v for v in {} if v > {}]", self.e(List, d), self.e(Int, d)),
            7 => format!("{}[{}:{}]", self.e(List, d), self.e(Int, d), self.e(Int, d)),
            8 => format!("{}[::-1]", self.e(List, d)),
            9 => format!("list(range({} % 7))", self.e(Int, d)),
            10 => format!("list(map(lambda m: m * 2, {}))", self.e(List, d)),
            11 => format!("sorted({})", self.e(Set, d)),
            12 => format!("[a * b for a, b in zip({}, {})]", self.e(List, d), self.e(List, d)),
            13 => format!("list(itertools.accumulate({}))", self.e(List, d)),
            14 => format!("list(itertools.chain({}, {}))", self.e(List, d), self.e(List, d)),
            15 => format!("list(collections.deque({}, maxlen=3))", self.e(List, d)),
            16 => format!("[sum(p) for p in itertools.combinations({}, 2)]", self.e(List, d)),
            _ => format!(
                "[len(w) for w in {}.split({})]",
                self.e(Str, d),
                self.random.pick(&["", "','", "'X'", "'a'"])
            ),
        }
    }

    fn texts(&mut self, d: usize) -> String {
        use Type::{Dict, Int, Str, Texts};
        match self.random.below(12) {
            0 => format!("{}.split()", self.e(Str, d)),
            8 => format!("re.split({}, {})", self.pattern(), self.e(Str, d)),
            9 => format!("re.findall({}, {})", self.pattern(), self.e(Str, d)),
            10 => format!("{}.splitlines({})", self.e(Str, d), self.e(Type::Bool, d)),
            1 => format!("{}.split({})", self.e(Str, d), self.e(Str, d)),
            2 => format!("list({})", self.e(Str, d)),
            3 => format!("sorted({})", self.e(Texts, d)),
            4 => format!("[t.upper() for t in {}]", self.e(Texts, d)),
            5 => format!("list({})", self.e(Dict, d)),
            6 => format!("[str(n) for n in range({} % 5)]", self.e(Int, d)),
            7 => format!("sorted({}, key=len)", self.e(Texts, d)),
            _ => format!("({} + {})", self.e(Texts, d), self.e(Texts, d)),
        }
    }

    fn tuple(&mut self, d: usize) -> String {
        use Type::{Int, Tuple};
        match self.random.below(4) {
            0 => format!("({}, {})", self.e(Int, d), self.e(Int, d)),
            1 => format!("divmod({}, {})", self.e(Int, d), self.e(Int, d)),
            2 => format!("{}[::-1]", self.e(Tuple, d)),
            _ => format!("(lambda a, b=2, *c: (a, b))({})", self.e(Int, d)),
        }
    }

    fn dict(&mut self, d: usize) -> String {
        use Type::{Dict, Int, Str, Texts};
        match self.random.below(6) {
            0 => {
                format!("{{{}: {}, {}: {}}}", self.e(Str, d), self.e(Int, d), self.e(Str, d), self.e(Int, d))
            }
            1 => format!("{{k: len(k) for k in {}}}", self.e(Texts, d)),
            2 => format!("{{**{}, {}: {}}}", self.e(Dict, d), self.e(Str, d), self.e(Int, d)),
            3 => format!("dict(zip({}, range(9)))", self.e(Texts, d)),
            4 => format!("({} | {})", self.e(Dict, d), self.e(Dict, d)),
            _ => format!("{{k: v + 1 for k, v in {}.items()}}", self.e(Dict, d)),
        }
    }

    fn set(&mut self, d: usize) -> String {
        use Type::{List, Set};
        match self.random.below(4) {
            0 => {
                format!("({} {} {})", self.e(Set, d), self.random.pick(&["|", "&", "-", "^"]), self.e(Set, d))
            }
            1 => format!("set(x % 6 for x in {})", self.e(List, d)),
            2 => format!("{{x % 5 for x in {}}}", self.e(List, d)),
            _ => format!(
                "{}.{}({})",
                self.e(Set, d),
                self.random.pick(&["union", "intersection", "difference"]),
                self.e(Set, d)
            ),
        }
    }
}
