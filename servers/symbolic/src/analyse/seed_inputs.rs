//! Known inputs to try first: most bugs can be found without a solver.

use num_bigint::BigInt;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Number, Stmt};

use crate::explore::{InputType, Machine};
use crate::{InstanceField, Program, PyValue};

/// Constants of the code and their neighbours, as seed inputs.
#[derive(Default)]
pub(super) struct Constants {
    ints: Vec<BigInt>,
    floats: Vec<f64>,
    texts: Vec<String>,
}

impl Constants {
    pub(super) fn of(program: &Program) -> Self {
        let mut constants = Self::default();
        program.module().body.iter().for_each(|stmt| constants.visit_stmt(stmt));
        constants.ints.truncate(40);
        constants.floats.truncate(20);
        constants.texts.truncate(20);
        constants
    }
}

impl<'a> Visitor<'a> for Constants {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::NumberLiteral(found) => match &found.value {
                Number::Int(value) => {
                    if let Some(value) = value.as_i64() {
                        let value = BigInt::from(value);
                        for near in [value.clone(), &value + 1, &value - 1, -&value] {
                            if !self.ints.contains(&near) {
                                self.ints.push(near);
                            }
                        }
                    }
                }
                Number::Float(value) => self.floats.extend([*value, -*value, value + 1.0]),
                Number::Complex { .. } => {}
            },
            Expr::StringLiteral(found) if found.value.len() < 40 => {
                self.texts.push(found.value.to_str().to_owned())
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// A pseudo-random generator with a fixed seed.
pub(super) struct DeterministicRng(u64);

impl DeterministicRng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(bound.max(1)).unwrap_or(1)).unwrap_or(0)
    }
}

pub(super) struct ValuePool<'a> {
    pub(super) constants: &'a Constants,
    pub(super) machine: &'a Machine,
}

impl ValuePool<'_> {
    /// Candidate values of a type.
    pub(super) fn values(
        &self,
        kind: &InputType,
        random: &mut DeterministicRng,
        depth: usize,
    ) -> Vec<PyValue> {
        match kind {
            InputType::None => vec![PyValue::None],
            InputType::Bool => vec![PyValue::Bool(false), PyValue::Bool(true)],
            InputType::Int => {
                let mut values: Vec<PyValue> =
                    [0i64, 1, -1, 2, -2, 3, 5, 7, 10, -7, 100, -100, 255, 1000].map(PyValue::int).to_vec();
                values.extend(self.constants.ints.iter().cloned().map(PyValue::Int));
                values.push(PyValue::Int(BigInt::from(1) << 31));
                values.push(PyValue::Int(BigInt::from(1) << 63));
                values.push(PyValue::int(-(1i128 << 64) - 1));
                values.push(PyValue::Int((BigInt::from(1) << 53) + 1));
                values
            }
            InputType::Float => {
                let mut values: Vec<f64> = vec![
                    0.0,
                    1.0,
                    -1.0,
                    0.5,
                    -0.5,
                    0.1,
                    0.2,
                    0.3,
                    2.5,
                    -0.0,
                    1e16,
                    -1e16,
                    1e308,
                    -1e308,
                    5e-324,
                    1e-300,
                    3.0,
                    7.0,
                    100.0,
                    1.0 / 3.0,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                ];
                values.extend(&self.constants.floats);
                values.into_iter().map(PyValue::Float).collect()
            }
            InputType::Str => {
                let mut values: Vec<String> = [
                    "",
                    "a",
                    "A",
                    "b",
                    "ab",
                    "ba",
                    "aa",
                    "aba",
                    "abc",
                    " ",
                    " a ",
                    "0",
                    "1",
                    "12",
                    "-1",
                    "a b",
                    "a,b",
                    "ß",
                    "²",
                    "é",
                    "İ",
                    "\n",
                    "x=1",
                    "hello world",
                    "aaaaaaaaaa",
                    "A1",
                    "\u{1F600}",
                    "ǆ",
                ]
                .map(str::to_owned)
                .to_vec();
                values.extend(
                    self.constants
                        .texts
                        .iter()
                        .flat_map(|text| [text.clone(), format!("{text}a"), format!("a{text}")]),
                );
                values.iter().map(|text| PyValue::text(text)).collect()
            }
            InputType::List(element) => {
                self.sequences(element, random, depth).into_iter().map(PyValue::List).collect()
            }
            InputType::TupleOf(element) => {
                self.sequences(element, random, depth).into_iter().map(PyValue::Tuple).collect()
            }
            InputType::Set(element) => {
                let all = self.sequences(element, random, depth).into_iter();
                all.map(|items| PyValue::Set(distinct(items))).collect()
            }
            InputType::FrozenSet(element) => {
                let all = self.sequences(element, random, depth).into_iter();
                all.map(|items| PyValue::FrozenSet(distinct(items))).collect()
            }
            InputType::Tuple(items) => {
                let pools: Vec<Vec<PyValue>> =
                    items.iter().map(|item| self.values(item, random, depth + 1)).collect();
                (0..20).filter_map(|index| row(&pools, index, random)).map(PyValue::Tuple).collect()
            }
            InputType::Dict(key, value) => {
                let (keys, values) =
                    (self.sequences(key, random, depth), self.values(value, random, depth + 1));
                keys.into_iter()
                    .map(|keys| {
                        let entries = distinct(keys).into_iter();
                        PyValue::Dict(entries.filter_map(|key| Some((key, pick(&values, random)?))).collect())
                    })
                    .collect()
            }
            InputType::Union(kinds) => {
                kinds.iter().flat_map(|kind| self.values(kind, random, depth + 1)).collect()
            }
            InputType::Unknown => self.values(&InputType::Union(InputType::common()), random, depth + 1),
            InputType::OneOf(values) => {
                values.iter().filter_map(|value| self.machine.known_data(value)).collect()
            }
            InputType::Instance(class, fields) => {
                let Some(class) = self.machine.class_of(*class) else { return Vec::new() };
                let pools: Vec<Vec<PyValue>> =
                    fields.iter().map(|(_, kind)| self.values(kind, random, depth + 1)).collect();
                let rows = (0..20).filter_map(|index| row(&pools, index, random));
                rows.map(|row| {
                    let fields = fields.iter().zip(row);
                    let fields = fields
                        .map(|((name, _), value)| InstanceField { name: name.to_string(), value })
                        .collect();
                    PyValue::Instance { class: class.name.to_string(), fields }
                })
                .collect()
            }
            InputType::Constant(result) => {
                let results = self.values(result, random, depth + 1).into_iter();
                results.map(|result| PyValue::Constant(Box::new(result))).collect()
            }
            InputType::Unsupported(_) => Vec::new(),
        }
    }

    fn sequences(
        &self,
        element: &InputType,
        random: &mut DeterministicRng,
        depth: usize,
    ) -> Vec<Vec<PyValue>> {
        if depth > 2 {
            return vec![Vec::new()];
        }
        let values = self.values(element, random, depth + 1);
        let mut all = vec![Vec::new()];
        all.extend(values.iter().take(6).map(|value| vec![value.clone()]));
        for length in [2, 2, 2, 2, 3, 3, 3, 4, 5, 8] {
            all.push((0..length).filter_map(|_| pick(&values, random)).collect());
        }
        if let Some(first) = values.first() {
            all.push(vec![first.clone(), first.clone()]);
        }
        all
    }
}

fn pick(values: &[PyValue], random: &mut DeterministicRng) -> Option<PyValue> {
    values.get(random.below(values.len())).cloned()
}

fn distinct(items: Vec<PyValue>) -> Vec<PyValue> {
    let mut kept: Vec<PyValue> = Vec::new();
    for item in items {
        // Numbers of different types may be equal as keys. One numeric type at a time is enough here.
        let is_new = !kept.contains(&item)
            && kept.iter().all(|known| std::mem::discriminant(known) == std::mem::discriminant(&item));
        let is_nan = matches!(&item, PyValue::Float(value) if value.is_nan() || *value == 0.0);
        if is_new && !is_nan {
            kept.push(item);
        }
    }
    kept
}

/// One value from each pool. The first rows use the same index in all pools, later rows are random.
pub(super) fn row(
    pools: &[Vec<PyValue>],
    index: usize,
    random: &mut DeterministicRng,
) -> Option<Vec<PyValue>> {
    pools
        .iter()
        .map(
            |pool| if index < 14 { pool.get(index % pool.len().max(1)).cloned() } else { pick(pool, random) },
        )
        .collect()
}
