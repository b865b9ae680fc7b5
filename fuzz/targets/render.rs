//! Faults made of any bytes, rendered in every dialect: one line of JSON that the scan accepts, within the size limit, and
//! without private text.
#![no_main]

use std::time::Duration;

use failwell_fault::{
    Echo, Effect, Fact, Fault, Name, Origin, Pointer, Reason, ReasonRegistry, Ref, Retry, Rule, Violation,
};
use failwell_render::{LARGEST_FAULT, Moment, Outcome, Reply, ToolFailure, render};
use failwell_rpc::{
    Dialect, ExpectedReply, ExpectedResult, Id, Incoming, Json, Limits, Message, ReplyTo, RestStyle,
    Revision, read,
};
use libfuzzer_sys::fuzz_target;

mod reason {
    // No reason of the core has this condition or its own message.
    failwell_fault::reasons! {
        FUZZ_SERVICE = "fuzz/SERVICE" {
            Unavailable, ExternalService, Upstream,
            title: "the service is away",
            detail: "the service is away: {name}",
            session_message: "Failed to communicate with the service.",
            hint: "come back later",
            about: "Stands for the reasons of tool servers.",
        }
    }
}

/// The text that must never appear. Its first character is dropped from all other text, so only a leak can show it.
const PRIVATE: &str = "ψ-private-to-the-operator";
const SERVER_INFO: &str = r#"{"name":"fuzz","title":"Fuzz","version":"0"}"#;

/// Names of facts: those that reasons use, and one that none uses.
const NAMES: [&str; 12] = [
    "name",
    "limit",
    "header",
    "uri",
    "supported",
    "requested",
    "required",
    "allow",
    "method",
    "member",
    "key",
    "odd",
];
const WORDS: [&str; 4] = ["sampling", "io.modelcontextprotocol/tasks", "2025-11-25", ""];
const RULES: [Rule; 6] =
    [Rule::Required, Rule::Unknown, Rule::Type, Rule::Choice, Rule::MaxLength, Rule::Schema];

fuzz_target!(|bytes: &[u8]| {
    let mut tape = Tape(bytes);
    let to = tape.reply_to();
    let now = Moment::at_unix(tape.number() >> 24);
    let (happened, allowance) = tape.happened();
    let reply = render(&to, &happened, Some(SERVER_INFO), now);
    let fault = match &happened {
        Err(fault) => fault,
        Ok(Outcome::ToolFailed(failure)) => &failure.fault,
        Ok(_) => return,
    };
    assert!(!format!("{fault} {fault:?}").contains(PRIVATE));
    if to.wants == ExpectedReply::Silence {
        assert_eq!(reply, None);
    }
    if let Some(reply) = reply {
        judge(&reply, &to, LARGEST_FAULT + allowance);
    }
});

fn judge(reply: &Reply, to: &ReplyTo, largest: usize) {
    assert!((200..600).contains(&reply.status));
    for (name, value) in &reply.headers {
        assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name}: {value:?}");
    }
    let text = std::str::from_utf8(&reply.body).expect("text");
    assert!(!text.contains(PRIVATE), "{text}");
    assert!(!text.contains(['\n', '\r']), "{text:?}");
    assert!(text.len() <= largest, "{} bytes", text.len());
    serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    Json::read(text, &Limits::default()).unwrap_or_else(|defect| panic!("{defect:?}: {text}"));
    if let (Dialect::Mcp(_) | Dialect::Rpc, Some(id)) = (to.dialect, &to.id) {
        match read(&reply.body, &Limits::default()) {
            Incoming::One(Ok(Message::Response(response))) => assert_eq!(response.id.text(), id.text()),
            other => panic!("no response: {other:?}"),
        }
    }
}

/// Reads values of any type from the input. Returns zeros after its end.
struct Tape<'a>(&'a [u8]);

impl Tape<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn number(&mut self) -> u64 {
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    fn flag(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    fn text(&mut self) -> String {
        let length = usize::from(self.byte()) * if self.flag() { 16 } else { 1 };
        let (text, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        String::from_utf8_lossy(text).replace('ψ', "")
    }

    fn reply_to(&mut self) -> ReplyTo {
        let dialect = match self.byte() % 8 {
            0 => Dialect::Rpc,
            1 => Dialect::Rest(RestStyle::Plain),
            2 => Dialect::Rest(RestStyle::Problem),
            _ => Dialect::Mcp(self.pick(&Revision::ALL)),
        };
        let id = if self.flag() { Some(self.id()) } else { None };
        let wants = if self.byte() == 255 { ExpectedReply::Silence } else { ExpectedReply::Answer };
        let asked = if self.flag() { ExpectedResult::Tool } else { ExpectedResult::Other };
        ReplyTo { id, wants, dialect, asked, reference: Ref::fixed(self.number()) }
    }

    /// An id as the scan would read it, so within the length limit.
    fn id(&mut self) -> Id {
        let text = Json::of(&self.text()).expect("a string");
        text.raw().as_id().unwrap_or_else(|| Id::from_number(self.number()))
    }

    /// The outcome, and the number of its bytes that do not come from the fault.
    fn happened(&mut self) -> (Result<Outcome, Fault>, usize) {
        let fault = self.fault();
        if self.byte() % 4 != 0 {
            return (Err(fault), 0);
        }
        let json = |text: String| Json::of(&serde_json::json!({ "text": text })).expect("an object");
        let structured = if self.flag() { Some(json(self.text())) } else { None };
        let blocks: Vec<Json> = (0..self.byte() % 3).map(|_| json(self.text())).collect();
        // REST and `/rpc` contain the whole structured object, beside their own `data`.
        let whole = structured.iter().chain(&structured).chain(&blocks);
        let allowance = whole.map(|json| json.text().len() + 64).sum();
        (Ok(Outcome::ToolFailed(Box::new(ToolFailure { fault, structured, blocks }))), allowance)
    }

    fn fault(&mut self) -> Fault {
        let core = ReasonRegistry::core();
        let rows: Vec<&'static Reason> = core.iter().chain(reason::REASONS.iter().copied()).collect();
        let mut fault = Fault::new(self.pick(&rows))
            .note("private", PRIVATE)
            .capture("private", PRIVATE)
            .because(std::io::Error::other(PRIVATE));
        for _ in 0..self.byte() % 16 {
            fault = fault.fact(self.pick(&NAMES), self.fact());
        }
        let violations = u16::from(self.byte()) * if self.flag() { 8 } else { 0 };
        for _ in 0..violations.min(u16::from(self.byte())) {
            fault = fault.violation(self.violation());
        }
        if self.flag() {
            let names: Vec<Name> = (0..self.byte() % 8).filter_map(|_| Name::parse(&self.text())).collect();
            fault = fault.nearest(names);
        }
        match self.byte() % 8 {
            0 => fault.retry_as(Retry::After(Duration::from_millis(self.number()))),
            1 => fault.retry_as(self.pick(&[Retry::Never, Retry::AfterChange, Retry::Once])),
            2 => fault.with_effect(self.pick(&[
                Effect::None,
                Effect::Unknown,
                Effect::Partial,
                Effect::Complete,
            ])),
            3 => fault.from_origin(self.pick(&[Origin::Caller, Origin::Policy, Origin::Upstream])),
            _ => fault,
        }
    }

    fn violation(&mut self) -> Violation {
        let steps = self.byte() % 5;
        let place = (0..steps).fold(Pointer::root(), |place, _| place.then(&self.text()));
        let mut violation = Violation::new(place, self.pick(&RULES));
        if self.flag() {
            violation = violation.limit(self.fact());
        }
        if self.flag() {
            violation = violation.nearest(self.fact());
        }
        violation
    }

    fn fact(&mut self) -> Fact {
        match self.byte() % 9 {
            0 => Fact::from(self.number()),
            1 => Fact::from(self.number() as i64),
            2 => Fact::from(f64::from_bits(self.number())),
            3 => Fact::from(self.flag()),
            4 => Fact::from(self.pick(&WORDS)),
            5 => Fact::from((0..self.byte() % 8).map(|_| self.pick(&WORDS)).collect::<Vec<_>>()),
            6 => Name::parse(&self.text()).map_or(Fact::from(false), Fact::from),
            7 => {
                let names = (0..self.byte()).filter_map(|_| Name::parse(&self.text()));
                Fact::from(names.collect::<Vec<_>>())
            }
            _ => Fact::from(Echo::of_caller(&self.text())),
        }
    }
}
