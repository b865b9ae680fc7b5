//! Unknown members are forwarded byte for byte, in both directions and between all eras.

use std::sync::{Arc, Mutex};

use failwell_rpc::{Era, Json, Limits, Raw};

use crate::client::GatewayClient;
use crate::script::{ReceivedRequest, Script, ScriptedResponse, response};

const CELLS: [(Era, Era); 4] = [
    (Era::Session, Era::Session),
    (Era::Session, Era::Modern),
    (Era::Modern, Era::Session),
    (Era::Modern, Era::Modern),
];
const CASES: u64 = 60;

/// Numbers that change when they are read as doubles and written again, and some similar ones that do not.
const NUMBERS: [&str; 8] = [
    "1.0e5",
    "1E+2",
    "-0.0",
    "0.10",
    "123456789012345678901234567890",
    "1.7976931348623157e308",
    "5e-324",
    "7",
];
const TEXTS: [&str; 6] =
    [r#""plain""#, r#""\u00e9\/""#, r#""\ud83d\ude00""#, r#""\"\\""#, r#""é😀""#, r#""""#];

/// A generator of unusual JSON from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len() as u64) as usize]
    }

    fn space(&mut self) -> &'static str {
        self.pick(&["", " ", "  ", "\t"])
    }

    fn value(&mut self, depth: u32) -> String {
        match self.roll(if depth == 0 { 3 } else { 5 }) {
            0 => self.pick(&NUMBERS).to_owned(),
            1 => self.pick(&TEXTS).to_owned(),
            2 => self.pick(&["null", "true", "false"]).to_owned(),
            3 => {
                let items: Vec<String> = (0..self.roll(4)).map(|_| self.value(depth - 1)).collect();
                format!("[{}{}]", self.space(), items.join(", "))
            }
            _ => {
                let count = self.roll(4);
                let members: Vec<String> = (0..count)
                    .map(|n| format!("\"m{n}\":{}{}", self.space(), self.value(depth - 1)))
                    .collect();
                format!("{{{}{}}}", self.space(), members.join(" ,"))
            }
        }
    }

    /// Unknown members, some under keys with escapes, byte for byte.
    fn members(&mut self, prefix: &str) -> Vec<(String, String)> {
        let count = 1 + self.roll(4);
        let key = |dice: &mut Dice, n| format!("{prefix}{n}{}", dice.pick(&["", "é", r"\u00fc", "-x"]));
        (0..count).map(|n| (key(self, n), self.value(3))).collect()
    }
}

fn written(members: &[(String, String)]) -> String {
    members.iter().map(|(key, value)| format!(",\"{key}\": {value}")).collect()
}

fn read(text: &str) -> Json {
    Json::read(text, &Limits::default()).unwrap_or_else(|defect| panic!("{defect:?} in {text}"))
}

/// Checks that every member is forwarded with the exact text of its key and value.
fn all_there(members: &[(String, String)], object: Raw<'_>, whole: &str) {
    assert!(object.as_object().is_some(), "no object in {whole}");
    for (key, value) in members {
        let member = format!("\"{key}\":{value}");
        let spaced = format!("\"{key}\": {value}");
        assert!(
            object.text().contains(&member) || object.text().contains(&spaced),
            "{member} is lost in {whole}"
        );
    }
}

fn inside<'a>(object: Raw<'a>, path: &[&str]) -> Raw<'a> {
    path.iter().fold(object, |raw, name| {
        let found = raw.as_object().and_then(|object| object.get(name));
        found.unwrap_or_else(|| panic!("no {name} in {}", object.text()))
    })
}

/// Unknown members that the upstream adds to its notifications, to its result and to the result's `_meta`.
#[derive(Default, Clone)]
struct Additions {
    notice: String,
    result: String,
    meta: String,
    structured: String,
}

fn answer(seen: &ReceivedRequest, additions: &Additions) -> ScriptedResponse {
    let body = read(&seen.text);
    let id = inside(body.raw(), &["id"]).text();
    let token = inside(body.raw(), &["params", "_meta", "progressToken"]).text();
    let Additions { notice, result, meta, structured } = additions;
    let progress = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1.0e0{notice}}}}}"#
    );
    let result = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[],"structuredContent":{structured},"_meta":{{"a":1{meta}}}{result}}}}}"#
    );
    let events = format!("data: {progress}\n\ndata: {result}\n\n");
    response(200, "Content-Type: text/event-stream\r\n", &events)
}

fn introduction(era: Era) -> &'static str {
    match era {
        Era::Session => "",
        Era::Modern => {
            r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{"x":1.0e5}}}"#
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_members_survive_the_round_trip() {
    for (client, upstream) in CELLS {
        let additions = Arc::new(Mutex::new(Additions::default()));
        let adding = additions.clone();
        let script =
            Script::upstream(upstream, move |seen| answer(seen, &adding.lock().expect("additions"))).await;
        let mut world = GatewayClient::of(client, vec![script.settings("up")]).await;
        for case in 1..=CASES {
            let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (case << 8));
            let [params, meta, notice, result, result_meta] =
                ["p", "com.example/k", "n", "r", "org.example/q"].map(|prefix| dice.members(prefix));
            let (arguments, structured) = (dice.members("a"), dice.value(3));
            *additions.lock().expect("additions") = Additions {
                notice: written(&notice),
                result: written(&result),
                meta: written(&result_meta),
                structured: structured.clone(),
            };
            let trace = ("traceparent".to_owned(), format!("\"00-{case:032x}-00f067aa0ba902b7-01\""));
            let meta: Vec<(String, String)> = meta.into_iter().chain([trace]).collect();
            let (sent_params, sent_meta) = (written(&params), written(&meta));
            let sent_arguments = format!("{{\"first\":0{}}}", written(&arguments));
            let more = introduction(client);
            world
                .send_line(&format!(
                    r#"{{"jsonrpc":"2.0","id":"case-{case}","method":"tools/call","params":{{"name":"up__t","arguments":{sent_arguments},"_meta":{{"progressToken":"mine"{more}{sent_meta}}}{sent_params}}}}}"#
                ))
                .await;
            let notice_line = world.hear_line().await;
            let answered = world.hear_line().await;
            let seen = script.seen().into_iter().rfind(|seen| seen.method() == "tools/call").expect("a call");
            let body = read(&seen.text);
            let there = inside(body.raw(), &["params"]);
            all_there(&params, there, &seen.text);
            all_there(&meta, inside(there, &["_meta"]), &seen.text);
            assert_eq!(inside(there, &["arguments"]).text(), sent_arguments, "{client:?} to {upstream:?}");
            let notice_line = read(&notice_line);
            all_there(&notice, inside(notice_line.raw(), &["params"]), notice_line.text());
            assert_eq!(inside(notice_line.raw(), &["params", "progress"]).text(), "1.0e0");
            assert_eq!(inside(notice_line.raw(), &["params", "progressToken"]).text(), "\"mine\"");
            let answered = read(&answered);
            all_there(&result, inside(answered.raw(), &["result"]), answered.text());
            all_there(&result_meta, inside(answered.raw(), &["result", "_meta"]), answered.text());
            assert_eq!(inside(answered.raw(), &["result", "structuredContent"]).text(), structured);
        }
    }
}

/// The capabilities of a client reach a modern upstream unchanged, and so do questions and answers.
#[tokio::test(flavor = "multi_thread")]
async fn questions_and_answers_go_through_as_they_are_written() {
    const ASKED: &str = r#"{"message":"n\u00famero?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1.0e5}}},"x":[ 1E+2 ]}"#;
    const GIVEN: &str = r#"{"action":"accept","content":{"n":123456789012345678901234567890},"y":-0.0}"#;
    for client in [Era::Session, Era::Modern] {
        let script = Script::upstream(Era::Modern, |seen| {
            let body = read(&seen.text);
            let id = inside(body.raw(), &["id"]).text();
            let result = match inside(body.raw(), &["params"]).as_object().and_then(|params| params.get("inputResponses")) {
                Some(given) => {
                    format!(r#"{{"resultType":"complete","content":[],"given":{},"a":1}}"#, given.text())
                }
                None => format!(
                    r#"{{"resultType":"input_required","inputRequests":{{"q":{{"method":"elicitation/create","params":{ASKED}}}}},"requestState":"s"}}"#
                ),
            };
            response(
                200,
                "Content-Type: application/json\r\n",
                &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            )
        })
        .await;
        let mut world = GatewayClient::of(client, vec![script.settings("up")]).await;
        let call = |id: &str, more: &str| {
            let meta = introduction(client).trim_start_matches(',').to_owned();
            format!(
                r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"up__t","arguments":{{}},"_meta":{{{meta}}}{more}}}}}"#
            )
        };
        world.send_line(&call("one", "")).await;
        let asked = read(&world.hear_line().await);
        let answer = match client {
            Era::Session => {
                assert_eq!(inside(asked.raw(), &["params"]).text(), ASKED);
                let id = inside(asked.raw(), &["id"]).text().to_owned();
                world.send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{GIVEN}}}"#)).await;
                world.hear_line().await
            }
            Era::Modern => {
                assert_eq!(inside(asked.raw(), &["result", "inputRequests", "q", "params"]).text(), ASKED);
                let state = inside(asked.raw(), &["result", "requestState"]).text().to_owned();
                let more = format!(r#","inputResponses":{{"q":{GIVEN}}},"requestState":{state}"#);
                world.send_line(&call("two", &more)).await;
                world.hear_line().await
            }
        };
        let answer = read(&answer);
        assert_eq!(inside(answer.raw(), &["result", "given", "q"]).text(), GIVEN, "{client:?}");
        if client == Era::Modern {
            let seen = script.seen().into_iter().rfind(|seen| seen.method() == "tools/call").expect("a call");
            assert!(seen.text.contains(r#""elicitation":{"form":{"x":1.0e5}}"#), "{}", seen.text);
        }
    }
}
