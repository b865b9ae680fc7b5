"""Text and back. What is read has to be known; what is written may be unknown where its text can be."""


class JSONDecodeError(ValueError):
    def __init__(self, msg, doc, pos):
        line = doc.count("\n", 0, pos) + 1
        column = pos - doc.rfind("\n", 0, pos)
        super().__init__(f"{msg}: line {line} column {column} (char {pos})")
        self.msg, self.doc, self.pos, self.lineno, self.colno = msg, doc, pos, line, column


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None,
          separators=None, default=None, sort_keys=False):
    if skipkeys or not check_circular or cls is not None or indent is not None or default is not None:
        unsupported("this option of json.dumps")
    between, after_key = (", ", ": ") if separators is None else separators
    return "".join(_written(obj, (ensure_ascii, allow_nan, between, after_key, sort_keys), 0))


def _written(value, options, depth):
    if depth > 40:
        unsupported("json.dumps of something nested this deeply")
    if value is None:
        return ["null"]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    kind = type(value)
    if kind is str:
        return [_quoted(value, options[0])]
    if kind is int:
        return [str(value)]
    if kind is float:
        return [_number(value, options[1])]
    if kind is list or kind is tuple:
        return _joined("[", [_written(item, options, depth + 1) for item in value], "]", options[2])
    if isinstance(value, dict):
        pairs = value.items()
        if options[4]:
            pairs = sorted(pairs)
        members = []
        for key, item in pairs:
            name = _quoted(_key(key, options[1]), options[0])
            members.append([name, options[3]] + _written(item, options, depth + 1))
        return _joined("{", members, "}", options[2])
    if isinstance(value, (str, int, float, list, tuple)):
        unsupported("json.dumps of a subclass")
    raise TypeError(f"Object of type {kind.__name__} is not JSON serializable")


def _joined(opening, parts, closing, between):
    out = [opening]
    for place, part in enumerate(parts):
        if place:
            out.append(between)
        out += part
    return out + [closing]


def _key(key, allow_nan):
    if isinstance(key, str):
        return key
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    if type(key) is int:
        return str(key)
    if type(key) is float:
        return _number(key, allow_nan)
    raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")


def _number(value, allow_nan):
    if value != value or value in (float("inf"), float("-inf")):
        if not allow_nan:
            raise ValueError("Out of range float values are not JSON compliant")
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return repr(value)


_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def _quoted(text, ascii_only):
    out = ['"']
    for letter in text:
        if letter in _SHORT:
            out.append(_SHORT[letter])
        elif " " <= letter <= "~" or (letter > "~" and not ascii_only):
            out.append(letter)
        else:
            point = ord(letter)
            if point > 0xFFFF:
                point -= 0x10000
                out.append(f"\\u{0xD800 + (point >> 10):04x}\\u{0xDC00 + (point & 0x3FF):04x}")
            else:
                out.append(f"\\u{point:04x}")
    return "".join(out) + '"'


def loads(s, **options):
    if options:
        unsupported("options of json.loads")
    if not isinstance(s, str):
        if isinstance(s, bytes):
            unsupported("json.loads of bytes")
        raise TypeError(f"the JSON object must be str, bytes or bytearray, not {type(s).__name__}")
    if not is_known(s):
        unsupported("json.loads of an unknown text")
    if s.startswith("\ufeff"):
        raise JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", s, 0)
    value, at = _read(s, _blank(s, 0), 0)
    at = _blank(s, at)
    if at != len(s):
        raise JSONDecodeError("Extra data", s, at)
    return value


def _blank(text, at):
    while at < len(text) and text[at] in " \t\n\r":
        at += 1
    return at


_WORDS = {"null": None, "true": True, "false": False, "NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def _read(text, at, depth):
    if depth > 40:
        unsupported("json.loads of something nested this deeply")
    first = text[at:at + 1]
    if first == '"':
        return _read_text(text, at + 1)
    if first == "{":
        return _read_object(text, at + 1, depth)
    if first == "[":
        return _read_array(text, at + 1, depth)
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return value, at + len(word)
    return _read_number(text, at)


def _digits(text, at):
    while at < len(text) and "0" <= text[at] <= "9":
        at += 1
    return at


def _read_number(text, at):
    begin = at + 1 if text[at:at + 1] == "-" else at
    end = _digits(text, begin)
    if end == begin:
        raise JSONDecodeError("Expecting value", text, at)
    if text[begin] == "0":
        end = begin + 1
    is_whole = True
    if text[end:end + 1] == ".":
        part = _digits(text, end + 1)
        if part > end + 1:
            end, is_whole = part, False
    if text[end:end + 1] in ("e", "E"):
        sign = end + 2 if text[end + 1:end + 2] in ("+", "-") else end + 1
        power = _digits(text, sign)
        if power > sign:
            end, is_whole = power, False
    number = text[at:end]
    return (int(number) if is_whole else float(number)), end


_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _read_text(text, at):
    begin, out = at - 1, []
    while True:
        if at >= len(text):
            raise JSONDecodeError("Unterminated string starting at", text, begin)
        letter = text[at]
        if letter == '"':
            return "".join(out), at + 1
        if letter < " ":
            raise JSONDecodeError("Invalid control character at", text, at)
        if letter != "\\":
            out.append(letter)
            at += 1
            continue
        if at + 1 >= len(text):
            raise JSONDecodeError("Unterminated string starting at", text, begin)
        kind = text[at + 1]
        if kind == "u":
            unsupported("\\u in what json.loads reads")
        if kind not in _ESCAPES:
            raise JSONDecodeError("Invalid \\escape", text, at)
        out.append(_ESCAPES[kind])
        at += 2


def _read_array(text, at, depth):
    items, at = [], _blank(text, at)
    if text[at:at + 1] == "]":
        return items, at + 1
    while True:
        item, at = _read(text, at, depth + 1)
        items.append(item)
        at = _blank(text, at)
        following = text[at:at + 1]
        if following == "]":
            return items, at + 1
        if following != ",":
            raise JSONDecodeError("Expecting ',' delimiter", text, at)
        at = _blank(text, at + 1)


def _read_object(text, at, depth):
    members, at = {}, _blank(text, at)
    if text[at:at + 1] == "}":
        return members, at + 1
    while True:
        if text[at:at + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        name, at = _read_text(text, at + 1)
        at = _blank(text, at)
        if text[at:at + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", text, at)
        members[name], at = _read(text, _blank(text, at + 1), depth + 1)
        at = _blank(text, at)
        following = text[at:at + 1]
        if following == "}":
            return members, at + 1
        if following != ",":
            raise JSONDecodeError("Expecting ',' delimiter", text, at)
        at = _blank(text, at + 1)
