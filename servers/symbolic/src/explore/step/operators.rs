//! Operators, attributes, subscripts and formatting.

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::Flow;
use crate::frontend::ir::{Conversion, Op, UnaryOp};
use crate::values::Value;

impl Machine {
    /// Operators, attributes, subscripts and the parts of f-strings.
    pub(super) fn execute_operator(&mut self, op: &Op) -> OrTrap<Flow> {
        match op {
            Op::Unary(op) => {
                let value = self.peek(0)?;
                let result = match op {
                    UnaryOp::Not => {
                        let truth = self.truth(&value)?;
                        Value::Bool(self.not_truth(truth))
                    }
                    op => self.unary(*op, &value)?,
                };
                self.replace(1, result)?;
            }
            Op::Binary(op) => {
                let (left, right) = (self.peek(1)?, self.peek(0)?);
                let result = self.binary(*op, &left, &right)?;
                self.replace(2, result)?;
            }
            Op::InPlace(op) => {
                let (left, right) = (self.peek(1)?, self.peek(0)?);
                let result = self.in_place(*op, &left, &right)?;
                self.replace(2, result)?;
            }
            Op::Compare(op) => {
                let (left, right) = (self.peek(1)?, self.peek(0)?);
                let result = self.compare(*op, &left, &right)?;
                self.replace(2, result)?;
            }
            Op::LoadAttr(name) => {
                let owner = self.peek(0)?;
                let value = self.attribute(&owner, name)?;
                self.replace(1, value)?;
            }
            Op::StoreAttr(name) => {
                let (value, owner) = (self.peek(1)?, self.peek(0)?);
                self.set_attribute(&owner, name, value)?;
                self.drop(2)?;
            }
            Op::DelAttr(name) => {
                let owner = self.peek(0)?;
                self.delete_attribute(&owner, name)?;
                self.drop(1)?;
            }
            Op::Subscript => {
                let (container, index) = (self.peek(1)?, self.peek(0)?);
                let value = self.subscript(&container, &index)?;
                self.replace(2, value)?;
            }
            Op::StoreSubscript => {
                let (value, container, index) = (self.peek(2)?, self.peek(1)?, self.peek(0)?);
                self.set_subscript(&container, &index, value)?;
                self.drop(3)?;
            }
            Op::DelSubscript => {
                let (container, index) = (self.peek(1)?, self.peek(0)?);
                self.delete_subscript(&container, &index)?;
                self.drop(2)?;
            }
            Op::Format(conversion) => {
                let value = self.peek(0)?;
                let text = self.format_with(&value, *conversion, None)?;
                self.replace(1, text)?;
            }
            Op::FormatSpec(conversion) => {
                let (value, spec) = (self.peek(1)?, self.peek(0)?);
                let text = self.format_with(&value, *conversion, Some(&spec))?;
                self.replace(2, text)?;
            }
            Op::BuildString(count) => {
                let parts = self.top(*count as usize)?;
                let text = self.concatenate(&parts)?;
                self.replace(*count as usize, text)?;
            }
            _ => return Err(Trap::Bug("not an instruction of this group")),
        }
        Ok(Flow::Next)
    }

    pub(super) fn format_with(
        &mut self,
        value: &Value,
        conversion: Conversion,
        spec: Option<&Value>,
    ) -> OrTrap<Value> {
        let value = match conversion {
            Conversion::None => value.clone(),
            Conversion::Str => Value::Str(self.str_of(value)?),
            Conversion::Repr => Value::Str(self.repr_of(value)?),
            Conversion::Ascii => return self.unsupported("!a in an f-string"),
        };
        self.format_value(&value, spec)
    }
}
