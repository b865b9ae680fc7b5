use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Secret, reason};
use failwell_server::{Capability, Context, Question, Toolbox};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{Authenticate, Nothing};
use super::{Answer, Said, tool};
use crate::account::Account;
use crate::login::{AuthStatus, Pending};
use crate::settings::Permission;

/// How long one call waits for a person who said that they go there.
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(tool(account, ("rtm_getAuthStatus", "Login status", "Says whether somebody is logged in to Remember The Milk, who, and what the login allows."), status)?.read_only())
        .tool(tool(account, ("rtm_authenticate", "Log in", "Logs in to Remember The Milk: gives the user an address to open, and waits until they allowed the access there. When it says pending, ask the user to open the address, then call it again."), authenticate)?)
        .tool(tool(account, ("rtm_clearAuth", "Log out", "Forgets the login on this machine. The permission itself is taken back on the website of Remember The Milk."), clear)?.destructive().idempotent()))
}

async fn status(account: Arc<Account>, _: Nothing, _cx: Context) -> Answer<AuthStatus> {
    Ok(said(account.auth_status().await?))
}

/// Whether somebody was logged in before.
#[derive(Debug, Serialize, JsonSchema)]
struct Cleared {
    /// Whether there was a login to forget.
    cleared: bool,
}

async fn clear(account: Arc<Account>, _: Nothing, _cx: Context) -> Answer<Cleared> {
    let cleared = account.log_out().await?;
    let text = if cleared { "logged out" } else { "nobody was logged in" };
    Ok(Said { object: Cleared { cleared }, text: text.to_owned() })
}

async fn authenticate(account: Arc<Account>, given: Authenticate, cx: Context) -> Answer<AuthStatus> {
    let wanted = given.permission.unwrap_or(account.client.settings().permission);
    if let Some(frob) = given.frob {
        return Ok(said(account.finish_login(&Secret::new(frob)).await?));
    }
    let waiting = account.pending().filter(|pending| pending.permission == wanted);
    let pending = match waiting {
        Some(pending) => match account.await_login(&pending, Duration::ZERO).await {
            Err(fault) if fault.reason() == &reason::TASKS_LOGIN_PENDING => pending,
            done => return Ok(said(done?)),
        },
        None => {
            if let Some(status) = already(&account, wanted).await? {
                return Ok(said(status));
            }
            account.begin_login(wanted).await?
        }
    };
    if !can_visit(&cx) {
        account.follow_login(pending.clone());
        return Ok(said(waiting_for(&pending)));
    }
    let message = "Allow Failwell to use your Remember The Milk account";
    let answers = cx.ask(&[("visit", Question::visit(message, pending.address.expose()))]).await?;
    if answers.accepted("visit").is_none() {
        return Ok(Said {
            object: AuthStatus { pending: true, ..AuthStatus::default() },
            text: "the user did not open the address; nobody is logged in".to_owned(),
        });
    }
    let done = tokio::select! {
        done = account.await_login(&pending, PATIENCE) => done,
        () = cx.cancelled() => Err(Fault::new(&reason::TASKS_LOGIN_PENDING)),
    };
    Ok(said(done?))
}

/// Somebody who is logged in with enough permission need not do it again.
async fn already(account: &Account, wanted: Permission) -> Result<Option<AuthStatus>, Fault> {
    let status = account.auth_status().await?;
    let has = status.permission.as_deref().and_then(Permission::named);
    Ok((status.authenticated && has.is_some_and(|has| has >= wanted)).then_some(status))
}

/// Whether the client can show an address to its user, past the model.
fn can_visit(cx: &Context) -> bool {
    let declared = cx.client().declared(Capability::Elicitation);
    declared.and_then(|it| it.as_object()).is_some_and(|object| object.get("url").is_some())
}

fn waiting_for(pending: &Pending) -> AuthStatus {
    AuthStatus { pending: true, url: Some(pending.address.expose().clone()), ..AuthStatus::default() }
}

fn said(status: AuthStatus) -> Said<AuthStatus> {
    let text = match (&status.url, status.authenticated) {
        (Some(url), _) => format!(
            "not logged in yet: the user must open this address and allow the access\n{url}\nthen the login is completed by itself; call rtm_authenticate again to see"
        ),
        (None, true) => format!(
            "logged in as {} with permission {}",
            status.username.as_deref().unwrap_or("somebody"),
            status.permission.as_deref().unwrap_or("unknown")
        ),
        (None, false) if status.pending => "not logged in yet: a login waits for its user".to_owned(),
        (None, false) => "nobody is logged in; call rtm_authenticate".to_owned(),
    };
    Said { object: status, text }
}
