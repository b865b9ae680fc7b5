//! String literals and f-strings.

use ruff_python_ast::{self as ast, ConversionFlag, FStringPart, InterpolatedStringElement};

use super::code::{Const, Conversion, Op};
use super::lower::CodeLowering;

impl<'a> CodeLowering<'a, '_> {
    pub(super) fn string_literal(&mut self, found: &'a ast::ExprStringLiteral) {
        // The parser's text type cannot contain a lone surrogate. It would be replaced by another character.
        let has_surrogate = found
            .value
            .iter()
            .any(|part| !part.flags.prefix().is_raw() && names_surrogate(self.source(part)));
        if has_surrogate {
            return self.unsupported("a lone surrogate in a literal");
        }
        self.text(found.value.to_str());
    }

    pub(super) fn f_string(&mut self, found: &'a ast::ExprFString) {
        let mut count = 0;
        for part in found.value.as_slice() {
            match part {
                FStringPart::Literal(literal) => {
                    self.text(&literal.value);
                    count += 1;
                }
                FStringPart::FString(inner) => count += self.elements(&inner.elements),
            }
        }
        self.emit(Op::BuildString(count));
    }

    fn elements(&mut self, elements: &'a ast::InterpolatedStringElements) -> u32 {
        let mut count = 0;
        for element in elements {
            count += 1;
            match element {
                InterpolatedStringElement::Literal(literal) => self.text(&literal.value),
                InterpolatedStringElement::Interpolation(found) => {
                    let mut conversion = match found.conversion {
                        ConversionFlag::None => Conversion::None,
                        ConversionFlag::Str => Conversion::Str,
                        ConversionFlag::Ascii => Conversion::Ascii,
                        ConversionFlag::Repr => Conversion::Repr,
                    };
                    if let Some(debug) = &found.debug_text {
                        let text = format!(
                            "{}{}{}",
                            debug.leading(),
                            self.source(&*found.expression),
                            debug.trailing()
                        );
                        self.text(&text);
                        count += 1;
                        if conversion == Conversion::None && found.format_spec.is_none() {
                            conversion = Conversion::Repr;
                        }
                    }
                    self.expr(&found.expression);
                    match &found.format_spec {
                        Some(spec) => {
                            let parts = self.elements(&spec.elements);
                            self.emit(Op::BuildString(parts));
                            self.emit(Op::FormatSpec(conversion));
                        }
                        None => {
                            self.emit(Op::Format(conversion));
                        }
                    }
                }
            }
        }
        if count == 0 {
            self.constant(Const::Str(Default::default()));
            return 1;
        }
        count
    }
}

fn names_surrogate(source: &str) -> bool {
    source.split("\\u").skip(1).any(|rest| {
        let mut digits = rest.chars();
        matches!(digits.next(), Some('d' | 'D'))
            && matches!(digits.next(), Some('8'..='9' | 'a'..='f' | 'A'..='F'))
    }) || source.contains("\\U0000d")
        || source.contains("\\U0000D")
}
