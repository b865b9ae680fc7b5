//! Every literal of the table of shapes has a sample in `tests/guards/secrets`, and every shape a near miss.

use std::path::Path;

use memchr::memmem;

use super::shape::{SecretShape, ShapeMatcher};
use super::shapes::SHAPES;
use crate::guard::category::Category;

#[path = "../../../../tests/corpus/fill.rs"]
mod fill;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/guards/secrets");

/// The lines of a category with this sign, filled in.
fn lines(category: Category, sign: &str) -> Vec<String> {
    let file = Path::new(CORPUS).join(format!("{}.txt", category.as_str()));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let lines = text
        .lines()
        .enumerate()
        .filter_map(|(number, line)| line.strip_prefix(sign).map(|line| fill::fill(line, number as u64 + 1)));
    lines.collect()
}

fn matches(shape: &SecretShape, prefix: &str, text: &str) -> bool {
    let mut matcher = ShapeMatcher::new(text.as_bytes());
    let mut places = memmem::find_iter(text.as_bytes(), prefix.as_bytes());
    places.any(|start| matcher.find(shape, start, start + prefix.len()).is_some())
}

#[test]
fn every_literal_has_a_sample() {
    let mut missing = Vec::new();
    for shape in SHAPES {
        let samples = lines(shape.category, "+ ");
        for prefix in shape.prefixes {
            if !samples.iter().any(|sample| matches(shape, prefix, sample)) {
                missing.push(format!("{}: {prefix}", shape.category.as_str()));
            }
        }
    }
    assert!(missing.is_empty(), "add a line to tests/guards/secrets for each of {missing:#?}");
}

/// The corpus test shows that nothing is found in a near miss.
#[test]
fn every_shape_has_a_near_miss() {
    let is_near = |shape: &SecretShape, line: &str| shape.prefixes.iter().any(|prefix| line.contains(prefix));
    let missing: Vec<String> = SHAPES
        .iter()
        .filter(|shape| !lines(shape.category, "- ").iter().any(|line| is_near(shape, line)))
        .map(|shape| format!("{}: {:?}", shape.category.as_str(), shape.prefixes))
        .collect();
    assert!(missing.is_empty(), "add a line to tests/guards/secrets for one of each of {missing:#?}");
}
