//! Content guards on the walk: what comes in is looked through before the work, what goes out before it leaves.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arc_swap::ArcSwap;
use failwell_audit::{
    BodyRedactor, BodySort, Journal, KeptBody, Redactor, Sighting, Trail, Verdict as Decision,
};
use failwell_fault::{Effect, Fault, Name, OrFault, reason};
use failwell_policy::guard::custom::Subject;
use failwell_policy::guard::{Action, Direction, Finding, GuardSettings, Verdict};
use failwell_policy::{Caller, Guards};
use failwell_render::{Moment, Outcome, Reply, render};
use failwell_rpc::{Asked, Face, Json, Limits, ReplyTo, Request, Response};

use crate::custom::{Customs, Passing};
use crate::house::{Exchange, House};
use crate::metrics::Sightings;
use crate::session::{Concern, Session};

/// What comes before the part of a notice that is not ours.
const PARAMS: &[u8] = b"\"params\":";

/// The guards in force. Clones share them, so that one swap changes all.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Held>);

#[derive(Debug)]
struct Held {
    guards: ArcSwap<Guards>,
    customs: ArcSwap<Customs>,
}

impl Gate {
    /// These guards for now.
    pub fn new(guards: Guards) -> Gate {
        Gate::of(Arc::new(guards))
    }

    fn of(guards: Arc<Guards>) -> Gate {
        Gate(Arc::new(Held { guards: ArcSwap::new(guards), customs: ArcSwap::default() }))
    }

    /// What is guarded when nobody says: no secret leaves.
    pub fn standard() -> Result<Gate, Fault> {
        static STANDARD: OnceLock<Arc<Guards>> = OnceLock::new();
        let guards = match STANDARD.get() {
            Some(guards) => guards.clone(),
            None => {
                let compiled = Arc::new(Guards::compile(GuardSettings::default())?);
                STANDARD.get_or_init(|| compiled).clone()
            }
        };
        Ok(Gate::of(guards))
    }

    /// Other guards from now on. What is being looked through is judged by the old ones.
    pub fn set(&self, guards: Guards) {
        self.0.guards.store(Arc::new(guards));
    }

    /// Other custom guards from now on.
    pub fn set_customs(&self, customs: Customs) {
        self.0.customs.store(Arc::new(customs));
    }

    pub(crate) fn customs(&self) -> Arc<Customs> {
        self.0.customs.load_full()
    }

    fn guards(&self) -> arc_swap::Guard<Arc<Guards>> {
        self.0.guards.load()
    }

    /// A text for the operator, without secrets, whatever the guards are set to do.
    pub fn scrub(&self, text: &str) -> String {
        self.guards().scrub(text).into_owned()
    }

    /// The same as a function, for what is written down elsewhere.
    pub fn redactor(&self) -> Redactor {
        let gate = self.clone();
        Arc::new(move |text| gate.scrub(text))
    }
}

impl Gate {
    /// What is taken out of bodies that are kept: secrets always, and whatever the guards would not let pass.
    pub fn body_redactor(&self) -> BodyRedactor {
        let gate = self.clone();
        Arc::new(move |kept: &KeptBody<'_>| {
            let direction = match kept.sort {
                BodySort::Request => Direction::Request,
                BodySort::Result => Direction::Result,
                BodySort::Error => Direction::Error,
            };
            gate.guards().keepable(direction, kept.server, kept.text).into_owned()
        })
    }
}

/// The guards at the door of one house, and where they report.
#[derive(Debug)]
pub(crate) struct Porter {
    pub(crate) gate: Gate,
    pub(crate) journal: Journal,
    pub(crate) service: &'static str,
    pub(crate) sightings: Sightings,
}

/// Whose message it is, for the report and for custom guards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whose<'a> {
    pub(crate) server: &'a str,
    /// The same for custom guards, who must know what is not known.
    pub(crate) on: Subject<'a>,
    pub(crate) tool: Subject<'a>,
    pub(crate) method: &'a str,
    pub(crate) caller: &'a str,
    pub(crate) to: Option<&'a ReplyTo>,
    pub(crate) connection: &'a str,
    pub(crate) watched: Option<Watched<'a>>,
}

impl Default for Whose<'_> {
    fn default() -> Self {
        let (on, tool) = (Subject::Unknown, Subject::Unknown);
        Whose { server: "", on, tool, method: "", caller: "", to: None, connection: "", watched: None }
    }
}

/// An exchange whose record shall say what each guard decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched<'a> {
    pub(crate) trail: &'a Trail,
    pub(crate) began: Instant,
    /// The server it is for, where guards tell servers apart.
    pub(crate) server: &'a str,
}

impl Watched<'_> {
    /// What each guard said that looked.
    fn note(self, guards: &Guards, looked: Looked<'_>) {
        let now = Instant::now();
        let (after, took) = (now - self.began, now - looked.since);
        for guard in guards.watching(looked.direction, looked.server) {
            let of_guard = || looked.findings.iter().filter(|finding| finding.category.guard() == guard);
            let decided = of_guard().map(|finding| finding.action).max();
            self.trail.decide(Decision {
                guard: guard.as_str().into(),
                looked_at: looked.direction.looked_at(),
                decided: decided.map_or("pass", Action::as_str),
                found: of_guard().map(|f| format!("{} at {}", f.category.as_str(), f.place).into()).collect(),
                after,
                took,
            });
        }
    }
}

/// One look of all guards at one message.
struct Looked<'a> {
    direction: Direction,
    server: &'a str,
    findings: &'a [Finding],
    since: Instant,
}

fn findings(verdict: &Verdict) -> &[Finding] {
    match verdict {
        Verdict::Pass => &[],
        Verdict::Noted { findings } | Verdict::Redacted { findings, .. } | Verdict::Blocked { findings } => {
            findings
        }
    }
}

impl Porter {
    /// Looks through what a client sent, where no custom guard is to be asked. `None`: it may go on as it is.
    pub(crate) fn incoming_now(&self, whose: Whose<'_>, json: &str) -> Result<Option<Json>, Fault> {
        let verdict = self.look(Direction::Request, whose, json.as_bytes(), 0);
        self.judge(verdict, whose)?.map(left_over).transpose()
    }

    /// Looks through what a client sent. `None`: it may go on as it is.
    pub(crate) async fn incoming(&self, whose: Whose<'_>, json: &str) -> Result<Option<Json>, Fault> {
        let verdict = self.look(Direction::Request, whose, json.as_bytes(), 0);
        let clean = self.judge(verdict, whose)?;
        let left = match self.asks_in(Direction::Request) {
            // Rare and large, so kept apart.
            true => {
                let passing = Passing { direction: Direction::Request, whose, from: 0 };
                Box::pin(self.ask(passing, clean.as_deref().unwrap_or(json.as_bytes()))).await?
            }
            false => None,
        };
        left.or(clean).map(left_over).transpose()
    }

    /// Looks through what a client is told or asked without having asked for it.
    pub(crate) async fn outgoing(&self, server: &str, frame: String) -> Result<String, Fault> {
        let whose = Whose::unasked(server);
        let verdict = self.look(Direction::Notice, whose, frame.as_bytes(), 0);
        let mut frame = match self.judge(verdict, whose)? {
            Some(bytes) => String::from_utf8(bytes).or_fault(&reason::SERVER_BUG)?,
            None => frame,
        };
        if self.asks_in(Direction::Notice) {
            let from = memchr::memmem::find(frame.as_bytes(), PARAMS).unwrap_or(frame.len());
            let passing = Passing { direction: Direction::Notice, whose, from };
            if let Some(left) = Box::pin(self.ask(passing, frame.as_bytes())).await? {
                frame = String::from_utf8(left).or_fault(&reason::SERVER_BUG)?;
            }
        }
        Ok(frame)
    }

    /// The same for what nobody waits for: a notice that may not pass is not sent, and the operator knows.
    pub(crate) async fn notice(&self, server: &str, frame: String) -> Option<String> {
        self.outgoing(server, frame).await.ok()
    }

    /// Whether custom guards look at messages of this direction.
    pub(crate) fn asks_in(&self, direction: Direction) -> bool {
        self.gate.0.customs.load().watch(direction)
    }

    /// Whether servers are told apart.
    pub(crate) fn knows_servers(&self) -> bool {
        self.gate.guards().knows_servers() || self.has_customs()
    }

    /// Whether there are custom guards.
    pub(crate) fn has_customs(&self) -> bool {
        !self.gate.0.customs.load().is_empty()
    }

    pub(crate) fn look(&self, direction: Direction, whose: Whose<'_>, json: &[u8], from: usize) -> Verdict {
        let guards = self.gate.guards();
        let watched = whose.watched.filter(|_| guards.watching(direction, whose.server).next().is_some());
        let since = watched.map(|_| Instant::now());
        let verdict = guards.inspect(direction, whose.server, json, from);
        if let Some((watched, since)) = watched.zip(since) {
            let looked = Looked { direction, server: whose.server, findings: findings(&verdict), since };
            watched.note(&guards, looked);
        }
        verdict
    }

    pub(crate) fn judge(&self, verdict: Verdict, whose: Whose<'_>) -> Result<Option<Vec<u8>>, Fault> {
        match verdict {
            Verdict::Pass => Ok(None),
            Verdict::Noted { findings } => {
                self.report(&findings, whose);
                Ok(None)
            }
            Verdict::Redacted { bytes, findings } => {
                self.report(&findings, whose);
                Ok(Some(bytes))
            }
            Verdict::Blocked { findings } => {
                self.report(&findings, whose);
                Err(blocked(&findings))
            }
        }
    }

    fn report(&self, findings: &[Finding], whose: Whose<'_>) {
        for finding in findings {
            let (guard, category) = (finding.category.guard().as_str(), finding.category.as_str());
            self.sightings.note(finding.category, finding.action, finding.count);
            let sighting = Sighting {
                timestamp: &Moment::now().to_string(),
                service: self.service,
                server: whose.server,
                connection: whose.connection,
                to: whose.to,
                guard,
                category,
                action: finding.action.as_str(),
                place: &finding.place,
                count: finding.count,
            };
            self.journal.sighting(&sighting);
        }
    }
}

/// What guards left of a message.
fn left_over(bytes: Vec<u8>) -> Result<Json, Fault> {
    let text = String::from_utf8(bytes).or_fault(&reason::SERVER_BUG)?;
    Json::read(&text, &Limits::default()).map_err(|_| Fault::new(&reason::SERVER_BUG))
}

/// The first finding that blocks, by name and place.
fn blocked(findings: &[Finding]) -> Fault {
    let fault = Fault::new(&reason::POLICY_BLOCKED);
    let Some(first) = findings.first() else { return fault };
    let fault =
        fault.fact("guard", first.category.guard().as_str()).fact("category", first.category.as_str());
    match Name::parse(short(&first.place)) {
        Some(place) => fault.fact("where", place),
        None => fault.fact("where", "/"),
    }
}

/// A pointer that fits into a fact, cut at a whole step.
fn short(place: &str) -> &str {
    let fits = |at: &usize| *at <= 128;
    match place.len() {
        ..=128 => place,
        _ => place
            .match_indices('/')
            .map(|(at, _)| at)
            .take_while(fits)
            .last()
            .and_then(|at| place.get(..at))
            .unwrap_or(""),
    }
}

impl House {
    /// The guards at the door.
    pub fn gate(&self) -> &Gate {
        &self.porter.gate
    }

    /// The server a request is for, where guards tell servers apart.
    pub(crate) fn server_of(&self, request: &Request<'_>, caller: &Caller) -> String {
        if !self.porter.knows_servers() {
            return String::new();
        }
        let text = |name| request.param(name).and_then(|raw| raw.as_str());
        match (text("name").or_else(|| text("uri")), text("taskId")) {
            (Some(target), _) => self.server_behind(&target),
            (None, Some(task)) => self.tasks.server_of(&task, caller).unwrap_or_default(),
            (None, None) => String::new(),
        }
    }

    /// The same after the work, which may have found out whose the name is.
    pub(crate) fn server_found(&self, before: String, trail: &Trail) -> String {
        match trail.target() {
            Some(target) if before == self.room.info().name => self.server_behind(target),
            _ => before,
        }
    }

    /// The server a name belongs to, where guards tell servers apart.
    pub(crate) fn server_behind(&self, target: &str) -> String {
        if !self.porter.knows_servers() {
            return String::new();
        }
        self.room.behind(target).map_or_else(|| self.room.info().name.to_owned(), String::from)
    }

    /// A request without what its guards took out; `None`: it may go on as it is.
    pub(crate) fn let_in(&self, request: &Request<'_>, whose: Whose<'_>) -> Result<Option<String>, Fault> {
        let Some(params) = request.params else { return Ok(None) };
        let clean = self.porter.incoming_now(whose, params.text())?;
        Ok(clean.map(|params| with_params(request, &params)))
    }

    /// The same where custom guards are asked as well.
    pub(crate) async fn let_in_asking(
        &self,
        request: &Request<'_>,
        whose: Whose<'_>,
    ) -> Result<Option<String>, Fault> {
        let clean = match request.params {
            Some(params) => self.porter.incoming(whose, params.text()).await?,
            None => None,
        };
        let clean = clean.map(|params| with_params(request, &params));
        if let Some(watched) = whose.watched {
            watched.trail.let_in(clean.as_deref());
        }
        Ok(clean)
    }

    /// Looks through an answer before it leaves. One that may not leave becomes a fault.
    pub(crate) fn let_out(&self, exchange: &mut Exchange<'_>, reply: Reply, now: Moment) -> Option<Reply> {
        if exchange.shows_a_key() {
            return Some(reply);
        }
        let from = after_id(&exchange.to, &reply.body);
        let whose = answering(exchange);
        let verdict = self.porter.look(direction_of(exchange), whose, &reply.body, from);
        match self.porter.judge(verdict, whose) {
            Ok(None) => Some(reply),
            Ok(Some(body)) => Some(Reply { body, ..reply }),
            Err(fault) => held_back(exchange, fault, now),
        }
    }

    /// The same for custom guards. A fault of the guards themselves is their own words, and is not asked about again.
    pub(crate) async fn let_out_asking(
        &self,
        exchange: &mut Exchange<'_>,
        reply: Reply,
        now: Moment,
    ) -> Option<Reply> {
        let direction = direction_of(exchange);
        let is_ours = exchange.happened.as_ref().err().is_some_and(|fault| {
            *fault.reason() == reason::POLICY_BLOCKED || *fault.reason() == reason::POLICY_GUARD_FAILED
        });
        if is_ours || exchange.shows_a_key() || !self.porter.asks_in(direction) {
            return Some(reply);
        }
        let aim = self.aim(exchange.method, exchange.trail.target(), exchange.caller);
        let whose = aim.of(Whose {
            method: exchange.method.unwrap_or_default(),
            caller: exchange.caller.map_or("", |caller| caller.name()),
            ..answering(exchange)
        });
        let passing = Passing { direction, whose, from: after_id(&exchange.to, &reply.body) };
        let left = self.porter.ask(passing, &reply.body).await;
        match left {
            Ok(None) => Some(reply),
            Ok(Some(body)) => Some(Reply { body, ..reply }),
            Err(fault) => held_back(exchange, fault, now),
        }
    }

    /// An answer to a question of ours.
    pub async fn hear(&self, response: &Response<'_>, session: &Session) -> Concern {
        let whose = Whose { connection: &session.id, caller: session.caller.name(), ..Whose::default() };
        let body = match response.body {
            Ok(raw) => match self.porter.incoming(whose, raw.text()).await {
                Ok(clean) => Ok(clean.unwrap_or_else(|| raw.to_json())),
                // Who asked learns that there is no answer; the operator knows why.
                Err(_) => Err(()),
            },
            Err(_) => Err(()),
        };
        session.answer(&response.id, body)
    }
}

fn with_params(request: &Request<'_>, params: &Json) -> String {
    let method = failwell_rpc::json_string(&request.method);
    let id = request.id.text();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{}}}"#, params.text())
}

fn direction_of(exchange: &Exchange<'_>) -> Direction {
    match &exchange.happened {
        Ok(Outcome::ToolFailed(_)) | Err(_) => Direction::Error,
        // What a failing tool says of itself is its result, in whichever dialect it is shown.
        Ok(_) => Direction::Result,
    }
}

fn answering<'a>(exchange: &'a Exchange<'_>) -> Whose<'a> {
    Whose {
        server: &exchange.server,
        to: Some(&exchange.to),
        connection: exchange.connection,
        watched: Some(Watched { trail: &exchange.trail, began: exchange.began, server: &exchange.server }),
        ..Whose::default()
    }
}

/// An answer that may not leave: what was done stays done, and changing the request changes nothing.
fn held_back(exchange: &mut Exchange<'_>, fault: Fault, now: Moment) -> Option<Reply> {
    let fault = match *fault.reason() == reason::POLICY_BLOCKED {
        true => fault.advise(&reason::POLICY_BLOCKED_ANSWER),
        false => fault,
    };
    exchange.happened = Err(fault.with_effect(effect(&exchange.to, &exchange.happened)));
    render(&exchange.to, &exchange.happened, None, now)
}

/// What was done although its answer may not leave.
fn effect(to: &ReplyTo, happened: &Result<Outcome, Fault>) -> Effect {
    match happened {
        Err(fault) => fault.effect(),
        Ok(Outcome::ToolFailed(failed)) => failed.fault.effect(),
        Ok(Outcome::ReportedFailure(failed)) => failed.fault.effect(),
        Ok(Outcome::Value(_)) => Effect::Complete,
        Ok(_) if matches!(to.asked, Asked::Tool | Asked::ToolOrError) => Effect::Complete,
        Ok(_) => Effect::None,
    }
}

/// Where the message goes on after its id, which must come back as it was sent.
fn after_id(to: &ReplyTo, body: &[u8]) -> usize {
    const AHEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    match (to.face, &to.id) {
        (Face::Mcp(_) | Face::Rpc, Some(id)) if body.starts_with(AHEAD) => AHEAD.len() + id.text().len(),
        _ => 0,
    }
}
