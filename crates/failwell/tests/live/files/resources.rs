//! Stored files in every dialect of the real program.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use serde_json::{Value, json};

use super::forms::{get, hash, incoming, keep, kept, tree, upload};
use crate::ledger::records_once;
use crate::setup::folder::{Folder, upstream};
use crate::setup::node::{Answer, Node, within};

const DEMO: &str = "servers = [\"lobby\"]\n";

fn encoded(uri: &str) -> String {
    uri.bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

fn read_over_rpc(node: &Node, uri: &str) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "read_resource", "params": {"uri": uri}});
    let answer = node.send("POST", "/rpc", &[], &call.to_string());
    assert_eq!(answer.status, 200);
    answer.json()
}

/// The same fault over REST and `/rpc`, except for the reference.
fn same(rest: &Answer, rpc: &Value) {
    let without = |fault: &Value| {
        let mut fault = fault.clone();
        fault.as_object_mut().expect("a fault").remove("ref");
        fault
    };
    let (json, error) = (rest.json(), &rpc["error"]);
    assert_eq!((&json["error_code"], &json["message"]), (&error["code"], &error["message"]), "{rest:?}");
    assert_eq!(without(&json["detail"]), without(&error["data"]), "{rest:?}");
}

#[test]
fn what_is_not_there_and_what_is_no_uri() {
    let folder = Folder::with(DEMO);
    let node = Node::up(&folder, &[]);
    let uri = "resource://screenshots/abcd1234.png";
    for path in [uri.to_owned(), encoded(uri)] {
        let answer = get(&node, &format!("/v1/resources/{path}"), &[]).0;
        assert_eq!((answer.status, &answer.json()["error_code"]), (404, &json!(-32800)), "{answer:?}");
        assert_eq!(answer.json()["message"], format!("Resource not found: {uri}"));
        same(&answer, &read_over_rpc(&node, uri));
    }
    for verb in ["DELETE", "PATCH"] {
        let path = if verb == "PATCH" { format!("{uri}/metadata") } else { uri.to_owned() };
        let answer = node.send(verb, &format!("/v1/resources/{path}"), &[], "{}");
        assert_eq!((answer.status, answer.reason().as_str()), (404, "mcp/UNKNOWN_RESOURCE"), "{verb}");
    }
    let long = format!("resource://a/{}", "b".repeat(3_000));
    for bad in [
        "resource://",
        "resource://../x",
        "resource://a/../../etc/passwd",
        "resource://A/b.png",
        "resource://a/b\0.png",
        "resource://a/b.p\u{202e}ng",
        "resource://a/b.png/../c",
        "resource://ａ/b",
        "nothing",
        "/etc/passwd",
        "../x",
        &long,
    ] {
        for (verb, end) in [("GET", ""), ("DELETE", ""), ("PATCH", "/metadata"), ("GET", "?metadata_only")] {
            let answer = node.send(verb, &format!("/v1/resources/{}{end}", encoded(bad)), &[], "{}");
            let found = (answer.status, answer.reason());
            assert_eq!(found, (400, "shelf/BAD_URI".to_owned()), "{verb} {bad:?}");
        }
    }
    same(
        &get(&node, "/v1/resources/resource%3A%2F%2F..%2Fx", &[]).0,
        &read_over_rpc(&node, "resource://../x"),
    );
    // Resources of a server keep their own URIs.
    let reasons = get(&node, "/v1/resources/failwell://reasons", &[]).0;
    assert_eq!(reasons.status, 200);
    assert_eq!(reasons.json()["contents"][0]["uri"], "failwell://reasons");
    assert_eq!(reasons.json(), read_over_rpc(&node, "failwell://reasons")["result"]);
}

#[test]
fn uploads_that_are_refused_leave_nothing() {
    let folder = Folder::with(&format!("{DEMO}[shelf]\nmax_upload_bytes = 1000\n"));
    let node = Node::up(&folder, &[]);
    let picture: &[u8] = b"not really a picture";
    keep(&node, "screenshots", "a.png", picture);
    let before = tree(&folder.0);
    let long = "x".repeat(300);
    for evil in [
        "../../x",
        "..",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "a\0b",
        "A",
        "．．／x",
        "a\u{202e}b",
        "%2e%2e%2f",
        long.as_str(),
        "",
    ] {
        let answer = upload(&node, &[("type", None, evil.as_bytes()), ("file", Some("a.png"), picture)]);
        assert_eq!((answer.status, answer.reason().as_str()), (400, "shelf/BAD_NAME"), "{evil:?}");
        // The order of the parts does not matter.
        let answer = upload(&node, &[("file", Some("a.png"), picture), ("type", None, evil.as_bytes())]);
        assert_eq!((answer.status, answer.reason().as_str()), (400, "shelf/BAD_NAME"), "{evil:?}");
    }
    for evil in [
        "../../x.png",
        "..",
        "/etc/passwd",
        "a/b.png",
        "．．／x",
        "a\u{202e}gnp.exe",
        "a\u{200b}",
        long.as_str(),
    ] {
        let answer = upload(&node, &[("type", None, b"notes"), ("file", Some(evil), picture)]);
        assert_eq!((answer.status, answer.reason().as_str()), (400, "shelf/BAD_NAME"), "{evil:?}");
    }
    let listed = node.send("GET", "/v1/resources?type=..%2F..%2Fx", &[], "");
    assert_eq!((listed.status, listed.reason().as_str()), (400, "shelf/BAD_NAME"));

    for (parts, wrong) in [
        (vec![("type", None, &b"notes"[..])], vec![("file", "value_error.missing")]),
        (vec![], vec![("file", "value_error.missing"), ("type", "value_error.missing")]),
        (
            vec![("type", None, &b"notes"[..]), ("ttl", None, b"abc"), ("file", Some("a.png"), picture)],
            vec![("ttl", "type_error")],
        ),
        (
            vec![
                ("file", Some("a.png"), picture),
                ("ttl", None, b"0"),
                ("metadata", None, b"[1]"),
                ("tpye", None, b"notes"),
            ],
            vec![
                ("ttl", "value_error.number.min"),
                ("metadata", "type_error"),
                ("tpye", "value_error.extra"),
                ("type", "value_error.missing"),
            ],
        ),
    ] {
        let answer = upload(&node, &parts);
        let body = answer.json();
        assert_eq!((answer.status, &body["error_code"]), (422, &json!(-32602)), "{answer:?}");
        assert_eq!(body["message"], "Validation Error");
        let errors = body["detail"]["errors"].as_array().expect("errors").iter();
        let errors: Vec<_> = errors.map(|e| (e["loc"][1].as_str(), e["type"].as_str())).collect();
        let wrong: Vec<_> = wrong.into_iter().map(|(at, what)| (Some(at), Some(what))).collect();
        assert_eq!(errors, wrong);
    }
    // Beyond the limit, both by the declared length and by the received bytes.
    for size in [1_001, 300_000, 2_000_000] {
        let answer = upload(&node, &[("type", None, b"notes"), ("file", Some("a.png"), &vec![7; size])]);
        assert_eq!((answer.status, answer.reason().as_str()), (413, "shelf/TOO_LARGE"), "{size}");
        let facts = &answer.json()["detail"]["facts"];
        assert!(facts["size"].as_u64().expect("a size") > 1_000 && facts["limit"] == 1_000, "{facts}");
    }
    let plain = node.send("POST", "/v1/resources", &[], "{}");
    assert_eq!((plain.status, plain.reason().as_str()), (415, "http/FORM"));
    let broken = [("Content-Type", "multipart/form-data; boundary=x")];
    for (body, reason) in [
        ("nothing of the sort", "shelf/CUT_OFF"),
        ("--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nhalf", "shelf/CUT_OFF"),
        ("--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--\r\n", "shelf/BAD_MULTIPART"),
    ] {
        let answer = node.send("POST", "/v1/resources", &broken, body);
        assert_eq!((answer.status, answer.reason().as_str()), (400, reason), "{body}");
    }
    assert!(within(Duration::from_secs(20), || incoming(&folder) == 0));
    assert_eq!(tree(&folder.0), before, "not one byte was written");
    for reason in ["shelf/BAD_NAME", "shelf/TOO_LARGE", "shelf/CUT_OFF", "http/INVALID"] {
        records_once(&folder, &["--reason", reason], |refused| !refused.is_empty());
    }
}

#[test]
fn stored_content_is_served_whole_and_by_range() {
    let folder = Folder::with(DEMO);
    let node = Node::up(&folder, &[]);
    let bytes: Vec<u8> = (0..600_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let made = upload(
        &node,
        &[
            ("file", Some("日本 '1'.png"), &bytes),
            ("type", None, b"screenshots"),
            ("ttl", None, b"600"),
            ("metadata", None, br#"{"run": 5}"#),
        ],
    );
    let uri = format!("resource://screenshots/{}.png", hash(&bytes));
    assert_eq!((made.status, &made.json()["uri"]), (201, &json!(uri)), "{made:?}");
    assert_eq!(made.header("location"), Some(format!("/v1/resources/{uri}")));
    assert_eq!((&made.json()["metadata"]["run"], &made.json()["size"]), (&json!(5), &json!(600_000)));

    let at = format!("/v1/resources/{uri}");
    let (whole, body) = get(&node, &at, &[]);
    assert_eq!((whole.status, whole.header("content-type").as_deref()), (200, Some("image/png")));
    assert!(body == bytes && get(&node, &format!("/v1/resources/{}", encoded(&uri)), &[]).1 == bytes);
    assert_eq!(
        whole.header("content-security-policy").as_deref(),
        Some("sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    );
    let tag = whole.header("etag").expect("a tag");
    for (range, status, span) in [
        ("bytes=0-0", 206, 0..1),
        ("bytes=100-299999", 206, 100..300_000),
        ("bytes=599990-", 206, 599_990..600_000),
        ("bytes=-7", 206, 599_993..600_000),
        ("bytes=5-2", 200, 0..600_000),
        ("bytes=0-1,5-6", 200, 0..600_000),
    ] {
        let (part, body) = get(&node, &at, &[("Range", range)]);
        assert_eq!((part.status, body == bytes[span.clone()]), (status, true), "{range}");
        let wanted = (status == 206).then(|| format!("bytes {}-{}/600000", span.start, span.end - 1));
        assert_eq!(part.header("content-range"), wanted);
    }
    let (past, _) = get(&node, &at, &[("Range", "bytes=600000-")]);
    assert_eq!((past.status, past.reason().as_str()), (416, "shelf/RANGE"));
    assert_eq!(past.header("content-range").as_deref(), Some("bytes */600000"));
    assert_eq!(get(&node, &at, &[("Range", "bytes=0-9"), ("If-Range", "\"other\"")]).0.status, 200);
    assert_eq!(get(&node, &at, &[("If-None-Match", &tag)]).0.status, 304);
    let head = node.send("HEAD", &at, &[], "");
    assert_eq!((head.status, head.header("content-length").as_deref()), (200, Some("600000")));
    assert!(head.body.is_empty());
    let saved = get(&node, &format!("{at}?download"), &[]).0.header("content-disposition").expect("a name");
    assert_eq!(
        saved,
        "attachment; filename=\"__ _1_.png\"; filename*=utf-8''%e6%97%a5%e6%9c%ac%20%271%27.png"
    );

    let known = get(&node, &format!("{at}?metadata_only"), &[]).0.json();
    assert_eq!(known, get(&node, &format!("{at}/metadata"), &[]).0.json());
    assert_eq!(known, made.json());
    let edited = node.send("PATCH", &format!("{at}/metadata"), &[], r#"{"run": null, "who": "me"}"#);
    assert_eq!((edited.status, &edited.json()["metadata"]["who"]), (200, &json!("me")));
    assert!(edited.json()["metadata"].get("run").is_none());
    assert_eq!(node.send("PATCH", &format!("{at}/metadata"), &[], "[1]").status, 422);
    let large = json!({"x": "y".repeat(20_000)}).to_string();
    assert_eq!(node.send("PATCH", &format!("{at}/metadata"), &[], &large).reason(), "shelf/METADATA");

    assert_eq!(node.send("DELETE", &at, &[], "").status, 204);
    assert_eq!((get(&node, &at, &[]).0.status, kept(&folder).len()), (404, 0));
    let methods =
        ["resources/upload", "resources/read", "resources/describe", "resources/edit", "resources/remove"];
    let of = |record: &Value, method: &str| {
        record["method"] == method && record["target"] == uri && record["server"] == "shelf"
    };
    records_once(&folder, &["--limit", "1000"], |all| {
        methods.iter().all(|method| all.iter().any(|record| of(record, method)))
    });
}

#[test]
fn mcp_lists_reads_and_watches_stored_files() {
    // The demo server alone, and together with an upstream behind the gateway.
    for file in [DEMO.to_owned(), format!("{DEMO}{}", upstream("a", ""))] {
        let folder = Folder::with(&file);
        let node = Node::up(&folder, &[]);
        let picture = keep(&node, "screenshots", "a.png", b"\x89PNG\xff");
        let note = keep(&node, "notes", "b.txt", "grüß dich".as_bytes());
        let hello = node.initialize("/mcp");
        assert!(hello.json()["result"]["capabilities"]["resources"]["subscribe"] == true);
        let session = hello.header("mcp-session-id").expect("a session");
        let asked = |method: &str, params: Value| {
            let message = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
            node.say(&session, &message).json()
        };
        node.say(&session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let read = asked("resources/read", json!({"uri": picture}));
        let contents = json!([{"uri": picture, "mimeType": "image/png", "blob": "iVBOR/8="}]);
        assert_eq!(read["result"]["contents"], contents);
        let read = node.modern("resources/read", &note, json!({"uri": note})).json();
        assert_eq!(read["result"]["contents"][0]["text"], "grüß dich");
        let listed = asked("resources/list", json!({}));
        let uris: Vec<_> = listed["result"]["resources"].as_array().expect("a list").iter().collect();
        assert!(uris.iter().any(|item| item["uri"] == picture && item["size"] == 5), "{listed}");
        assert!(uris.iter().any(|item| item["uri"] == note && item["name"] == "b.txt"), "{listed}");
        let templates = asked("resources/templates/list", json!({}));
        assert!(templates.to_string().contains("resource://{type}/{sha256}{ext}"), "{templates}");
        let unknown = asked("resources/read", json!({"uri": "resource://screenshots/abcd1234.png"}));
        assert_eq!(unknown["error"]["code"], -32002);

        let headers = [("Mcp-Session-Id", session.as_str()), ("Accept", "text/event-stream")];
        let mut lines = BufReader::new(node.open("GET", "/mcp", &headers, "")).lines();
        assert_eq!(asked("resources/subscribe", json!({"uri": note}))["result"], json!({}));
        node.send("PATCH", &format!("/v1/resources/{note}/metadata"), &[], r#"{"seen": true}"#);
        let wait_for = |lines: &mut std::io::Lines<BufReader<_>>, what: &str| {
            lines.by_ref().map_while(Result::ok).any(|line| line.contains(what))
        };
        assert!(wait_for(&mut lines, "notifications/resources/updated"));
        keep(&node, "notes", "c.txt", b"one more");
        assert!(wait_for(&mut lines, "notifications/resources/list_changed"));
    }
}

#[test]
fn long_lists_have_pages_on_every_face() {
    let folder = Folder::with(DEMO);
    let node = Node::up(&folder, &[]);
    let mut all: Vec<String> =
        (0..105).map(|n| keep(&node, "notes", "n.txt", format!("note {n}").as_bytes())).collect();
    all.reverse();
    let (mut seen, mut path) = (Vec::new(), "/v1/resources?limit=40".to_owned());
    loop {
        let page = get(&node, &path, &[]).0.json();
        let items = page["resources"].as_array().expect("items").iter();
        seen.extend(items.filter_map(|item| item["uri"].as_str().map(str::to_owned)));
        let Some(next) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/resources?limit=40&cursor={next}");
    }
    assert_eq!(seen, all);
    let (mut seen, mut params) = (Vec::new(), json!({}));
    loop {
        let page = node.modern("resources/list", "", params).json();
        let items = page["result"]["resources"].as_array().expect("items").iter();
        seen.extend(items.filter_map(|item| item["uri"].as_str().map(str::to_owned)));
        match page["result"]["nextCursor"].as_str() {
            Some(next) => params = json!({"cursor": next}),
            None => break,
        }
    }
    seen.retain(|uri| uri.starts_with("resource://"));
    assert_eq!(seen, all);
    for (query, status) in
        [("limit=0", 422), ("limit=x", 422), ("limit=1001", 422), ("cursor=x", 422), ("limit=1000", 200)]
    {
        assert_eq!(node.send("GET", &format!("/v1/resources?{query}"), &[], "").status, status, "{query}");
    }
}

#[test]
fn rules_and_guards_apply_to_stored_files() {
    let rules = "[resources.shelf]\nhide = [\"resource://secrets/*\"]\n";
    let folder = Folder::with(&format!("{DEMO}{rules}"));
    let node = Node::up(&folder, &[]);
    let denied = upload(&node, &[("type", None, b"secrets"), ("file", Some("a.txt"), b"x")]);
    assert_eq!((denied.status, denied.reason().as_str()), (403, "policy/DENIED"));
    let token = format!("ghp_{}", "x7Rk2mPq9WvL4tZs8NcY".repeat(2).get(..36).expect("enough"));
    let text = format!("the token is {token}, keep it");
    let uri = keep(&node, "notes", "a.txt", text.as_bytes());
    let (given, _) = get(&node, &format!("/v1/resources/{uri}"), &[("Range", "bytes=13-60")]);
    assert_eq!(given.status, 200, "other bytes than those the URI names have no parts");
    assert!(!given.body.contains(&token) && given.body.starts_with("the token is "), "{given:?}");
    assert!(given.header("etag").is_none());
    assert!(!read_over_rpc(&node, &uri).to_string().contains(&token));
    // A file that a later rule hides looks like a file that never existed.
    let session = node.initialize("/mcp").header("mcp-session-id").expect("a session");
    node.say(&session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": uri}});
    assert_eq!(node.say(&session, &subscribe).json()["result"], json!({}));
    folder.save(&format!("{DEMO}[resources.shelf]\nhide = [\"resource://notes/*\"]\n"));
    node.waits_for("was read again", 1);
    let hidden = get(&node, &format!("/v1/resources/{uri}"), &[]).0;
    let nothing = format!("resource://notes/{}.txt", "0".repeat(64));
    let unknown = get(&node, &format!("/v1/resources/{nothing}"), &[]).0;
    let shape = |answer: &Answer, uri: &str| {
        let reference = answer.json()["detail"]["ref"].as_str().expect("a ref").to_owned();
        (answer.status, answer.body.replace(uri, "URI").replace(&reference, "REF"))
    };
    assert_eq!(shape(&hidden, &uri), shape(&unknown, &nothing));
    assert_eq!(node.send("DELETE", &format!("/v1/resources/{uri}"), &[], "").status, 404);
    assert_eq!(get(&node, "/v1/resources", &[]).0.json()["resources"], json!([]));
    let refused = node.say(&session, &subscribe).json();
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
}
