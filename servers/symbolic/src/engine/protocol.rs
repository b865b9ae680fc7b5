//! What the server and an engine process send each other: a length of four bytes, then one message.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::report::{BranchReport, CheckReport, CompareReport, ExceptionReport};
use crate::tools::{self, Branches, Check, Compare, Exceptions};
use crate::validate::Refusal;
use crate::{Condition, PyValue, ReplayOutcome, ReplayProblem};

/// No message is longer. Larger than the longest answer of a solver.
pub(crate) const LONGEST_MESSAGE: usize = 64 << 20;

/// To the engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToEngine {
    /// The next analysis.
    Analyse(Assignment),
    /// What Python did.
    Replayed(Result<ReplayOutcome, ReplayProblem>),
    /// Whether a solver is there to be asked.
    SolverOpened(bool),
    /// What the solver said; nothing when it is gone.
    Solved(Option<String>),
}

/// From the engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromEngine<'a> {
    /// The code may be analysed, and the analysis begins.
    Accepted,
    /// A round of deepening ended; paths so far.
    Round(u32, u64),
    /// Run this in real Python.
    Replay(Replay<'a>),
    /// Open one more solver. They are numbered from 0 in the order they were opened.
    OpenSolver,
    /// Ask a solver.
    AskSolver { solver: usize, commands: Cow<'a, str>, remaining: Duration },
    /// The solver is not needed any more.
    CloseSolver { solver: usize },
    /// The analysis ended.
    Done(Done),
}

/// An analysis to be made.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Assignment {
    pub(crate) job: Job,
    /// Until the answer has to be there.
    pub(crate) remaining: Duration,
}

/// What is asked of the engine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Job {
    Check(Check),
    Exceptions(Exceptions),
    Compare(Compare),
    Branches(Branches),
    /// Only the names of the functions.
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

    /// The functions the code must have.
    pub(crate) fn functions(&self) -> Vec<String> {
        match self {
            Job::Check(asked) => vec![asked.function_name.clone()],
            Job::Exceptions(asked) => vec![asked.function_name.clone()],
            Job::Compare(asked) => vec![asked.function_a.clone(), asked.function_b.clone()],
            Job::Branches(asked) => vec![asked.function_name.clone()],
            Job::Functions { .. } => Vec::new(),
        }
    }

    /// The time limit.
    pub(crate) fn seconds(&self) -> u32 {
        match self {
            Job::Check(asked) => asked.timeout_seconds,
            Job::Exceptions(asked) => asked.timeout_seconds,
            Job::Compare(asked) => asked.timeout_seconds,
            Job::Branches(asked) => asked.timeout_seconds,
            Job::Functions { .. } => tools::usual_seconds(),
        }
    }
}

/// What an analysis came to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    Check(CheckReport),
    Exceptions(ExceptionReport),
    Compare(CompareReport),
    Branches(BranchReport),
    Functions(Vec<String>),
}

/// Why an analysis was not begun.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Rejection {
    Refused(Refusal),
    UnknownFunction { function: String, known: Vec<String> },
}

/// The end of an analysis.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) result: Result<Report, Rejection>,
    /// The engine holds too much memory to be used again, and ends.
    pub(crate) is_spent: bool,
}

/// A [`crate::ReplayRequest`] with a duration in place of its deadline: two processes share no clock of that kind.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Replay<'a> {
    pub(crate) code: Cow<'a, str>,
    pub(crate) function: Cow<'a, str>,
    pub(crate) args: Cow<'a, [PyValue]>,
    pub(crate) kwargs: Cow<'a, [(String, PyValue)]>,
    pub(crate) conditions: Cow<'a, [Condition]>,
    pub(crate) branches: Cow<'a, [(u32, u32)]>,
    pub(crate) remaining: Duration,
}

/// One message with its length.
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

/// The length a header announces.
pub(crate) fn announced(header: [u8; 4]) -> io::Result<usize> {
    let length = usize::try_from(u32::from_le_bytes(header)).unwrap_or(usize::MAX);
    if length > LONGEST_MESSAGE { Err(io::Error::other("a message that is too long")) } else { Ok(length) }
}

/// A message without its length.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    postcard::from_bytes(bytes).map_err(io::Error::other)
}

/// Writes one message.
pub(super) fn write(output: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    output.write_all(&frame(message)?)
}

/// Reads one message.
pub(super) fn read<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<T> {
    let mut header = [0; 4];
    input.read_exact(&mut header)?;
    let mut bytes = vec![0; announced(header)?];
    input.read_exact(&mut bytes)?;
    parse(&bytes)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::{LONGEST_MESSAGE, announced, frame, read};
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
        assert!(announced(header).is_err());
        let cut = frame(&"some words").expect("a frame");
        assert!(read::<String>(&mut cut.get(..cut.len() - 1).unwrap_or_default()).is_err());
    }
}
