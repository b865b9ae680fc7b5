//! W3C Trace Context: the trace of an exchange, read from the caller and passed on to upstreams.
//!
//! <https://www.w3.org/TR/trace-context/>. Received values are untrusted. They are validated, and used only
//! to join a trace.

mod state;

use std::fmt;
use std::sync::Arc;

use self::state::is_state;

/// The name in `_meta` and in HTTP headers.
pub const TRACEPARENT: &str = "traceparent";
/// The name of the vendor-specific state.
pub const TRACESTATE: &str = "tracestate";

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId([u8; 8]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplingDecision {
    /// Its spans are exported.
    Yes,
    /// Only its ids are passed on.
    No,
}

/// The trace context of an incoming request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteContext {
    trace: TraceId,
    parent: SpanId,
    sampled: SamplingDecision,
    state: Option<Arc<str>>,
}

/// A span of this program within a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub id: TraceId,
    pub span: SpanId,
    pub parent: Option<SpanId>,
    pub sampled: SamplingDecision,
    /// The received `tracestate`, unchanged.
    pub state: Option<Arc<str>>,
}

/// The two ids of a ledger record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceMark {
    pub trace: TraceId,
    pub span: SpanId,
}

impl RemoteContext {
    /// Parses `traceparent` and `tracestate`. An invalid parent gives `None`; an invalid state is dropped.
    pub fn read(parent: &str, state: Option<&str>) -> Option<RemoteContext> {
        let mut parts = parent.split('-');
        let version = byte(parts.next()?)?;
        let (trace, span) = (TraceId(hex(parts.next()?)?), SpanId(hex(parts.next()?)?));
        let flags = byte(parts.next()?)?;
        // Version 0 has four parts. Later versions may have more. Version ff is invalid.
        let is_whole = version != 0 || parts.next().is_none();
        let is_real = version != 0xff && trace.0 != [0; 16] && span.0 != [0; 8];
        let sampled = if flags & 1 == 1 { SamplingDecision::Yes } else { SamplingDecision::No };
        let state = state.filter(|state| is_state(state)).map(Arc::from);
        (is_whole && is_real).then_some(RemoteContext { trace, parent: span, sampled, state })
    }
}

impl Trace {
    /// Joins the incoming trace with its sampling decision, or starts a new one. Of new traces, one in
    /// `one_in` is sampled; 0 samples none.
    pub fn join(carried: Option<&RemoteContext>, one_in: u64) -> Trace {
        let span = SpanId(random());
        match carried {
            Some(carried) => Trace {
                id: carried.trace,
                span,
                parent: Some(carried.parent),
                sampled: carried.sampled,
                state: carried.state.clone(),
            },
            None => {
                let id = TraceId(random());
                Trace { id, span, parent: None, sampled: id.sampled(one_in), state: None }
            }
        }
    }

    /// A child span of this one.
    #[must_use]
    pub fn child(&self) -> Trace {
        Trace { span: SpanId(random()), parent: Some(self.span), ..self.clone() }
    }

    /// The value of `traceparent` for outgoing requests of this span.
    pub fn header(&self) -> String {
        let flags = if self.sampled == SamplingDecision::Yes { "01" } else { "00" };
        format!("00-{}-{}-{flags}", self.id, self.span)
    }

    pub fn mark(&self) -> TraceMark {
        TraceMark { trace: self.id, span: self.span }
    }
}

impl TraceId {
    /// The lowest 56 bits of a trace id are random, in ids of other systems too.
    fn sampled(self, one_in: u64) -> SamplingDecision {
        let low = self.0.iter().skip(9).fold(0u64, |low, byte| low << 8 | u64::from(*byte));
        match (1u64 << 56).checked_div(one_in) {
            Some(below) if low < below => SamplingDecision::Yes,
            _ => SamplingDecision::No,
        }
    }

    /// Parses the output of `Display`, in either case.
    pub fn parse(text: &str) -> Option<TraceId> {
        hex(&text.to_ascii_lowercase()).map(TraceId).filter(|id| id.0 != [0; 16])
    }
}

/// Random bytes, so that ids are unpredictable and unique across nodes. Without a random source the clock is
/// used.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() || bytes == [0; N] {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let seed = now.as_nanos() | 1;
        bytes.iter_mut().zip(seed.to_le_bytes().into_iter().cycle()).for_each(|(to, from)| *to = from);
    }
    bytes
}

fn byte(text: &str) -> Option<u8> {
    hex::<1>(text).map(|[byte]| byte)
}

/// Parses lowercase hexadecimal digits of exactly this length.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let digits = (text.len() == N * 2).then_some(text.as_bytes())?;
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceId({self})")
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpanId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::{RemoteContext, SamplingDecision, Trace, TraceId};

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_parent_is_read_strictly() {
        let long = format!("{PARENT}-more");
        let later = long.replacen("00", "cc", 1);
        for (good, sampled) in [
            (PARENT, SamplingDecision::Yes),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", SamplingDecision::No),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe", SamplingDecision::No),
            (later.as_str(), SamplingDecision::Yes),
        ] {
            let read = RemoteContext::read(good, None).expect(good);
            assert_eq!((read.trace.to_string().as_str(), read.sampled), (TRACE, sampled), "{good}");
        }
        for bad in [
            "",
            "00",
            TRACE,
            &long,
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bé-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(RemoteContext::read(bad, None), None, "{bad}");
        }
    }

    #[test]
    fn a_step_goes_on_where_its_parent_was() {
        let carried = RemoteContext::read(PARENT, Some("a=1, b@c=2")).expect("read");
        let here = Trace::join(Some(&carried), 0);
        assert_eq!((here.id.to_string().as_str(), here.sampled), (TRACE, SamplingDecision::Yes));
        assert_eq!(here.parent.map(|parent| parent.to_string()).as_deref(), Some("00f067aa0ba902b7"));
        assert_eq!(here.state.as_deref(), Some("a=1, b@c=2"));
        let next = here.child();
        assert_eq!((next.id, next.parent), (here.id, Some(here.span)));
        assert_ne!(next.span, here.span);
        assert_eq!(next.header(), format!("00-{TRACE}-{}-01", next.span));
        assert_eq!(RemoteContext::read(&next.header(), None).map(|read| read.parent), Some(next.span));
    }

    #[test]
    fn one_trace_in_so_many_is_sampled() {
        let count = |one_in| {
            (0..4_000).filter(|_| Trace::join(None, one_in).sampled == SamplingDecision::Yes).count()
        };
        assert_eq!((count(0), count(1)), (0, 4_000));
        assert!((600..1_400).contains(&count(4)), "about a quarter");
    }

    #[test]
    fn an_id_is_found_in_either_case() {
        assert_eq!(TraceId::parse(&TRACE.to_uppercase()), TraceId::parse(TRACE));
        for odd in ["", "xyz", &TRACE[1..], "00000000000000000000000000000000"] {
            assert_eq!(TraceId::parse(odd), None, "{odd}");
        }
    }
}
