//! Methods of strings.

use std::rc::Rc;

use super::known_str;
use crate::explore::calls::Keywords;
use crate::explore::machine::{LONGEST, Machine, OrTrap, Trap};
use crate::terms::{Term, Terms};
use crate::values::{Str, Value};

/// The `keepends` argument of `splitlines`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    Included,
    Dropped,
}

/// ASCII ranges of character predicates.
fn ranges(name: &str) -> Option<&'static [(u32, u32)]> {
    Some(match name {
        "isnumeric" => &[(48, 57)],
        "isalpha" => &[(65, 90), (97, 122)],
        "isalnum" => &[(48, 57), (65, 90), (97, 122)],
        _ => return None,
    })
}

impl Machine {
    pub(super) fn str_method(
        &mut self,
        text: &Str,
        name: &str,
        args: &[Value],
        keywords: &Keywords,
    ) -> OrTrap<Value> {
        if name == "format" {
            let Some(template) = Value::Str(text.clone()).as_text() else {
                return self.unsupported("format() of an unknown text");
            };
            return self.brace_format(&template, args, keywords);
        }
        if !keywords.is_empty() && !matches!(name, "split" | "rsplit" | "splitlines" | "encode") {
            return self.raise("TypeError", format!("str.{name}() takes no keyword arguments"));
        }
        if keywords.is_empty()
            && let Some(open) = self.stays_open(text)
            && let Some(value) = self.open_method(&open, name, args)?
        {
            return Ok(value);
        }
        match (name, args) {
            ("translate", [table]) => {
                self.call_library("string", "_translate", vec![Value::Str(text.clone()), table.clone()])
            }
            ("upper" | "lower" | "casefold" | "capitalize" | "swapcase" | "title", []) => {
                self.map_case(text, name)
            }
            (
                "isalnum" | "isalpha" | "isascii" | "isdecimal" | "isdigit" | "isidentifier" | "islower"
                | "isnumeric" | "isspace" | "istitle" | "isupper",
                [],
            ) => self.ask(text, name),
            ("join", [items]) => self.join(text, items),
            ("strip" | "lstrip" | "rstrip", args @ ([] | [_])) => self.strip(text, name, args.first()),
            ("startswith" | "endswith", [part]) => self.begins_or_ends(text, name, part),
            ("startswith" | "endswith", [part, bounds @ ..]) => {
                let points = self.points_of(text)?;
                let (from, to) = self.search_bounds(points.len(), bounds)?;
                let window = points.get(from..to.max(from)).unwrap_or_default().to_vec();
                let Value::Str(window) = self.str_of_points(window) else { return Err(Trap::Bug("no text")) };
                self.begins_or_ends(&window, name, part)
            }
            ("find" | "rfind" | "index" | "rindex", [Value::Str(part), bounds @ ..]) => {
                self.find(text, part, bounds, name)
            }
            ("count", [Value::Str(part), bounds @ ..]) => self.count(text, part, bounds),
            ("replace", [Value::Str(old), Value::Str(new), rest @ ..]) => {
                let most = match rest.first() {
                    Some(most) => self.small_count(most)?.unwrap_or(usize::MAX),
                    None => usize::MAX,
                };
                self.replace_in(text, old, new, most)
            }
            ("split" | "rsplit", _) => self.split(text, name, args, keywords),
            ("splitlines", args @ ([] | [_])) if keywords.iter().all(|(name, _)| &**name == "keepends") => {
                let keeps = args.first().or_else(|| keywords.first().map(|(_, value)| value)).cloned();
                let keeps = keeps.unwrap_or_else(|| Value::bool(false));
                let keeps_ends = self.decide_value(&keeps)?;
                self.split_lines(text, if keeps_ends { LineEnds::Included } else { LineEnds::Dropped })
            }
            ("partition" | "rpartition", [Value::Str(separator)]) => self.partition(text, name, separator),
            ("removeprefix" | "removesuffix", [Value::Str(part)]) => {
                let question = if name == "removeprefix" { "startswith" } else { "endswith" };
                let has = self.begins_or_ends(text, question, &Value::Str(part.clone()))?;
                if !self.decide_value(&has)? {
                    return Ok(Value::Str(text.clone()));
                }
                let (points, part) = (self.points_of(text)?, self.points_of(part)?);
                let kept = points.len().saturating_sub(part.len());
                let kept = if name == "removeprefix" { points.get(part.len()..) } else { points.get(..kept) };
                let kept = kept.unwrap_or_default().to_vec();
                Ok(self.str_of_points(kept))
            }
            ("center" | "ljust" | "rjust" | "zfill", [width, rest @ ..]) => {
                self.justify(text, name, width, rest.first())
            }
            ("encode", args @ ([] | [_])) if keywords.is_empty() => {
                let encoding = args.first().map_or(Some("utf-8".to_owned()), Value::as_text);
                let is_utf8 = encoding.as_deref().is_some_and(|name| matches!(name, "utf-8" | "utf8"));
                let is_ascii = encoding.as_deref() == Some("ascii");
                match Value::Str(text.clone()).as_text() {
                    Some(text) if is_utf8 || (is_ascii && text.is_ascii()) => {
                        Ok(Value::Bytes(Rc::new(text.into_bytes())))
                    }
                    _ => self.unsupported("encode() of this text"),
                }
            }
            ("encode" | "splitlines", _) => self.unsupported(format!("this call of {name}()")),
            (
                "find" | "rfind" | "index" | "rindex" | "count" | "replace" | "partition" | "removeprefix",
                _,
            ) => self.raise("TypeError", format!("{name}() argument must be str")),
            _ => self.wrong_arguments(name),
        }
    }

    fn map_case(&mut self, text: &Str, name: &str) -> OrTrap<Value> {
        if let Str::Known(points) = text {
            return match known_str::map(name, points) {
                Some(points) => Ok(Value::points(points)),
                None => self.unsupported(format!("{name}() of these characters")),
            };
        }
        let points = self.points_of(text)?;
        self.require_ascii(&points, &format!("{name}()"))?;
        let mut mapped = Vec::new();
        let mut inside = Terms::FALSE;
        for (index, point) in points.iter().enumerate() {
            let upper = self.shifted(*point, (97, 122), -32);
            let lower = self.shifted(*point, (65, 90), 32);
            let is_lower = self.in_ranges(*point, &[(97, 122)]);
            mapped.push(match name {
                "upper" => upper,
                "lower" | "casefold" => lower,
                "capitalize" => {
                    if index == 0 {
                        upper
                    } else {
                        lower
                    }
                }
                "swapcase" => self.terms.ite(is_lower, upper, lower),
                _ => self.terms.ite(inside, lower, upper),
            });
            inside = self.in_ranges(*point, &[(65, 90), (97, 122)]);
        }
        Ok(self.str_of_points(mapped))
    }

    fn shifted(&mut self, point: Term, range: (u32, u32), by: i64) -> Term {
        let inside = self.in_ranges(point, &[range]);
        let by = self.terms.int(by);
        let moved = self.terms.add(point, by);
        self.terms.ite(inside, moved, point)
    }

    fn ask(&mut self, text: &Str, name: &str) -> OrTrap<Value> {
        if let Str::Known(points) = text {
            return match known_str::ask(name, points) {
                Some(answer) => Ok(Value::bool(answer)),
                None => self.unsupported(format!("{name}() of these characters")),
            };
        }
        let points = self.points_of(text)?;
        if points.is_empty() {
            return Ok(Value::bool(name == "isascii"));
        }
        let mut all = Terms::TRUE;
        match name {
            "isascii" | "isspace" => {
                for point in &points {
                    let here = match name {
                        "isascii" => self.in_ranges(*point, &[(0, 127)]),
                        _ => self.is_space_term(*point),
                    };
                    all = self.terms.and(all, here);
                }
            }
            "isupper" | "islower" => {
                self.require_ascii(&points, &format!("{name}()"))?;
                let (wanted, other) =
                    if name == "isupper" { ((65, 90), (97, 122)) } else { ((97, 122), (65, 90)) };
                let mut any = Terms::FALSE;
                for point in &points {
                    let (has, bad) = (self.in_ranges(*point, &[wanted]), self.in_ranges(*point, &[other]));
                    any = self.terms.or(any, has);
                    let good = self.terms.not(bad);
                    all = self.terms.and(all, good);
                }
                all = self.terms.and(all, any);
            }
            "isdecimal" | "isdigit" => {
                // This decides most queries: ASCII has one range of digits.
                let is_ascii = self.all_ascii(&points)?;
                for point in &points {
                    let here = if is_ascii {
                        self.in_ranges(*point, &[(48, 57)])
                    } else {
                        self.is_digit_term(name, *point)?
                    };
                    all = self.terms.and(all, here);
                }
            }
            name => {
                let Some(ranges) = ranges(name) else {
                    return self.unsupported(format!("{name}() of unknown characters"));
                };
                self.require_ascii(&points, &format!("{name}()"))?;
                for point in &points {
                    let here = self.in_ranges(*point, ranges);
                    all = self.terms.and(all, here);
                }
            }
        }
        Ok(Value::Bool(self.truth_of(all)))
    }

    fn join(&mut self, separator: &Str, items: &Value) -> OrTrap<Value> {
        if !self.is_iterable(items)? {
            return self.raise("TypeError", "can only join an iterable");
        }
        let items = self.collect(items)?;
        let mut parts = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                parts.push(Value::Str(separator.clone()));
            }
            match self.underlying(&item) {
                Some(Value::Str(text)) => parts.push(Value::Str(text)),
                _ => {
                    let name = self.type_name(&item);
                    let text = format!("sequence item {index}: expected str instance, {name} found");
                    return self.raise("TypeError", text);
                }
            }
        }
        if parts.is_empty() {
            return Ok(Value::text(""));
        }
        self.concatenate(&parts)
    }

    fn is_stripped(&mut self, point: Term, characters: Option<&[Term]>) -> Term {
        match characters {
            None => self.is_space_term(point),
            Some(characters) => {
                let mut any = Terms::FALSE;
                for character in characters {
                    let same = self.terms.int_eq(point, *character);
                    any = self.terms.or(any, same);
                }
                any
            }
        }
    }

    fn strip(&mut self, text: &Str, name: &str, characters: Option<&Value>) -> OrTrap<Value> {
        let characters = match characters {
            None | Some(Value::None) => None,
            Some(Value::Str(characters)) => Some(self.points_of(characters)?),
            Some(_) => return self.raise("TypeError", format!("{name} arg must be None or str")),
        };
        let points = self.points_of(text)?;
        let (mut from, mut to) = (0, points.len());
        if name != "rstrip" {
            while let Some(point) = points.get(from).filter(|_| from < to) {
                let goes = self.is_stripped(*point, characters.as_deref());
                if !self.decide_term(goes)? {
                    break;
                }
                from += 1;
            }
        }
        if name != "lstrip" {
            while let Some(point) = to.checked_sub(1).and_then(|last| points.get(last)).filter(|_| from < to)
            {
                let goes = self.is_stripped(*point, characters.as_deref());
                if !self.decide_term(goes)? {
                    break;
                }
                to -= 1;
            }
        }
        let kept = points.get(from..to).unwrap_or_default().to_vec();
        Ok(self.str_of_points(kept))
    }

    fn begins_or_ends(&mut self, text: &Str, name: &str, part: &Value) -> OrTrap<Value> {
        match part {
            Value::Tuple(parts) => {
                let mut any = Terms::FALSE;
                for part in parts.iter() {
                    let Value::Bool(truth) = self.begins_or_ends(text, name, part)? else { continue };
                    let term = self.truth_term(truth);
                    any = self.terms.or(any, term);
                }
                Ok(Value::Bool(self.truth_of(any)))
            }
            Value::Str(part) => {
                if let (Str::Open(open), "startswith") = (text, name) {
                    // The prefix of a text of unknown length needs no decision about the length.
                    let part = self.points_of(part)?;
                    let count = self.terms.int(part.len());
                    let mut all = self.terms.int_le(count, open.length);
                    for (place, point) in part.iter().enumerate() {
                        let own = self.open_at(open, place);
                        let same = self.terms.int_eq(own, *point);
                        all = self.terms.and(all, same);
                    }
                    return Ok(Value::Bool(self.truth_of(all)));
                }
                let (points, part) = (self.points_of(text)?, self.points_of(part)?);
                if part.len() > points.len() {
                    return Ok(Value::bool(false));
                }
                let window = if name == "startswith" {
                    points.get(..part.len())
                } else {
                    points.get(points.len() - part.len()..)
                };
                let equal = self.points_equal(window.unwrap_or_default(), &part);
                Ok(Value::Bool(self.truth_of(equal)))
            }
            other => {
                let kind = self.type_name(other);
                let text = format!("{name} first arg must be str or a tuple of str, not {kind}");
                self.raise("TypeError", text)
            }
        }
    }

    fn find(&mut self, text: &Str, part: &Str, bounds: &[Value], name: &str) -> OrTrap<Value> {
        let (points, part) = (self.points_of(text)?, self.points_of(part)?);
        let (from, to) = self.search_bounds(points.len(), bounds)?;
        let found = if name.starts_with('r') {
            let mut found = None;
            let mut at = to.checked_sub(part.len());
            while let Some(place) = at.filter(|place| *place >= from) {
                let window = points.get(place..place + part.len()).unwrap_or_default();
                let equal = self.points_equal(window, &part);
                if self.decide_term(equal)? {
                    found = Some(place);
                    break;
                }
                at = place.checked_sub(1);
            }
            found
        } else {
            self.find_points(&points, &part, from, to)?
        };
        match found {
            Some(place) => Ok(Value::int(place)),
            None if name.ends_with("find") => Ok(Value::int(-1)),
            None => self.raise("ValueError", "substring not found"),
        }
    }

    fn count(&mut self, text: &Str, part: &Str, bounds: &[Value]) -> OrTrap<Value> {
        let (points, part) = (self.points_of(text)?, self.points_of(part)?);
        let (from, to) = self.search_bounds(points.len(), bounds)?;
        if part.is_empty() {
            return Ok(Value::int((to + 1).saturating_sub(from)));
        }
        if let [one] = part.as_slice() {
            // Single characters do not overlap, so their count is a sum.
            let mut total = self.terms.int(0);
            for point in points.get(from..to.max(from)).unwrap_or_default() {
                let same = self.terms.int_eq(*point, *one);
                let here = self.terms.int_of_bool(same);
                total = self.terms.add(total, here);
            }
            return Ok(self.int_value(total));
        }
        let (mut at, mut total) = (from, 0);
        while let Some(place) = self.find_points(&points, &part, at, to)? {
            total += 1;
            at = place + part.len();
        }
        Ok(Value::int(total))
    }

    fn replace_in(&mut self, text: &Str, old: &Str, new: &Str, most: usize) -> OrTrap<Value> {
        let (points, old, new) = (self.points_of(text)?, self.points_of(old)?, self.points_of(new)?);
        let mut out: Vec<Term> = Vec::new();
        let (mut at, mut done) = (0, 0);
        if old.is_empty() {
            for point in &points {
                if done < most {
                    out.extend(&new);
                    done += 1;
                }
                out.push(*point);
            }
            if done < most {
                out.extend(&new);
            }
            return Ok(self.str_of_points(out));
        }
        while done < most {
            let Some(place) = self.find_points(&points, &old, at, points.len())? else { break };
            out.extend(points.get(at..place).unwrap_or_default());
            out.extend(&new);
            at = place + old.len();
            done += 1;
            if out.len() > LONGEST {
                return Err(Trap::Bound("a string of a million characters".to_owned()));
            }
        }
        out.extend(points.get(at..).unwrap_or_default());
        Ok(self.str_of_points(out))
    }

    fn split(&mut self, text: &Str, name: &str, args: &[Value], keywords: &Keywords) -> OrTrap<Value> {
        let named = |wanted: &str| {
            keywords.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| value.clone())
        };
        let separator = args.first().cloned().or_else(|| named("sep")).unwrap_or(Value::None);
        let most = match args.get(1).cloned().or_else(|| named("maxsplit")) {
            Some(most) => self.small_count(&most)?.unwrap_or(usize::MAX),
            None => usize::MAX,
        };
        let points = self.points_of(text)?;
        if name == "rsplit" && most != usize::MAX {
            return self.unsupported("rsplit with a limit");
        }
        let pieces = match separator {
            Value::None => self.split_spaces(&points, most)?,
            Value::Str(separator) => {
                let separator = self.points_of(&separator)?;
                if separator.is_empty() {
                    return self.raise("ValueError", "empty separator");
                }
                if name == "rsplit" && separator.len() > 1 {
                    return self.unsupported("rsplit by a longer separator");
                }
                let (mut pieces, mut at) = (Vec::new(), 0);
                while pieces.len() < most {
                    let Some(place) = self.find_points(&points, &separator, at, points.len())? else { break };
                    pieces.push(points.get(at..place).unwrap_or_default().to_vec());
                    at = place + separator.len();
                }
                pieces.push(points.get(at..).unwrap_or_default().to_vec());
                pieces
            }
            other => {
                let name = self.type_name(&other);
                return self.raise("TypeError", format!("must be str or None, not {name}"));
            }
        };
        let pieces = pieces.into_iter().map(|piece| self.str_of_points(piece)).collect();
        Ok(self.list(pieces))
    }

    fn split_spaces(&mut self, points: &[Term], most: usize) -> OrTrap<Vec<Vec<Term>>> {
        let mut pieces = Vec::new();
        let mut current: Vec<Term> = Vec::new();
        let mut index = 0;
        while let Some(point) = points.get(index) {
            let space = self.is_space_term(*point);
            if self.decide_term(space)? {
                if !current.is_empty() {
                    pieces.push(std::mem::take(&mut current));
                }
            } else {
                if current.is_empty() && pieces.len() == most {
                    // The rest stays whole, except for spaces at its end.
                    let mut rest = points.get(index..).unwrap_or_default().to_vec();
                    while let Some(last) = rest.last() {
                        let space = self.is_space_term(*last);
                        if !self.decide_term(space)? {
                            break;
                        }
                        rest.pop();
                    }
                    pieces.push(rest);
                    return Ok(pieces);
                }
                current.push(*point);
            }
            index += 1;
        }
        if !current.is_empty() {
            pieces.push(current);
        }
        Ok(pieces)
    }

    fn split_lines(&mut self, text: &Str, ends: LineEnds) -> OrTrap<Value> {
        let Str::Known(points) = text else { return self.unsupported("splitlines() of an unknown text") };
        let breaks = [10, 11, 12, 13, 28, 29, 30, 0x85, 0x2028, 0x2029];
        let mut lines = Vec::new();
        let mut current = Vec::new();
        let mut points = points.iter().copied().peekable();
        while let Some(point) = points.next() {
            if breaks.contains(&point) {
                let second = if point == 13 { points.next_if_eq(&10) } else { None };
                if ends == LineEnds::Included {
                    current.push(point);
                    current.extend(second);
                }
                lines.push(Value::points(std::mem::take(&mut current)));
            } else {
                current.push(point);
            }
        }
        if !current.is_empty() {
            lines.push(Value::points(current));
        }
        Ok(self.list(lines))
    }

    fn partition(&mut self, text: &Str, name: &str, separator: &Str) -> OrTrap<Value> {
        let Value::Int(place) =
            self.find(text, separator, &[], if name == "partition" { "find" } else { "rfind" })?
        else {
            return Err(Trap::Bug("no place"));
        };
        let (points, part) = (self.points_of(text)?, self.points_of(separator)?);
        if part.is_empty() {
            return self.raise("ValueError", "empty separator");
        }
        let whole = Value::Str(text.clone());
        let empty = Value::text("");
        let Some(place) = place.small().and_then(|place| usize::try_from(place).ok()) else {
            let parts = if name == "partition" {
                vec![whole, empty.clone(), empty]
            } else {
                vec![empty.clone(), empty, whole]
            };
            return Ok(Value::tuple(parts));
        };
        let before = points.get(..place).unwrap_or_default().to_vec();
        let after = points.get(place + part.len()..).unwrap_or_default().to_vec();
        let parts =
            vec![self.str_of_points(before), Value::Str(separator.clone()), self.str_of_points(after)];
        Ok(Value::tuple(parts))
    }

    fn justify(&mut self, text: &Str, name: &str, width: &Value, fill: Option<&Value>) -> OrTrap<Value> {
        let points = self.points_of(text)?;
        let Some(width) = self.as_index(width) else { return self.wrong_arguments(name) };
        let width = usize::try_from(self.choose_small(&width)?).unwrap_or(0);
        if width > LONGEST {
            return Err(Trap::Bound("a string of a million characters".to_owned()));
        }
        let missing = width.saturating_sub(points.len());
        let fill = match (name, fill) {
            ("zfill", _) => self.terms.int(48),
            (_, None) => self.terms.int(32),
            (_, Some(Value::Str(fill))) => match self.points_of(fill)?.as_slice() {
                [one] => *one,
                _ => return self.raise("TypeError", "The fill character must be exactly one character long"),
            },
            _ => return self.wrong_arguments(name),
        };
        let pad = |count| std::iter::repeat_n(fill, count);
        let out: Vec<Term> = match name {
            "ljust" => points.iter().copied().chain(pad(missing)).collect(),
            "rjust" => pad(missing).chain(points.iter().copied()).collect(),
            "center" => {
                // CPython puts the extra character on the left if the width is odd.
                let left = missing / 2 + (missing & width & 1);
                pad(left).chain(points.iter().copied()).chain(pad(missing - left)).collect()
            }
            _ => {
                let signed = match points.first() {
                    Some(first) => {
                        let sign = self.in_ranges(*first, &[(43, 43), (45, 45)]);
                        self.decide_term(sign)?
                    }
                    None => false,
                };
                let (sign, digits) = points.split_at(usize::from(signed));
                sign.iter().copied().chain(pad(missing)).chain(digits.iter().copied()).collect()
            }
        };
        Ok(self.str_of_points(out))
    }
}
