//! One representative fault per reason: every `{fact}` of its wording filled, as the rooms fill them.

use failwell_fault::{Condition, Echo, Fact, Fault, Name, Pointer, Reason, Rule, Violation};

/// A fault of this reason with the facts its texts name and what its condition usually carries.
pub(crate) fn sample(reason: &'static Reason) -> Fault {
    let mut fault = Fault::new(reason);
    for name in placeholders(reason) {
        fault = fault.fact(name, fact_named(reason, name));
    }
    match reason.condition {
        Condition::BadParams | Condition::BadArguments => violated(fault),
        Condition::UnknownTool => fault.nearest(Name::parse("echo")),
        _ => fault,
    }
}

/// The facts a reason's detail and hint speak of, each once, in the order of their first mention.
fn placeholders(reason: &'static Reason) -> Vec<&'static str> {
    let mut names = Vec::new();
    for template in [reason.detail, reason.hint] {
        for piece in template.split('{').skip(1) {
            let name = piece.split('}').next().expect("a closed brace");
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// A new placeholder in the catalogue needs a sample here.
fn fact_named(reason: &Reason, name: &str) -> Fact {
    match name {
        "setting" if reason.id == "gateway/UPSTREAM_STARTING" => Fact::from("start_timeout_s"),
        "setting" => Fact::from("timeout_s"),
        "server" => Fact::from(Name::parse("memory").expect("a name")),
        "offset" => Fact::from(17u64),
        "limit" => Fact::from(64u64),
        "size" => Fact::from(70_000u64),
        "free" => Fact::from(12u64),
        "limit_s" => Fact::from(30u64),
        "limit_mb" => Fact::from(1_024u64),
        "method" => Fact::from(Echo::of_caller("tools/cull")),
        "name" => Fact::from(Echo::of_caller("ecko")),
        "uri" => Fact::from(Echo::of_caller("test://nothing \"here\"")),
        "key" => Fact::from("io.modelcontextprotocol/protocolVersion"),
        "header" => Fact::from("Mcp-Method"),
        "requested" => Fact::from(Echo::of_caller("1999-12-31")),
        "supported" => Fact::from(vec!["2025-11-25", "2026-07-28"]),
        "required" => Fact::from(vec!["sampling"]),
        "allow" => Fact::from(vec!["GET", "POST"]),
        "wanted" => Fact::from(Echo::of_caller("rpc/NOPE")),
        "what" => Fact::from("the program"),
        "why" => Fact::from("was not found"),
        "help" => Fact::from("install pytest into the project's environment"),
        "how" => Fact::from("with signal "),
        "ended_by" => Fact::from("SIGSEGV"),
        "exit_code" => Fact::from(77i32),
        "most_s" => Fact::from(3_600u64),
        "done" => Fact::from("nothing was forwarded"),
        "approval" => Fact::from(Name::parse("06ff2k8s1xq3m").expect("a name")),
        "role" => Fact::from("developer"),
        "state" => Fact::from("used"),
        "guard" => Fact::from("secrets"),
        "category" => Fact::from("api_key"),
        "code" => Fact::from(4242u64),
        "wait_s" => Fact::from(75u64),
        "number" => Fact::from(3u64),
        "count" => Fact::from(2u64),
        "field" => Fact::from("estimate"),
        "where" => Fact::from("/arguments/text"),
        "line" => Fact::from(5u64),
        "limit_bytes" => Fact::from(65_536u64),
        "module" => Fact::from(Echo::of_caller("numpy")),
        "function" => Fact::from(Echo::of_caller("missing_func")),
        "exception" => Fact::from(Echo::of_caller("ValueEror")),
        "construct" => Fact::from(Echo::of_caller("async def")),
        "strategy" => Fact::from("accessibility id"),
        "bytes" => Fact::from(80_000_000u64),
        "driver" => Fact::from("chromedriver"),
        _ => panic!("no sample for the fact `{name}`"),
    }
}

fn violated(fault: Fault) -> Fault {
    let below = Pointer::root().then("arguments").then("a/b~c");
    fault
        .violation(Violation::new(Pointer::root().then("text"), Rule::Required))
        .violation(Violation::new(below, Rule::Maximum).limit(10u64))
        .violation(Violation::new(Pointer::root().then("txet"), Rule::Unknown).nearest("text"))
}
