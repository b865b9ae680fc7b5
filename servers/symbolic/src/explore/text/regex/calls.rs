//! The functions of `re`, and the methods of patterns and matches.

use std::rc::Rc;

use super::matching::{Captures, Matcher};
use super::parse::{IGNORE_CASE, parse};
use super::{Match, Regex};
use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::terms::Term;
use crate::values::{DictKind, IteratorState, Object, Str, Value};

type CodePoints = Rc<Vec<Term>>;

impl Machine {
    /// `re.match(pattern, text)` and similar functions.
    pub(in crate::explore) fn call_re(
        &mut self,
        name: &'static str,
        args: &[Value],
        keywords: &Keywords,
    ) -> OrTrap<Value> {
        let short = name.trim_start_matches("re.");
        if short == "escape" {
            return self.escape_pattern(args);
        }
        // Flags come last, by position or by name. The number of other arguments depends on the function.
        let limit = match short {
            "sub" | "subn" => 4,
            "split" => 3,
            "compile" => 1,
            _ => 2,
        };
        let mut flags = 0;
        let mut rest: Keywords = Vec::new();
        for (name, value) in keywords {
            if &**name == "flags" {
                flags = self.flags(value)?;
            } else {
                rest.push((name.clone(), value.clone()));
            }
        }
        if let Some(value) = args.get(limit) {
            flags = self.flags(value)?;
        }
        let Some((pattern, others)) = args.split_first() else { return self.unsupported(name) };
        let regex = self.regex_of(pattern, flags)?;
        if short == "compile" {
            return Ok(self.object(Object::Pattern(regex)));
        }
        let others = others.get(..others.len().min(limit - 1)).unwrap_or_default();
        self.pattern_method(&regex, short, others, &rest)
    }

    fn flags(&mut self, value: &Value) -> OrTrap<u32> {
        match self.as_index(value).and_then(|flags| flags.small()).and_then(|flags| u32::try_from(flags).ok())
        {
            Some(flags) => Ok(flags),
            None => self.unsupported("these flags"),
        }
    }

    fn regex_of(&mut self, pattern: &Value, flags: u32) -> OrTrap<Rc<Regex>> {
        if let Value::Object(id) = pattern
            && let Object::Pattern(regex) = self.state.get(*id)
        {
            return Ok(regex.clone());
        }
        let Value::Str(Str::Known(source)) = pattern else { return self.unsupported("an unknown pattern") };
        match parse(source, flags) {
            Some(regex) => {
                let is_ascii = source.iter().all(|point| *point < 128);
                if flags & IGNORE_CASE != 0 && !is_ascii {
                    return self.unsupported("a pattern without case on letters beyond ASCII");
                }
                Ok(Rc::new(regex))
            }
            None => self.unsupported("this pattern"),
        }
    }

    fn escape_pattern(&mut self, args: &[Value]) -> OrTrap<Value> {
        let [Value::Str(Str::Known(points))] = args else { return self.unsupported("re.escape of this") };
        let special = "()[]{}?*+-|^$\\.&~# \t\n\r\u{b}\u{c}";
        let mut out = Vec::new();
        for point in points.iter() {
            if char::from_u32(*point).is_some_and(|c| special.contains(c)) {
                out.push(u32::from('\\'));
            }
            out.push(*point);
        }
        Ok(Value::points(out))
    }

    /// A method of a compiled pattern, or the function of the same name.
    pub(in crate::explore) fn pattern_method(
        &mut self,
        regex: &Rc<Regex>,
        name: &str,
        args: &[Value],
        keywords: &Keywords,
    ) -> OrTrap<Value> {
        let named = |wanted: &str| {
            keywords.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| value.clone())
        };
        if keywords.iter().any(|(name, _)| !matches!(&**name, "count" | "maxsplit")) {
            return self.unsupported(format!("this call of {name}()"));
        }
        match (name, args) {
            ("match" | "fullmatch" | "search", [Value::Str(text)]) => {
                let points = Rc::new(self.points_of(text)?);
                let mut matcher = Matcher::new(self, regex, &points);
                let found = match name {
                    "search" => matcher.search(0, false)?,
                    name => matcher.at(0, name == "fullmatch", false)?,
                };
                Ok(match found {
                    Some(spans) => self.matched(regex, &points, spans),
                    None => Value::None,
                })
            }
            ("findall" | "finditer", [Value::Str(text)]) => {
                let points = Rc::new(self.points_of(text)?);
                let mut found = Vec::new();
                for spans in self.every(regex, &points, usize::MAX)? {
                    found.push(match name {
                        "finditer" => self.matched(regex, &points, spans),
                        _ => self.found_item(&points, &spans),
                    });
                }
                if name == "findall" {
                    return Ok(self.list(found));
                }
                Ok(self.object(Object::Iter(IteratorState::Items(Rc::new(found), 0))))
            }
            ("sub" | "subn", [replacement, Value::Str(text), rest @ ..]) => {
                let most = rest.first().cloned().or_else(|| named("count"));
                self.substitute(regex, name, replacement, text, most.as_ref())
            }
            ("split", [Value::Str(text), rest @ ..]) => {
                let most = rest.first().cloned().or_else(|| named("maxsplit"));
                self.split_by(regex, text, most.as_ref())
            }
            ("match" | "fullmatch" | "search" | "findall" | "finditer", [other])
                if !matches!(other, Value::Bytes(_)) =>
            {
                let kind = self.type_name(other);
                self.raise("TypeError", format!("expected string or bytes-like object, got '{kind}'"))
            }
            _ => self.unsupported(format!("this call of {name}()")),
        }
    }

    fn matched(&mut self, regex: &Rc<Regex>, points: &CodePoints, spans: Captures) -> Value {
        let found = Match { regex: regex.clone(), points: points.clone(), spans };
        self.object(Object::Match(Rc::new(found)))
    }

    /// All matches in order. After an empty match, the next one must be non-empty or start later.
    fn every(&mut self, regex: &Rc<Regex>, points: &CodePoints, most: usize) -> OrTrap<Vec<Captures>> {
        let mut all = Vec::new();
        let (mut from, mut must_advance) = (0, false);
        while all.len() < most {
            let Some(spans) = Matcher::new(self, regex, points).search(from, must_advance)? else { break };
            let (start, end) = spans.first().copied().flatten().ok_or(Trap::Bug("no match"))?;
            must_advance = start == end;
            from = end;
            all.push(spans);
            if from > points.len() {
                break;
            }
        }
        Ok(all)
    }

    fn part(&mut self, points: &CodePoints, span: (usize, usize)) -> Value {
        let part = points.get(span.0..span.1).unwrap_or_default().to_vec();
        self.str_of_points(part)
    }

    /// An item of `findall`: the whole match, the only group, or all groups.
    fn found_item(&mut self, points: &CodePoints, spans: &Captures) -> Value {
        let groups: Vec<Option<(usize, usize)>> =
            if spans.len() == 1 { spans.clone() } else { spans.iter().skip(1).copied().collect() };
        let mut texts: Vec<Value> = Vec::new();
        for span in groups {
            texts.push(self.part(points, span.unwrap_or((0, 0))));
        }
        if texts.len() == 1 { texts.pop().unwrap_or(Value::None) } else { Value::tuple(texts) }
    }

    fn most(&mut self, most: Option<&Value>) -> OrTrap<usize> {
        match most {
            None => Ok(usize::MAX),
            Some(most) => match self.as_index(most).and_then(|most| most.small()) {
                Some(0) => Ok(usize::MAX),
                Some(most) => Ok(usize::try_from(most).unwrap_or(0)),
                None => self.unsupported("an unknown count"),
            },
        }
    }

    fn substitute(
        &mut self,
        regex: &Rc<Regex>,
        name: &str,
        replacement: &Value,
        text: &Str,
        most: Option<&Value>,
    ) -> OrTrap<Value> {
        let most = self.most(most)?;
        let points = Rc::new(self.points_of(text)?);
        let all = self.every(regex, &points, most)?;
        let (mut out, mut at, count) = (Vec::new(), 0, all.len());
        for spans in all {
            let (start, end) = spans.first().copied().flatten().ok_or(Trap::Bug("no match"))?;
            out.extend(points.get(at..start).unwrap_or_default());
            at = end;
            match replacement {
                Value::Str(Str::Known(template)) => {
                    let template = template.clone();
                    self.expand(regex, &points, &spans, &template, &mut out)?;
                }
                Value::Str(_) => return self.unsupported("an unknown replacement"),
                function => {
                    let found = self.matched(regex, &points, spans);
                    match self.call(function, vec![found], Vec::new())? {
                        Value::Str(text) => out.extend(self.points_of(&text)?),
                        _ => return self.unsupported("a replacement that is no text"),
                    }
                }
            }
        }
        out.extend(points.get(at..).unwrap_or_default());
        let text = self.str_of_points(out);
        Ok(if name == "subn" { Value::tuple(vec![text, Value::int(count)]) } else { text })
    }

    /// A replacement with `\1` and `\g<name>` in it.
    fn expand(
        &mut self,
        regex: &Regex,
        points: &CodePoints,
        spans: &Captures,
        template: &[u32],
        out: &mut Vec<Term>,
    ) -> OrTrap<()> {
        let text: Vec<char> = template.iter().filter_map(|point| char::from_u32(*point)).collect();
        if text.len() != template.len() {
            return self.unsupported("this replacement");
        }
        let mut rest = text.into_iter().peekable();
        while let Some(found) = rest.next() {
            if found != '\\' {
                out.push(self.terms.int(u32::from(found)));
                continue;
            }
            let number = match rest.next() {
                Some('\\') => {
                    out.push(self.terms.int(u32::from('\\')));
                    continue;
                }
                Some('n') => {
                    out.push(self.terms.int(10));
                    continue;
                }
                Some(digit @ '1'..='9') if !rest.peek().is_some_and(char::is_ascii_digit) => {
                    digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok())
                }
                Some('g') if rest.next() == Some('<') => {
                    let name: String = rest.by_ref().take_while(|c| *c != '>').collect();
                    match name.parse::<usize>() {
                        Ok(number) => Some(number),
                        Err(_) => place_of(regex, &name),
                    }
                }
                _ => None,
            };
            match number.and_then(|number| spans.get(number)) {
                Some(Some((start, end))) => out.extend(points.get(*start..*end).unwrap_or_default()),
                Some(None) => {}
                None => return self.unsupported("this replacement"),
            }
        }
        Ok(())
    }

    fn split_by(&mut self, regex: &Rc<Regex>, text: &Str, most: Option<&Value>) -> OrTrap<Value> {
        let most = self.most(most)?;
        let points = Rc::new(self.points_of(text)?);
        let mut pieces = Vec::new();
        let mut at = 0;
        for spans in self.every(regex, &points, most)? {
            let (start, end) = spans.first().copied().flatten().ok_or(Trap::Bug("no match"))?;
            pieces.push(self.part(&points, (at, start)));
            for span in spans.iter().skip(1) {
                pieces.push(match span {
                    Some(span) => self.part(&points, *span),
                    None => Value::None,
                });
            }
            at = end;
        }
        pieces.push(self.part(&points, (at, points.len())));
        Ok(self.list(pieces))
    }

    pub(in crate::explore) fn match_method(
        &mut self,
        found: &Rc<Match>,
        name: &str,
        args: &[Value],
    ) -> OrTrap<Value> {
        match (name, args) {
            ("group", []) => self.group(found, &Value::int(0)),
            ("group" | "__getitem__", [one]) => self.group(found, one),
            ("group", several) => {
                let mut groups = Vec::new();
                for one in several {
                    groups.push(self.group(found, one)?);
                }
                Ok(Value::tuple(groups))
            }
            ("groups", rest @ ([] | [_])) => {
                let default = rest.first().cloned().unwrap_or(Value::None);
                let mut groups = Vec::new();
                for span in found.spans.iter().skip(1) {
                    groups.push(match span {
                        Some(span) => self.part(&found.points, *span),
                        None => default.clone(),
                    });
                }
                Ok(Value::tuple(groups))
            }
            ("groupdict", []) => {
                let mut entries = Vec::new();
                for (place, name) in found.regex.names.iter().enumerate() {
                    if let Some(name) = name {
                        entries.push((Value::text(name), self.group(found, &Value::int(place + 1))?));
                    }
                }
                self.new_dict(entries, DictKind::Plain)
            }
            ("start" | "end" | "span", rest @ ([] | [_])) => {
                let group = rest.first().cloned().unwrap_or_else(|| Value::int(0));
                let place = self.group_place(found, &group)?;
                let ends = match found.spans.get(place).copied().flatten() {
                    Some((start, end)) => [Value::int(start), Value::int(end)],
                    None => [Value::int(-1), Value::int(-1)],
                };
                let [start, end] = ends;
                Ok(match name {
                    "start" => start,
                    "end" => end,
                    _ => Value::tuple(vec![start, end]),
                })
            }
            _ => self.unsupported(format!("this call of {name}()")),
        }
    }

    fn group_place(&mut self, found: &Rc<Match>, group: &Value) -> OrTrap<usize> {
        let place = match (group.as_text(), self.as_index(group)) {
            (Some(name), _) => place_of(&found.regex, &name),
            (None, Some(place)) => match place.small() {
                Some(place) => usize::try_from(place).ok().filter(|place| *place < found.spans.len()),
                None => return self.unsupported("an unknown group"),
            },
            _ => return self.unsupported("an unknown group"),
        };
        match place {
            Some(place) => Ok(place),
            None => self.raise("IndexError", "no such group"),
        }
    }

    fn group(&mut self, found: &Rc<Match>, group: &Value) -> OrTrap<Value> {
        let place = self.group_place(found, group)?;
        Ok(match found.spans.get(place).copied().flatten() {
            Some(span) => self.part(&found.points, span),
            None => Value::None,
        })
    }
}

fn place_of(regex: &Regex, name: &str) -> Option<usize> {
    regex.names.iter().position(|known| known.as_deref() == Some(name)).map(|place| place + 1)
}
