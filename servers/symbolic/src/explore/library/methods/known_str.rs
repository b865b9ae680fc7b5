//! Methods of strings with known characters.

use crate::explore::text::unicode::is_digit;
use crate::values::text::to_string;

/// The result of a method without arguments. `None` if the method or a character is unsupported.
pub(super) fn map(name: &str, points: &[u32]) -> Option<Vec<u32>> {
    let text = to_string(points)?;
    let is_certain = text.chars().all(|c| u32::from(c) < 0x250 || (0x370..0x530).contains(&u32::from(c)));
    if !is_certain {
        return None;
    }
    let mapped = match name {
        "upper" => text.to_uppercase(),
        "lower" => text.to_lowercase(),
        "casefold" if text.is_ascii() => text.to_lowercase(),
        "casefold" => text.to_lowercase().replace('ß', "ss"),
        "capitalize" if text.is_ascii() => {
            let mut chars = text.chars();
            chars.next().map_or_else(String::new, |first| {
                first.to_ascii_uppercase().to_string() + &chars.as_str().to_ascii_lowercase()
            })
        }
        "swapcase" if text.is_ascii() => text
            .chars()
            .map(|c| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() })
            .collect(),
        "title" if text.is_ascii() => {
            let mut inside = false;
            text.chars()
                .map(|c| {
                    let mapped = if inside { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
                    inside = c.is_ascii_alphabetic();
                    mapped
                })
                .collect()
        }
        _ => return None,
    };
    Some(mapped.chars().map(u32::from).collect())
}

/// The result of a predicate such as `isalpha`.
pub(super) fn ask(name: &str, points: &[u32]) -> Option<bool> {
    if name == "isascii" {
        return Some(points.iter().all(|point| *point < 128));
    }
    if name == "isspace" {
        return Some(
            !points.is_empty() && points.iter().all(|point| crate::explore::text::strings::is_space(*point)),
        );
    }
    if matches!(name, "isdecimal" | "isdigit") {
        let each: Option<Vec<bool>> = points.iter().map(|point| is_digit(name, *point)).collect();
        return Some(!points.is_empty() && each?.into_iter().all(|is| is));
    }
    let text = to_string(points)?;
    let is_certain = text.chars().all(|c| u32::from(c) < 0x250 || (0x370..0x530).contains(&u32::from(c)));
    if !is_certain {
        return None;
    }
    let some = !text.is_empty();
    let is_cased = |c: char| c.is_uppercase() || c.is_lowercase();
    Some(match name {
        "isnumeric" => {
            some && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '²' | '³' | '¹' | '¼' | '½' | '¾'))
        }
        "isalpha" => some && text.chars().all(char::is_alphabetic),
        "isalnum" => {
            some && text.chars().all(|c| c.is_alphabetic() || c.is_ascii_digit() || "²³¹¼½¾".contains(c))
        }
        "isupper" => text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase),
        "islower" => text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase),
        "istitle" if text.is_ascii() => {
            let mut inside = false;
            let mut any = false;
            for c in text.chars() {
                if is_cased(c) {
                    if c.is_uppercase() == inside {
                        return Some(false);
                    }
                    any = true;
                }
                inside = is_cased(c);
            }
            any
        }
        "isidentifier" if text.is_ascii() => {
            let mut chars = text.chars();
            chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
                && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        }
        _ => return None,
    })
}
