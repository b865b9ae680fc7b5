use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Secret};
use failwell_sdk::{Capability, Context, Question, Tool, Toolbox, TypedOutcome, with_state};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{Authenticate, NoArguments};
use super::{ToolResult, reading};
use crate::account::Account;
use crate::account::login::{AuthStatus, PendingLogin};
use crate::reason;
use crate::settings::Permission;

/// The time that one call waits for a user who agreed to log in.
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(Tool::typed_outcome("rtm_getAuthStatus", "Shows the account that is logged in to Remember The Milk, and the permissions of the login.", with_state(account, reading(status)))?.titled("Login status").read_only())
        .tool(Tool::typed_outcome("rtm_authenticate", "Logs in to Remember The Milk: gives the user an address to open, and waits until the user allows the access there. If the status is pending, ask the user to open the address, then call the tool again.", with_state(account, reading(authenticate)))?.titled("Log in"))
        .tool(Tool::typed_outcome("rtm_clearAuth", "Deletes the login from this machine. The user revokes the permission itself on the website of Remember The Milk.", with_state(account, reading(clear)))?.titled("Log out").destructive().idempotent()))
}

async fn status(account: Arc<Account>, _: NoArguments, _cx: Context) -> ToolResult<AuthStatus> {
    Ok(auth_outcome(account.auth_status().await?))
}

/// Whether a user was logged in before.
#[derive(Debug, Serialize, JsonSchema)]
struct ClearAuthResult {
    /// Whether a login was deleted.
    cleared: bool,
}

async fn clear(account: Arc<Account>, _: NoArguments, _cx: Context) -> ToolResult<ClearAuthResult> {
    let cleared = account.log_out().await?;
    let text = if cleared { "logged out" } else { "no account was logged in" };
    Ok(TypedOutcome::new(ClearAuthResult { cleared }, text))
}

async fn authenticate(account: Arc<Account>, given: Authenticate, cx: Context) -> ToolResult<AuthStatus> {
    let wanted = given.permission.unwrap_or(account.client.settings().permission);
    if let Some(frob) = given.frob {
        return Ok(auth_outcome(account.finish_login(&Secret::new(frob)).await?));
    }
    let waiting = account.pending().filter(|pending| pending.permission == wanted);
    let pending = match waiting {
        Some(pending) => match account.await_login(&pending, Duration::ZERO).await {
            Err(fault) if fault.reason() == &reason::TASKS_LOGIN_PENDING => pending,
            done => return Ok(auth_outcome(done?)),
        },
        None => {
            if let Some(status) = already(&account, wanted).await? {
                return Ok(auth_outcome(status));
            }
            account.begin_login(wanted).await?
        }
    };
    if !can_visit(&cx) {
        account.follow_login(pending.clone());
        return Ok(auth_outcome(waiting_for(&pending)));
    }
    let message = "Allow Failwell to use your Remember The Milk account";
    let answers = cx.ask(&[("visit", Question::visit(message, pending.address.expose()))]).await?;
    if answers.accepted("visit").is_none() {
        let status = AuthStatus { pending: true, ..AuthStatus::default() };
        return Ok(TypedOutcome::new(status, "the user did not open the address; no account is logged in"));
    }
    let done = tokio::select! {
        done = account.await_login(&pending, PATIENCE) => done,
        () = cx.cancelled() => Err(Fault::new(&reason::TASKS_LOGIN_PENDING)),
    };
    Ok(auth_outcome(done?))
}

/// A user who is logged in with sufficient permission need not log in again.
async fn already(account: &Account, wanted: Permission) -> Result<Option<AuthStatus>, Fault> {
    let status = account.auth_status().await?;
    let has = status.permission.as_deref().and_then(Permission::named);
    Ok((status.authenticated && has.is_some_and(|has| has >= wanted)).then_some(status))
}

/// Whether the client can show a URL to its user without passing it to the model.
fn can_visit(cx: &Context) -> bool {
    let declared = cx.client().declared(Capability::Elicitation);
    declared.and_then(|it| it.as_object()).is_some_and(|object| object.get("url").is_some())
}

fn waiting_for(pending: &PendingLogin) -> AuthStatus {
    AuthStatus { pending: true, url: Some(pending.address.expose().clone()), ..AuthStatus::default() }
}

fn auth_outcome(status: AuthStatus) -> TypedOutcome<AuthStatus> {
    let text = match (&status.url, status.authenticated) {
        (Some(url), _) => format!(
            "not logged in yet: the user must open this address and allow the access\n{url}\nthen the login is completed by itself; call rtm_authenticate again to see"
        ),
        (None, true) => format!(
            "logged in as {} with permission {}",
            status.username.as_deref().unwrap_or("an unknown user"),
            status.permission.as_deref().unwrap_or("unknown")
        ),
        (None, false) if status.pending => "not logged in yet: a login waits for its user".to_owned(),
        (None, false) => "no account is logged in; call rtm_authenticate".to_owned(),
    };
    TypedOutcome::new(status, text)
}
