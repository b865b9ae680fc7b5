//! Parses the solver's output.

use std::collections::HashMap;

use num_bigint::BigInt;

use crate::terms::{Scalar, Var};

enum SExpr<'a> {
    Atom(&'a str),
    List(Vec<SExpr<'a>>),
}

/// The values of `(get-value …)`. Unreadable ones are left out.
pub(super) fn values(text: &str) -> HashMap<Var, Scalar> {
    let mut tokens = tokens(text).into_iter().peekable();
    let mut found = HashMap::new();
    let Some(SExpr::List(pairs)) = parse(&mut tokens) else { return found };
    for pair in pairs {
        let SExpr::List(pair) = pair else { continue };
        if let [SExpr::Atom(name), value] = pair.as_slice()
            && let Some(number) = name.strip_prefix('v').and_then(|digits| digits.parse().ok())
            && let Some(value) = scalar(value)
        {
            found.insert(Var(number), value);
        }
    }
    found
}

fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = None;
    for (index, c) in text.char_indices() {
        if c == '(' || c == ')' || c.is_whitespace() {
            if let Some(from) = start.take() {
                found.extend(text.get(from..index));
            }
            if !c.is_whitespace() {
                found.extend(text.get(index..=index));
            }
        } else if start.is_none() {
            start = Some(index);
        }
    }
    found.extend(start.and_then(|from| text.get(from..)));
    found
}

fn parse<'a>(tokens: &mut std::iter::Peekable<std::vec::IntoIter<&'a str>>) -> Option<SExpr<'a>> {
    match tokens.next()? {
        "(" => {
            let mut items = Vec::new();
            while *tokens.peek()? != ")" {
                items.push(parse(tokens)?);
            }
            tokens.next();
            Some(SExpr::List(items))
        }
        ")" => None,
        atom => Some(SExpr::Atom(atom)),
    }
}

fn scalar(value: &SExpr<'_>) -> Option<Scalar> {
    match value {
        SExpr::Atom("true") => Some(Scalar::Bool(true)),
        SExpr::Atom("false") => Some(Scalar::Bool(false)),
        SExpr::Atom(digits) => BigInt::parse_bytes(digits.as_bytes(), 10).map(Scalar::Int),
        SExpr::List(items) => match items.as_slice() {
            [SExpr::Atom("-"), SExpr::Atom(digits)] => {
                BigInt::parse_bytes(digits.as_bytes(), 10).map(|value| Scalar::Int(-value))
            }
            [SExpr::Atom("fp"), SExpr::Atom(sign), SExpr::Atom(exponent), SExpr::Atom(fraction)] => {
                let value = (bits(sign)? << 63) | (bits(exponent)? << 52) | bits(fraction)?;
                Some(Scalar::Float(f64::from_bits(value)))
            }
            [SExpr::Atom("_"), SExpr::Atom(special), ..] => Some(Scalar::Float(match *special {
                "+oo" => f64::INFINITY,
                "-oo" => f64::NEG_INFINITY,
                "+zero" => 0.0,
                "-zero" => -0.0,
                "NaN" => f64::NAN,
                _ => return None,
            })),
            _ => None,
        },
    }
}

fn bits(text: &str) -> Option<u64> {
    match text.get(..2)? {
        "#b" => u64::from_str_radix(text.get(2..)?, 2).ok(),
        "#x" => u64::from_str_radix(text.get(2..)?, 16).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::values;
    use crate::terms::{Scalar, Var};

    #[test]
    fn values_are_read() {
        let found = values(
            "((v0 (- 12))\n (v1 true)\n (v2 (fp #b1 #b01111111111 #x0000000000000))\n (v3 (_ -oo 11 53)))",
        );
        assert_eq!(found.get(&Var(0)), Some(&Scalar::Int((-12).into())));
        assert_eq!(found.get(&Var(1)), Some(&Scalar::Bool(true)));
        assert_eq!(found.get(&Var(2)), Some(&Scalar::Float(-1.0)));
        assert_eq!(found.get(&Var(3)), Some(&Scalar::Float(f64::NEG_INFINITY)));
    }
}
