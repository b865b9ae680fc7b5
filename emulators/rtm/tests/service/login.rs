//! Getting in: frob, page, token, and what a token is good for.

use failwell_emulator_rtm::{Permission, Seed, sign};

use crate::support::{Client, encode, start};

/// The link an application sends its user to.
fn link(client: &Client, frob: &str, perms: &str) -> String {
    let pairs = [("api_key", client.emulator.api_key()), ("frob", frob), ("perms", perms)];
    let signature = sign(client.emulator.secret(), pairs);
    format!("/services/auth/?{}", encode(pairs.into_iter().chain([("api_sig", signature.as_str())])))
}

async fn frob(client: &Client) -> String {
    let answer = client.bare("rtm.auth.getFrob", &[("format", "json")]).await;
    answer["frob"].as_str().unwrap().to_owned()
}

async fn token(client: &Client, frob: &str) -> serde_json::Value {
    client.bare("rtm.auth.getToken", &[("format", "json"), ("frob", frob)]).await
}

#[tokio::test]
async fn the_page_lets_an_application_in() {
    let client = start(Seed::empty()).await;
    let frob = frob(&client).await;
    assert_eq!(token(&client, &frob).await["err"]["code"], "101");
    let link = link(&client, &frob, "write");
    let page = client.send("GET", &link, "").await.unwrap();
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<strong id=\"permission\">write</strong>"), "{}", page.body);
    assert!(page.head.contains("content-security-policy: default-src 'none'"), "{}", page.head);
    assert!(!page.body.contains("http"), "nothing comes from elsewhere: {}", page.body);
    let form = format!("{}&decision=allow", link.split_once('?').unwrap().1);
    let page = client.send("POST", "/services/auth/", &form).await.unwrap();
    assert!(page.body.contains("Application allowed"), "{}", page.body);
    let answer = token(&client, &frob).await;
    assert_eq!(answer["auth"]["perms"], "write");
    let given = answer["auth"]["token"].as_str().unwrap();
    let answer = client.bare("rtm.auth.checkToken", &[("format", "json"), ("auth_token", given)]).await;
    assert_eq!(answer["auth"]["user"]["username"], "dana");
    assert_eq!(token(&client, &frob).await["err"]["code"], "101", "a frob is good for one token");
    let again = client.send("GET", &link, "").await.unwrap();
    assert_eq!(again.status, 400);
}

#[tokio::test]
async fn the_page_keeps_an_application_out() {
    let client = start(Seed::empty()).await;
    let frob = frob(&client).await;
    let link = link(&client, &frob, "delete");
    let form = format!("{}&decision=deny", link.split_once('?').unwrap().1);
    let page = client.send("POST", "/services/auth/", &form).await.unwrap();
    assert!(page.body.contains("Application denied"), "{}", page.body);
    assert_eq!(token(&client, &frob).await["err"]["code"], "101");
    assert!(!client.control.approve(&frob, Permission::Delete), "no is no");
}

#[tokio::test]
async fn the_page_refuses_unsigned_links() {
    let client = start(Seed::empty()).await;
    let frob = frob(&client).await;
    let good = link(&client, &frob, "read");
    for (bad, why) in [
        (good.replace("perms=read", "perms=delete"), "signature"),
        (good.replace("api_key=", "api_key=x"), "API key"),
        (link(&client, &frob, "everything"), "permission"),
        (link(&client, "unknown", "read"), "no longer valid"),
        (link(&client, "<script>alert(1)</script>", "read"), "no longer valid"),
        ("/services/auth/".to_owned(), "API key"),
    ] {
        let page = client.send("GET", &bad, "").await.unwrap();
        assert_eq!(page.status, 400, "{bad}");
        assert!(page.body.contains(why), "{bad}: {}", page.body);
        assert!(!page.body.contains("<script>"), "{bad}");
    }
}

#[tokio::test]
async fn tokens_can_be_changed_and_ended() {
    let client = start(Seed::empty()).await;
    client.control.set_permission(&client.token, Permission::Read);
    assert_eq!(client.refused("rtm.tasks.add", &[("name", "x")]).await, "99");
    client.ok("rtm.lists.getList", &[]).await;
    client.control.set_permission(&client.token, Permission::Write);
    let path = client.add("x").await;
    assert_eq!(client.refused_on("rtm.tasks.delete", &path, &[]).await, "99");
    assert!(client.control.revoke(&client.token));
    assert_eq!(client.refused("rtm.lists.getList", &[]).await, "98");
    assert!(!client.control.revoke(&client.token));
}
