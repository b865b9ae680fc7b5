//! The servers behind the gateway.

use std::sync::OnceLock;

use failwell_rpc::Era;
use failwell_suite::program::built;
use failwell_suite::script::cases::{Case, POISON, answer_with, cases};
use failwell_suite::script::{ReceivedRequest, Script, ScriptedResponse, response};
use serde_json::json;

/// Secrets of the upstreams that must not reach a caller. The last is a credential of the gateway, which must not reach the
/// log either.
pub(crate) const SECRETS: [&str; 7] =
    ["hunter2", "ghp_0123", "/srv/secret", "db.internal", "Traceback", "ignore all previous", CREDENTIAL];
pub(crate) const CREDENTIAL: &str = "s3cret-of-ours";

/// The time limit of the HTTP upstreams, in seconds.
pub(crate) const WEB_TIMEOUT: u64 = 10;

/// The servers over HTTP; the children are started by the program.
pub(crate) struct Upstreams {
    session: Script,
    modern: Script,
}

impl Upstreams {
    pub(crate) async fn start() -> Upstreams {
        Upstreams {
            session: Script::upstream(Era::Session, answer).await,
            modern: Script::upstream(Era::Modern, answer).await,
        }
    }

    /// A configuration with all of them. `mark` is in the environment of every child.
    pub(crate) fn config(&self, mark: &str) -> String {
        let evil = built("evil");
        let mut file = "servers = []\n".to_owned();
        for name in ["one", "two"] {
            file.push_str(&format!(
                "[[upstream]]\nname = \"{name}\"\ncommand = [{evil:?}]\nenv = {{ CHAOS_MARK = \"{mark}\", PATH = \"/usr/bin:/bin\" }}\n\
                 timeout_s = 3\nrestart = {{ budget = 1000, window_s = 1 }}\n"
            ));
        }
        for (name, script) in [("web", &self.session), ("new", &self.modern)] {
            let address = script.address;
            file.push_str(&format!(
                "[[upstream]]\nname = \"{name}\"\nurl = \"http://{address}/mcp\"\n\
                 headers = {{ Authorization = \"Bearer {CREDENTIAL}\" }}\ntimeout_s = {WEB_TIMEOUT}\n\
                 max_message_bytes = 100000\nrestart = {{ budget = 1000, window_s = 1 }}\n"
            ));
        }
        file
    }
}

/// Every kind of bad response.
pub(crate) fn bad_answers() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(cases)
}

/// The bad response that a call asks for, or an echo of its arguments.
fn answer(seen: &ReceivedRequest) -> ScriptedResponse {
    let arguments = &seen.body["params"]["arguments"];
    if arguments["bad"] == "404" {
        return response(404, "", POISON);
    }
    let wanted = arguments["bad"].as_str();
    if let Some(case) = bad_answers().iter().find(|case| Some(case.name) == wanted) {
        return (case.answer)(seen);
    }
    let content = json!([{"type": "text", "text": arguments.to_string()}]);
    answer_with(seen, "result", &json!({"resultType": "complete", "content": content}))
}
