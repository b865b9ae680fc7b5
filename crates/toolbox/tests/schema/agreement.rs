//! Two validators agree on random schemas and values.

use std::cell::Cell;

use failwell_toolbox::Schema;
use proptest::collection;
use proptest::prelude::any;
use proptest::prop_assert_eq;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::oracle::{Oracle, lines};
use crate::samples::{fitting, schema, value};

const SCHEMAS: u32 = 2_500;
/// Random values for each schema, and as many that nearly fit it.
const VALUES: usize = 8;

#[test]
fn both_validators_agree() {
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    let config =
        Config { cases: SCHEMAS, max_shrink_iters: 4_000, failure_persistence: None, ..Config::default() };
    // The same samples in each run, so that only a change of the code can break this.
    let samples = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let pairs = (schema(), collection::vec(value(), VALUES), collection::vec(any::<u64>(), VALUES));
    let outcome = TestRunner::new_with_rng(config, samples).run(&pairs, |(schema, values, choices)| {
        let oracle = Oracle::new(&schema).expect("it compiles there");
        let ours = Schema::new(schema.clone()).expect("it compiles here");
        let near = choices.iter().filter_map(|choices| fitting(&schema, &schema, *choices, 6));
        for value in near.chain(values) {
            let mut expected = lines(&oracle.violations(&value));
            let mut found = lines(&ours.violations_in(&value.to_string()));
            let count = if expected.is_empty() { &accepted } else { &refused };
            count.set(count.get() + 1);
            // The order is tested with schemas that people write.
            expected.sort();
            found.sort();
            prop_assert_eq!(found, expected, "{} against {}", value, schema);
        }
        Ok(())
    });
    assert_eq!(outcome.map_err(|error| error.to_string()), Ok(()));
    let (accepted, refused) = (accepted.get(), refused.get());
    assert!(accepted + refused >= 20_000, "{accepted} accepted and {refused} refused");
    assert!(accepted.min(refused) >= 5_000, "{accepted} accepted and {refused} refused");
}
