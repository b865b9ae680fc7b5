//! Digits beyond ASCII.
//!
//! The set of digits depends on the Unicode version of a Python build. The tables hold for Python 3.8 to
//! 3.13. New digits appear in the supplementary planes only. A character there that is not in the tables is
//! undetermined.

use crate::explore::machine::{Machine, OrTrap};
use crate::terms::{Interval, Sort, Term, Terms};

/// Characters for which `str.isdecimal` is true. Each range starts with a zero and continues in tens.
pub(crate) const DECIMALS: &[(u32, u32)] = &[
    (0x30, 0x39),
    (0x660, 0x669),
    (0x6F0, 0x6F9),
    (0x7C0, 0x7C9),
    (0x966, 0x96F),
    (0x9E6, 0x9EF),
    (0xA66, 0xA6F),
    (0xAE6, 0xAEF),
    (0xB66, 0xB6F),
    (0xBE6, 0xBEF),
    (0xC66, 0xC6F),
    (0xCE6, 0xCEF),
    (0xD66, 0xD6F),
    (0xDE6, 0xDEF),
    (0xE50, 0xE59),
    (0xED0, 0xED9),
    (0xF20, 0xF29),
    (0x1040, 0x1049),
    (0x1090, 0x1099),
    (0x17E0, 0x17E9),
    (0x1810, 0x1819),
    (0x1946, 0x194F),
    (0x19D0, 0x19D9),
    (0x1A80, 0x1A89),
    (0x1A90, 0x1A99),
    (0x1B50, 0x1B59),
    (0x1BB0, 0x1BB9),
    (0x1C40, 0x1C49),
    (0x1C50, 0x1C59),
    (0xA620, 0xA629),
    (0xA8D0, 0xA8D9),
    (0xA900, 0xA909),
    (0xA9D0, 0xA9D9),
    (0xA9F0, 0xA9F9),
    (0xAA50, 0xAA59),
    (0xABF0, 0xABF9),
    (0xFF10, 0xFF19),
    (0x104A0, 0x104A9),
    (0x10D30, 0x10D39),
    (0x11066, 0x1106F),
    (0x110F0, 0x110F9),
    (0x11136, 0x1113F),
    (0x111D0, 0x111D9),
    (0x112F0, 0x112F9),
    (0x11450, 0x11459),
    (0x114D0, 0x114D9),
    (0x11650, 0x11659),
    (0x116C0, 0x116C9),
    (0x11730, 0x11739),
    (0x118E0, 0x118E9),
    (0x11C50, 0x11C59),
    (0x11D50, 0x11D59),
    (0x11DA0, 0x11DA9),
    (0x16A60, 0x16A69),
    (0x16B50, 0x16B59),
    (0x1D7CE, 0x1D7FF),
    (0x1E140, 0x1E149),
    (0x1E2F0, 0x1E2F9),
    (0x1E950, 0x1E959),
];

/// Further characters for which `str.isdigit` is true.
const OTHER_DIGITS: &[(u32, u32)] = &[
    (0xB2, 0xB3),
    (0xB9, 0xB9),
    (0x1369, 0x1371),
    (0x19DA, 0x19DA),
    (0x2070, 0x2070),
    (0x2074, 0x2079),
    (0x2080, 0x2089),
    (0x2460, 0x2468),
    (0x2474, 0x247C),
    (0x2488, 0x2490),
    (0x24EA, 0x24EA),
    (0x24F5, 0x24FD),
    (0x24FF, 0x24FF),
    (0x2776, 0x277E),
    (0x2780, 0x2788),
    (0x278A, 0x2792),
    (0x10A40, 0x10A43),
    (0x10E60, 0x10E68),
    (0x11052, 0x1105A),
    (0x1F100, 0x1F10A),
];

/// The first character of the supplementary planes.
const SUPPLEMENTARY: u32 = 0x1_0000;

fn is_within(point: u32, ranges: &[(u32, u32)]) -> bool {
    ranges.iter().any(|(low, high)| (*low..=*high).contains(&point))
}

/// The value of a decimal digit. `None` for other characters, and `Err` if it depends on the Python version.
pub(crate) fn decimal_value(point: u32) -> Result<Option<u32>, VersionDependent> {
    let range = DECIMALS.iter().find(|(low, high)| (*low..=*high).contains(&point));
    match range {
        Some((low, _)) => Ok(Some((point - low) % 10)),
        None if point >= SUPPLEMENTARY => Err(VersionDependent),
        None => Ok(None),
    }
}

/// The result depends on the Python version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VersionDependent;

/// Replaces every decimal digit by the ASCII digit, to parse numbers.
pub(crate) fn ascii_digits(points: &[u32]) -> Result<Vec<u32>, VersionDependent> {
    points.iter().map(|point| Ok(decimal_value(*point)?.map_or(*point, |digit| digit + 48))).collect()
}

/// `isdecimal` and `isdigit` of one character. `None` if the result depends on the Python version.
pub(crate) fn is_digit(name: &str, point: u32) -> Option<bool> {
    match decimal_value(point) {
        Ok(Some(_)) => Some(true),
        _ if name == "isdigit" && is_within(point, OTHER_DIGITS) => Some(true),
        Ok(None) => Some(false),
        Err(VersionDependent) => None,
    }
}

impl Machine {
    /// Whether a character is a digit in the sense of `isdecimal` or `isdigit`. A character that is a digit
    /// in some Python versions is undetermined. A decimal is also a digit.
    pub(crate) fn is_digit_term(&mut self, name: &str, point: Term) -> OrTrap<Term> {
        let mut known = self.in_ranges(point, DECIMALS);
        if name == "isdigit" {
            let other = self.in_ranges(point, OTHER_DIGITS);
            known = self.terms.or(known, other);
        }
        if self.is_sure(point)? {
            return Ok(known);
        }
        let free = self.newer_digit("decimal", point);
        known = self.terms.or(known, free);
        if name == "isdigit" {
            let free = self.newer_digit("digit", point);
            known = self.terms.or(known, free);
        }
        Ok(known)
    }

    /// Decides whether the tables determine a character.
    fn is_sure(&mut self, point: Term) -> OrTrap<bool> {
        let planes = self.in_ranges(point, &[(0, SUPPLEMENTARY - 1)]);
        if self.terms.as_bool(planes) == Some(true) {
            return Ok(true);
        }
        let decimal = self.in_ranges(point, DECIMALS);
        let sure = self.terms.or(planes, decimal);
        let is_sure = self.decide_term(sure)?;
        if !is_sure {
            self.abstracted(
                "characters above U+FFFF that are not digits in every Python may be digits or not",
            );
        }
        Ok(is_sure)
    }

    fn newer_digit(&mut self, what: &str, point: Term) -> Term {
        let name = self.named_after(&format!("unicodedata.{what}"), &[point]);
        self.terms.var(&name, Sort::Bool, Interval::ALL)
    }

    /// The value of a decimal digit, and the condition that the character is one.
    pub(crate) fn digit_of(&mut self, point: Term) -> OrTrap<(Term, Term)> {
        if self.is_sure(point)? {
            let is_decimal = self.in_ranges(point, DECIMALS);
            let mut value = self.terms.int(0);
            for range in DECIMALS {
                let inside = self.in_ranges(point, &[*range]);
                let (zero, ten) = (self.terms.int(range.0), self.terms.int(10));
                let distance = self.terms.sub(point, zero);
                let digit =
                    if range.1 - range.0 == 9 { distance } else { self.terms.floor_mod(distance, ten) };
                value = self.terms.ite(inside, digit, value);
            }
            return Ok((is_decimal, value));
        }
        let name = self.named_after("int", &[point]);
        let value = self.terms.var(&name, Sort::Int, Interval::of(0, 9));
        Ok((self.newer_digit("decimal", point), value))
    }

    /// Whether all characters are ASCII on this path. `Terms::TRUE` folds away for known ones.
    pub(crate) fn all_ascii(&mut self, points: &[Term]) -> OrTrap<bool> {
        let mut all = Terms::TRUE;
        for point in points {
            let ascii = self.in_ranges(*point, &[(0, 127)]);
            all = self.terms.and(all, ascii);
        }
        self.decide_term(all)
    }
}
