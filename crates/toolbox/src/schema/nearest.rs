use failwell_fault::Name;

/// How many suggestions help rather than tire.
const MOST: usize = 3;
/// Names compared at the most: a wrong name must not cost a long search.
const COMPARED: usize = 2_000;

/// The known names nearest to a wrong one.
pub fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Vec<Name> {
    if wrong.len() > 128 {
        return Vec::new();
    }
    let wrong = wrong.to_lowercase();
    let mut scored: Vec<(f64, &str)> = known
        .take(COMPARED)
        .map(|name| (strsim::jaro_winkler(&wrong, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(MOST).filter_map(|(_, name)| Name::parse(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_misses_are_found_and_far_ones_not() {
        let known = ["execute_tests", "discover_tests", "echo"];
        let names = |wrong| nearest(wrong, known.into_iter()).into_iter().map(|n| n.as_str().to_owned());
        assert_eq!(names("exceute_tests").next().as_deref(), Some("execute_tests"));
        assert_eq!(names("Echo").next().as_deref(), Some("echo"));
        assert_eq!(names("zzz").count(), 0);
    }
}
