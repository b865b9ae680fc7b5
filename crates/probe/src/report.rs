//! The report: what held, what did not, with the bytes that prove it.

mod markdown;
mod printable;
mod summary;
mod table;

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::checks::leak::Leak;
use crate::checks::verdict::{Level, Verdict};
use crate::revision::Revision;
use crate::target::Transport;

pub(crate) use printable::printable;
pub use table::Detail;

/// One check and its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// Stable name, such as `json.truncated`.
    pub id: String,
    /// The part of the id before the dot.
    pub group: String,
    /// A short description of the check.
    pub title: String,
    /// How strongly the rule binds; raised to `must` when the server did not survive.
    pub level: Level,
    /// The revision it was made in.
    pub revision: Revision,
    /// Whether the server still answered afterwards.
    pub survived: bool,
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The expected behaviour.
    pub expected: String,
    /// The clause of the specification or the rule behind it.
    pub rule: String,
    /// The bytes sent, made printable and capped.
    pub sent: String,
    /// The bytes received, made printable and capped.
    pub got: String,
    /// How long it took.
    #[serde(rename = "duration_ms", serialize_with = "milliseconds")]
    pub duration: Duration,
}

/// The number of checks by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerdictCounts {
    /// As they should be.
    pub held: usize,
    /// Held but for a recommendation.
    pub short: usize,
    /// Not as they should be.
    pub broken: usize,
    /// Saying nothing about this server.
    pub not_applicable: usize,
}

impl VerdictCounts {
    /// Checks that count.
    pub fn counted(&self) -> usize {
        self.held + self.short + self.broken
    }
}

/// The result of an examination.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command line or address.
    pub target: String,
    /// How it was spoken to.
    pub transport: Transport,
    /// The server's own name.
    pub server_name: Option<String>,
    /// The server's own version.
    pub server_version: Option<String>,
    /// The revisions it speaks, oldest first.
    pub revisions: Vec<Revision>,
    /// The tool that was called.
    pub tool: Option<String>,
    /// 0 to 100.
    pub score: u32,
    /// The number of checks by verdict.
    pub tally: VerdictCounts,
    pub checks: Vec<CheckReport>,
    /// Internal details that the server leaked.
    pub leaks: Vec<Leak>,
    /// Whether every check was reached in the time given.
    pub complete: bool,
    /// How long it took.
    #[serde(rename = "duration_ms", serialize_with = "milliseconds")]
    pub duration: Duration,
}

impl Report {
    /// The heaviest finding: what the server did not survive, then leaks, then MUST, then SHOULD.
    pub fn worst(&self) -> Option<&CheckReport> {
        let lost = |check: &&CheckReport| {
            check.verdict.half_points(check.level).map_or(0, |(won, whole)| whole - won)
        };
        // The first of equals, so that the answer does not depend on the order of comparison.
        self.checks
            .iter()
            .rev()
            .max_by_key(|check| (!check.survived, lost(check)))
            .filter(|check| lost(check) > 0)
    }
}

/// Points won of points at stake, in hundredths, rounded down so that 100 means all.
pub(crate) fn score(checks: &[CheckReport]) -> u32 {
    let points = checks.iter().filter_map(|check| check.verdict.half_points(check.level));
    let (won, whole) = points.fold((0, 0), |(won, whole), (one, of)| (won + one, whole + of));
    (won * 100).checked_div(whole).unwrap_or(0)
}

pub(crate) fn tally(checks: &[CheckReport]) -> VerdictCounts {
    let mut tally = VerdictCounts::default();
    for check in checks {
        match check.verdict {
            Verdict::Held { .. } => tally.held += 1,
            Verdict::Short { .. } => tally.short += 1,
            Verdict::Broken { .. } => tally.broken += 1,
            Verdict::NotApplicable { .. } => tally.not_applicable += 1,
        }
    }
    tally
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u128(duration.as_millis())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::{CheckReport, Report, score, tally};
    use crate::checks::verdict::{Level, Verdict};
    use crate::revision::Revision;
    use crate::target::Transport;

    pub(crate) fn one(level: Level, verdict: Verdict) -> CheckReport {
        CheckReport {
            id: "json.truncated".to_owned(),
            group: "json".to_owned(),
            title: "truncated JSON".to_owned(),
            level,
            revision: Revision::November2025,
            survived: true,
            verdict,
            expected: "error -32700".to_owned(),
            rule: "JSON-RPC 2.0 5.1".to_owned(),
            sent: "{\"a\"".to_owned(),
            got: String::new(),
            duration: Duration::from_millis(3),
        }
    }

    pub(crate) fn report(checks: Vec<CheckReport>) -> Report {
        Report {
            target: "server --flag".to_owned(),
            transport: Transport::Stdio,
            server_name: Some("example".to_owned()),
            server_version: Some("1.2".to_owned()),
            revisions: vec![Revision::November2025],
            tool: None,
            score: score(&checks),
            tally: tally(&checks),
            checks,
            leaks: Vec::new(),
            complete: true,
            duration: Duration::from_secs(2),
        }
    }

    fn check(checks: &[(Level, Verdict)], expected: u32) {
        let checks: Vec<_> = checks.iter().map(|(level, verdict)| one(*level, verdict.clone())).collect();
        assert_eq!(score(&checks), expected, "{checks:?}");
    }

    #[test]
    fn scores_weigh_by_level() {
        check(&[], 0);
        check(&[(Level::Must, Verdict::HELD)], 100);
        check(&[(Level::Must, Verdict::HELD), (Level::Should, Verdict::broken("x"))], 75);
        check(&[(Level::Must, Verdict::broken("x")), (Level::Should, Verdict::HELD)], 25);
        check(&[(Level::Must, Verdict::short("x"))], 66);
        check(&[(Level::Should, Verdict::short("x"))], 50);
        check(&[(Level::Leak, Verdict::broken("x")), (Level::Leak, Verdict::HELD)], 50);
        check(&[(Level::Must, Verdict::HELD), (Level::Leak, Verdict::not_applicable("x"))], 100);
    }

    #[test]
    fn the_worst_is_the_heaviest_and_first() {
        let leak = CheckReport { id: "leak.path".to_owned(), ..one(Level::Leak, Verdict::broken("y")) };
        let all = vec![
            one(Level::Must, Verdict::broken("x")),
            leak.clone(),
            one(Level::Leak, Verdict::broken("z")),
        ];
        assert_eq!(report(all.clone()).worst().unwrap().id, "leak.path");
        let death = CheckReport {
            id: "limit.x".to_owned(),
            survived: false,
            ..one(Level::Must, Verdict::broken("died"))
        };
        assert_eq!(report([all, vec![death]].concat()).worst().unwrap().id, "limit.x");
        assert!(report(vec![one(Level::Must, Verdict::HELD)]).worst().is_none());
    }

    #[test]
    fn json_names_the_verdict() {
        let value = serde_json::to_value(report(vec![one(Level::Must, Verdict::broken("x"))])).unwrap();
        assert_eq!(value["checks"][0]["verdict"], "broken");
        assert_eq!(value["checks"][0]["why"], "x");
        assert_eq!(value["revisions"][0], "2025-11-25");
        assert_eq!(value["tally"]["broken"], 1);
    }
}
