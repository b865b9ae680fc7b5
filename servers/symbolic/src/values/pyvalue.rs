//! A concrete Python value: an argument or a result of a call.

use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Integers of this many bits have at most 4300 decimal digits.
const LONGEST_DECIMAL: u64 = 14_284;

/// A concrete Python value, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PyValue {
    None,
    Bool(bool),
    /// An integer of any size.
    Int(BigInt),
    /// A float, possibly `nan` or infinite.
    Float(f64),
    /// Code points, including lone surrogates.
    Str(Vec<u32>),
    Bytes(Vec<u8>),
    Tuple(Vec<PyValue>),
    List(Vec<PyValue>),
    /// A dict in insertion order.
    Dict(Vec<(PyValue, PyValue)>),
    /// A set, in no particular order.
    Set(Vec<PyValue>),
    FrozenSet(Vec<PyValue>),
    /// A member of an enum of the analysed code: `Colour.RED`.
    EnumMember {
        /// The name of the class.
        class: String,
        /// The name of the member.
        member: String,
    },
    /// An instance created by calling its class with keyword arguments: a dataclass, a named tuple, a plain
    /// class.
    Instance {
        /// The name of the class.
        class: String,
        /// The keyword arguments of its constructor.
        fields: Vec<InstanceField>,
    },
    /// A function that returns this value for every argument.
    Constant(Box<PyValue>),
    /// A value that is passed again: its name, and the value.
    Named(String, Box<PyValue>),
    /// The same object as an earlier named value.
    SameAs(String),
    /// Any other return value. Only its `repr` is known. It is never an argument.
    Opaque(String),
}

/// A keyword argument of a constructor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceField {
    pub name: String,
    pub value: PyValue,
}

impl PyValue {
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Str(text.chars().map(u32::from).collect())
    }

    #[must_use]
    pub fn int(value: impl Into<BigInt>) -> Self {
        Self::Int(value.into())
    }

    /// Python source text that evaluates to this value inside the analysed module.
    #[must_use]
    pub fn to_literal(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::None => out.push_str("None"),
            Self::Bool(true) => out.push_str("True"),
            Self::Bool(false) => out.push_str("False"),
            Self::Int(value) => out.push_str(&int_literal(value)),
            Self::Float(value) => out.push_str(&float_literal(*value)),
            Self::Str(points) => out.push_str(&super::text::repr(points)),
            Self::Bytes(bytes) => out.push_str(&super::text::bytes_repr(bytes)),
            Self::Tuple(items) => {
                write_all(out, "(", items, if items.len() == 1 { ",)" } else { ")" });
            }
            Self::List(items) => write_all(out, "[", items, "]"),
            Self::Set(items) if items.is_empty() => out.push_str("set()"),
            Self::Set(items) => write_all(out, "{", items, "}"),
            Self::FrozenSet(items) if items.is_empty() => out.push_str("frozenset()"),
            Self::FrozenSet(items) => write_all(out, "frozenset({", items, "})"),
            Self::Dict(entries) => {
                out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    key.write(out);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
            Self::EnumMember { class, member } => {
                out.push_str(class);
                out.push('.');
                out.push_str(member);
            }
            Self::Instance { class, fields } => {
                out.push_str(class);
                out.push('(');
                for (index, field) in fields.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    out.push_str(&field.name);
                    out.push('=');
                    field.value.write(out);
                }
                out.push(')');
            }
            Self::Constant(result) => {
                out.push_str("(lambda *_: ");
                result.write(out);
                out.push(')');
            }
            Self::Named(name, value) => {
                out.push_str(&format!("({name} := "));
                value.write(out);
                out.push(')');
            }
            Self::SameAs(name) => out.push_str(name),
            Self::Opaque(repr) => out.push_str(repr),
        }
    }

    /// The value as JSON if possible, otherwise the Python literal as text.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.as_json().unwrap_or_else(|| Json::String(self.to_literal()))
    }

    /// `None` if JSON has no such value: `nan`, tuples, sets, lone surrogates, keys that are not text.
    fn as_json(&self) -> Option<Json> {
        Some(match self {
            Self::None => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Int(value) => json!(i64::try_from(value).ok()?),
            Self::Float(value) => Json::Number(serde_json::Number::from_f64(*value)?),
            Self::Str(points) => Json::String(super::text::to_string(points)?),
            Self::List(items) => Json::Array(items.iter().map(Self::as_json).collect::<Option<_>>()?),
            Self::Dict(entries) => Json::Object(
                entries
                    .iter()
                    .map(|(key, value)| match key {
                        Self::Str(points) => Some((super::text::to_string(points)?, value.as_json()?)),
                        _ => None,
                    })
                    .collect::<Option<_>>()?,
            ),
            _ => return None,
        })
    }
}

fn write_all(out: &mut String, open: &str, items: &[PyValue], close: &str) {
    out.push_str(open);
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        item.write(out);
    }
    out.push_str(close);
}

/// The decimal literal if CPython accepts it. Beyond 4300 digits CPython accepts only bases that are powers
/// of two.
fn int_literal(value: &BigInt) -> String {
    if value.bits() > LONGEST_DECIMAL {
        let sign = if value.sign() == num_bigint::Sign::Minus { "-" } else { "" };
        return format!("{sign}0x{}", value.magnitude().to_str_radix(16));
    }
    value.to_string()
}

fn float_literal(value: f64) -> String {
    if value.is_nan() {
        "float('nan')".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "float('inf')" } else { "float('-inf')" }.to_owned()
    } else {
        super::text::float_repr(value)
    }
}

#[cfg(test)]
mod tests {
    use super::PyValue;

    #[test]
    fn literals() {
        for (value, literal, json) in [
            (PyValue::Float(f64::NAN), "float('nan')", r#""float('nan')""#),
            (PyValue::Float(1e16), "1e+16", "1e+16"),
            (PyValue::Float(-0.0), "-0.0", "-0.0"),
            (PyValue::Tuple(vec![PyValue::int(1)]), "(1,)", r#""(1,)""#),
            (PyValue::Str(vec![0xD800, 39]), "\"\\ud800'\"", r#""\"\\ud800'\"""#),
            (PyValue::List(vec![PyValue::None]), "[None]", "[null]"),
            (PyValue::Set(vec![]), "set()", r#""set()""#),
        ] {
            assert_eq!(value.to_literal(), literal);
            assert_eq!(value.to_json().to_string(), json);
        }
    }
}
