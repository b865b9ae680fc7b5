//! The messages between the server and an engine process. A length of four bytes precedes each one.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::analyse::report::{BranchReport, CheckReport, CompareReport, ExceptionReport};
use crate::frontend::validate::ValidationError;
use crate::server::tools;
use crate::server::tools::{BranchArguments, CheckArguments, CompareArguments, ExceptionArguments};
use crate::{Condition, PyValue, ReplayOutcome, ReplayProblem};

/// Maximum length of a message. It is larger than the longest answer of a solver.
pub(crate) const LONGEST_MESSAGE: usize = 64 << 20;

/// Messages to the engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToEngine {
    /// The next analysis.
    Analyse(AnalysisRequest),
    /// The result of a replay in CPython.
    Replayed(Result<ReplayOutcome, ReplayProblem>),
    /// Whether a solver is available.
    SolverOpened(bool),
    /// The solver's output. `None` if the solver has ended.
    Solved(Option<String>),
}

/// Messages from the engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromEngine<'a> {
    /// The code is valid, and the analysis starts.
    Accepted,
    /// A round of deepening ended, with the number of paths so far.
    Round(u32, u64),
    /// Replay a call in CPython.
    Replay(ReplayCall<'a>),
    /// Open another solver. Solvers are numbered from 0 in the order of opening.
    OpenSolver,
    /// Send commands to a solver.
    AskSolver {
        solver: usize,
        commands: Cow<'a, str>,
        remaining: Duration,
    },
    CloseSolver {
        solver: usize,
    },
    Done(AnalysisEnd),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnalysisRequest {
    pub(crate) job: Job,
    /// The time until the result is due.
    pub(crate) remaining: Duration,
}

/// The work of one analysis.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Job {
    Check(CheckArguments),
    Exceptions(ExceptionArguments),
    Compare(CompareArguments),
    Branches(BranchArguments),
    /// Lists the functions only.
    Functions {
        code: String,
    },
}

impl Job {
    pub(crate) fn code(&self) -> &str {
        match self {
            Job::Check(asked) => &asked.code,
            Job::Exceptions(asked) => &asked.code,
            Job::Compare(asked) => &asked.code,
            Job::Branches(asked) => &asked.code,
            Job::Functions { code } => code,
        }
    }

    /// The functions that the code must have.
    pub(crate) fn functions(&self) -> Vec<String> {
        match self {
            Job::Check(asked) => vec![asked.function_name.clone()],
            Job::Exceptions(asked) => vec![asked.function_name.clone()],
            Job::Compare(asked) => vec![asked.function_a.clone(), asked.function_b.clone()],
            Job::Branches(asked) => vec![asked.function_name.clone()],
            Job::Functions { .. } => Vec::new(),
        }
    }

    pub(crate) fn seconds(&self) -> u32 {
        match self {
            Job::Check(asked) => asked.timeout_seconds,
            Job::Exceptions(asked) => asked.timeout_seconds,
            Job::Compare(asked) => asked.timeout_seconds,
            Job::Branches(asked) => asked.timeout_seconds,
            Job::Functions { .. } => tools::default_seconds(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum AnalysisReport {
    Check(CheckReport),
    Exceptions(ExceptionReport),
    Compare(CompareReport),
    Branches(BranchReport),
    Functions(Vec<String>),
}

/// The reason why an analysis did not start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Rejection {
    Refused(ValidationError),
    UnknownFunction { function: String, known: Vec<String> },
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnalysisEnd {
    pub(crate) result: Result<AnalysisReport, Rejection>,
    /// The engine uses too much memory to be reused, and ends.
    pub(crate) is_spent: bool,
}

/// A [`crate::ReplayRequest`] with a duration instead of a deadline: two processes share no monotonic clock.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReplayCall<'a> {
    pub(crate) code: Cow<'a, str>,
    pub(crate) function: Cow<'a, str>,
    pub(crate) args: Cow<'a, [PyValue]>,
    pub(crate) kwargs: Cow<'a, [(String, PyValue)]>,
    pub(crate) conditions: Cow<'a, [Condition]>,
    pub(crate) branches: Cow<'a, [(u32, u32)]>,
    pub(crate) remaining: Duration,
}

/// Serializes a message with its length.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let length = bytes.len().saturating_sub(4);
    let header = u32::try_from(length).ok().filter(|_| length <= LONGEST_MESSAGE);
    let header = header.ok_or_else(|| io::Error::other("a message that is too long"))?;
    if let Some(place) = bytes.first_chunk_mut::<4>() {
        *place = header.to_le_bytes();
    }
    Ok(bytes)
}

/// Parses the length in a header.
pub(crate) fn parse_header(header: [u8; 4]) -> io::Result<usize> {
    let length = usize::try_from(u32::from_le_bytes(header)).unwrap_or(usize::MAX);
    if length > LONGEST_MESSAGE { Err(io::Error::other("a message that is too long")) } else { Ok(length) }
}

/// Parses a message without its length.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    postcard::from_bytes(bytes).map_err(io::Error::other)
}

pub(super) fn write(output: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    output.write_all(&frame(message)?)
}

pub(super) fn read<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<T> {
    let mut header = [0; 4];
    input.read_exact(&mut header)?;
    let mut bytes = vec![0; parse_header(header)?];
    input.read_exact(&mut bytes)?;
    parse(&bytes)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::{LONGEST_MESSAGE, frame, parse_header, read};
    use crate::PyValue;

    #[test]
    fn values_arrive_as_they_were_sent() {
        let values = vec![
            PyValue::Float(f64::NEG_INFINITY),
            PyValue::Float(-0.0),
            PyValue::Int(BigInt::from(-7) << 500_u32),
            PyValue::Str(vec![0xD800, 0x1F600]),
            PyValue::Dict(vec![(PyValue::None, PyValue::List(vec![PyValue::Bytes(vec![0, 255])]))]),
        ];
        let sent = frame(&values).expect("a frame");
        let arrived: Vec<PyValue> = read(&mut sent.as_slice()).expect("a message");
        assert_eq!(format!("{arrived:?}"), format!("{values:?}"));
        let nan = frame(&PyValue::Float(f64::NAN)).expect("a frame");
        assert!(matches!(read(&mut nan.as_slice()), Ok(PyValue::Float(value)) if value.is_nan()));
    }

    #[test]
    fn a_message_has_a_largest_size_and_an_end() {
        let header = u32::try_from(LONGEST_MESSAGE + 1).expect("fits").to_le_bytes();
        assert!(parse_header(header).is_err());
        let cut = frame(&"some words").expect("a frame");
        assert!(read::<String>(&mut cut.get(..cut.len() - 1).unwrap_or_default()).is_err());
    }
}
