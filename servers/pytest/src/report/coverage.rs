//! A short form of coverage: uncovered ranges of lines.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum size of a coverage report, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Maximum number of listed files, least covered first.
const MOST_FILES: usize = 50;

#[derive(Deserialize)]
struct CoverageReport {
    files: std::collections::BTreeMap<String, FileCoverage>,
    totals: CoverageTotals,
}

#[derive(Deserialize)]
struct FileCoverage {
    missing_lines: Vec<u64>,
    summary: CoverageTotals,
}

#[derive(Deserialize)]
struct CoverageTotals {
    percent_covered: f64,
    #[serde(default)]
    num_statements: u64,
}

/// Reads and shortens the output of `coverage json`. `None` if there is none.
pub(crate) fn read(path: &Path) -> Option<Value> {
    let size = path.metadata().ok()?.len();
    let measured: CoverageReport =
        serde_json::from_slice(&std::fs::read(path).ok().filter(|_| size <= LARGEST)?).ok()?;
    let mut files: Vec<(&String, &FileCoverage)> =
        measured.files.iter().filter(|(_, file)| file.summary.num_statements > 0).collect();
    files.sort_by(|a, b| a.1.summary.percent_covered.total_cmp(&b.1.summary.percent_covered));
    let rows: Vec<Value> = files
        .iter()
        .take(MOST_FILES)
        .map(|(name, file)| json!({"file": name, "percent": tenth(file.summary.percent_covered), "missing": ranges(&file.missing_lines)}))
        .collect();
    let mut coverage = json!({"percent": tenth(measured.totals.percent_covered), "files": rows});
    if let Some(members) = coverage.as_object_mut()
        && files.len() > MOST_FILES
    {
        members.insert("files_omitted".to_owned(), json!(files.len() - MOST_FILES));
    }
    Some(coverage)
}

fn tenth(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

/// Formats `[1, 2, 3, 7]` as `1-3, 7`.
fn ranges(lines: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == *line => *end = *line,
            _ => ranges.push((*line, *line)),
        }
    }
    let words: Vec<String> = ranges
        .iter()
        .map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") })
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn lines_become_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3, 7, 9-10");
        assert_eq!(ranges(&[]), "");
    }
}
