//! Definitions because of which some clients refuse the whole list.

use failwell_controls::Settings;
use failwell_rpc::Era;
use failwell_suite::script::{ReceivedRequest, Script, ScriptedResponse, introduced, response};
use serde_json::{Value, json};

use crate::client::{GatewayClient, failed};

/// A schema that every client accepts, with many keywords unknown to the gateway.
const PLAIN: &str = r#"{"name":"plain","inputSchema":{"type":"object","properties":{"a":{"format":"uuid","x":1.00}},"additionalProperties":false},"x-own":[true,{"format":"uint64"}]}"#;

const TOOLS: [&str; 9] = [
    PLAIN,
    r#"{"name":"booleans","inputSchema":{"type":"object","properties":{"any":true,"none":false,"n":{"type":"integer","format":"uint64","minimum":0}}},"outputSchema":{"type":"object","properties":{"answer":true}},"x-own":1.00}"#,
    r#"{"name":"promises_nothing","inputSchema":{"type":"object"},"outputSchema":true}"#,
    r##"{"name":"refers_to_nothing","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/gone"}}}}"##,
    r#"{"name":"takes_anything","description":null,"inputSchema":true}"#,
    r#"{"name":"untyped","inputSchema":{"properties":{}},"annotations":{"readOnlyHint":null,"x":1}}"#,
    r#"{"name":"gives_a_list","inputSchema":{"type":["object","null"]},"outputSchema":{"type":"array","items":true}}"#,
    r#"{"name":"takes_a_text","inputSchema":{"type":"string"}}"#,
    r#"{"name":"odd_hint","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}"#,
];

fn answers(era: Era, seen: &ReceivedRequest) -> ScriptedResponse {
    if seen.method() != "tools/list" {
        return introduced(era, seen).unwrap_or_else(|| response(500, "", ""));
    }
    let (id, tools) = (&seen.body["id"], TOOLS.join(","));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","tools":[{tools}],"ttlMs":0,"cacheScope":"private"}}}}"#
    );
    response(200, "Content-Type: application/json\r\n", &body)
}

/// The listed definitions. A result schema of type array is listed in the modern era only.
fn expected(era: Era) -> Value {
    let mut list = json!({"name": "gives_a_list", "inputSchema": {"type": "object"}});
    if era == Era::Modern {
        list["outputSchema"] = json!({"type": "array", "items": {}});
    }
    json!([
        serde_json::from_str::<Value>(PLAIN).expect("JSON"),
        {"name": "booleans",
         "inputSchema": {"type": "object", "properties": {
            "any": {}, "none": {"not": {}}, "n": {"type": "integer", "minimum": 0}}},
         "outputSchema": {"type": "object", "properties": {"answer": {}}}, "x-own": 1.0},
        {"name": "promises_nothing", "inputSchema": {"type": "object"}},
        {"name": "refers_to_nothing", "inputSchema": {"type": "object"}},
        {"name": "takes_anything", "inputSchema": {"type": "object"}},
        {"name": "untyped", "inputSchema": {"properties": {}, "type": "object"}, "annotations": {"x": 1}},
        list,
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn one_definition_that_clients_refuse_does_not_cost_them_the_list() {
    for (client, upstream) in [
        (Era::Session, Era::Session),
        (Era::Session, Era::Modern),
        (Era::Modern, Era::Session),
        (Era::Modern, Era::Modern),
    ] {
        let case = format!("{client:?} to {upstream:?}");
        let script = Script::new(move |seen| answers(upstream, seen)).await;
        let mut world = GatewayClient::of(client, vec![script.settings("s")]).await;
        let all = world.list_of_all().await["result"]["tools"].take();
        let mut prefixed = expected(client);
        for tool in prefixed.as_array_mut().expect("a list") {
            tool["name"] = json!(format!("s__{}", tool["name"].as_str().expect("a name")));
        }
        assert_eq!(all, prefixed, "{case}");

        let mut alone = world.before(world.gateway.single("s"), Settings::default(), client).await;
        for _ in 0..2 {
            alone.start("tools/list", json!({})).await;
            let line = alone.hear_line().await;
            let list: Value = serde_json::from_str(&line).expect("JSON");
            assert_eq!(list["result"]["tools"], expected(client), "{case}, alone");
            // Down to the digits.
            assert!(line.contains(PLAIN) && line.contains(r#""x-own":1.00}"#), "{case}: {line}");
        }

        let refused = world.call("s__takes_a_text", json!({})).await;
        assert_eq!(failed(&refused), (-32602, "mcp/UNKNOWN_TOOL"), "{case}");
        let journal = world.journal();
        for why in [
            "the tool takes_a_text of s is left out of lists: its inputSchema",
            "the tool odd_hint of s is left out of lists: a hint",
        ] {
            assert_eq!(journal.matches(why).count(), 1, "{case}: {why} in {journal}");
        }
        world.gateway.stop();
    }
}
