//! Of several mistakes, the one that the table of assumptions lists first is reported.

use failwell_emulator_rtm::assumed::{Check, ORDER};
use failwell_emulator_rtm::{Permission, Seed};

use crate::support::{Client, encode, start};

/// The parameters of a good call that needs everything.
struct Call {
    parameters: Vec<(&'static str, String)>,
    signs: bool,
}

impl Call {
    fn good(client: &Client) -> Call {
        let parameters = vec![
            ("format", "json".to_owned()),
            ("method", "rtm.tasks.setParentTask".to_owned()),
            ("api_key", client.emulator.api_key().to_owned()),
            ("v", "2".to_owned()),
            ("auth_token", client.token.clone()),
            ("timeline", client.timeline.clone()),
        ];
        Call { parameters, signs: true }
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.parameters.retain(|(known, _)| *known != name);
        self.parameters.push((name, value.to_owned()));
    }

    /// Spoils what a check looks at, and says with which code that is answered.
    fn spoil(&mut self, check: Check, weak_token: &str) -> &'static str {
        match check {
            Check::Format => {
                self.set("format", "yaml");
                "111"
            }
            Check::Key => {
                self.set("api_key", "nobody");
                "100"
            }
            Check::Method => {
                self.set("method", "rtm.tasks.setParentTsk");
                "112"
            }
            Check::Version => {
                self.set("v", "1");
                "120"
            }
            Check::Signature => {
                self.signs = false;
                "97"
            }
            Check::Token => {
                self.set("auth_token", "nobody's");
                "98"
            }
            Check::Permission => {
                self.set("auth_token", weak_token);
                "99"
            }
            Check::Timeline => {
                self.set("timeline", "1");
                "300"
            }
        }
    }

    async fn code(&self, client: &Client) -> String {
        let pairs: Vec<(&str, &str)> =
            self.parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let signature = failwell_emulator_rtm::sign(client.emulator.secret(), pairs.iter().copied());
        let signed = self.signs.then_some(("api_sig", signature.as_str()));
        let body = encode(pairs.iter().copied().chain(signed));
        let reply = client.send("POST", "/services/rest/", &body).await.unwrap();
        assert_eq!(reply.status, 200, "failures are told with 200");
        // An unknown format is answered in XML, the service's own.
        let after =
            reply.body.split_once("code=\"").or_else(|| reply.body.split_once("\"code\":\"")).unwrap().1;
        after.split_once('"').unwrap().0.to_owned()
    }
}

#[tokio::test]
async fn each_check_comes_before_those_after_it() {
    let client = start(Seed::empty()).await;
    let weak = client.control.token(Permission::Read);
    assert_eq!(Call::good(&client).code(&client).await, "320", "nothing wrong but the ids");
    for (place, first) in ORDER.iter().enumerate() {
        let mut alone = Call::good(&client);
        let code = alone.spoil(*first, &weak);
        assert_eq!(alone.code(&client).await, code, "{first:?}");
        for second in &ORDER[place + 1..] {
            if (*first, *second) == (Check::Token, Check::Permission) {
                // One token cannot be both unknown and weak.
                continue;
            }
            let mut call = Call::good(&client);
            call.spoil(*second, &weak);
            call.spoil(*first, &weak);
            assert_eq!(call.code(&client).await, code, "{first:?} before {second:?}");
        }
    }
}

#[tokio::test]
async fn a_wrong_signature_is_not_a_missing_one() {
    let client = start(Seed::empty()).await;
    let form = client.form("rtm.lists.getList", &[("format", "json"), ("auth_token", &client.token)]);
    for (body, code) in [
        (form.replace("api_sig=", "api_sig=0"), "96"),
        (form.split_once("&api_sig").unwrap().0.to_owned(), "97"),
        (format!("{form}&extra=unsigned"), "96"),
    ] {
        let reply = client.send("POST", "/services/rest/", &body).await.unwrap();
        assert!(reply.body.contains(&format!("\"code\":\"{code}\"")), "{body}: {}", reply.body);
    }
}

#[tokio::test]
async fn echo_and_time_need_no_signature() {
    let client = start(Seed::empty()).await;
    let key = client.emulator.api_key();
    for (method, excerpt) in [
        ("rtm.test.echo", "\"stat\":\"ok\""),
        ("rtm.time.parse&text=today", "\"stat\":\"ok\""),
        ("rtm.test.login", "\"code\":\"97\""),
    ] {
        let path = format!("/services/rest/?api_key={key}&format=json&method={method}");
        let reply = client.send("GET", &path, "").await.unwrap();
        assert!(reply.body.contains(excerpt), "{method}: {}", reply.body);
    }
}

#[tokio::test]
async fn a_timeline_is_its_makers_alone() {
    let mut client = start(Seed::empty()).await;
    client.token = client.control.token(Permission::Delete);
    assert_eq!(client.refused("rtm.tasks.add", &[("name", "x")]).await, "300");
    assert_eq!(client.refused("rtm.transactions.undo", &[("transaction_id", "1")]).await, "300");
}
