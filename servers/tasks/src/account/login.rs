//! Login. The service issues a frob, the user allows the access on the service's page, and then the frob is
//! exchanged for a token. This program polls until the user is done.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Secret};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::account::Account;
use crate::reason;
use crate::service::json::{first, some, text};
use crate::service::signature::{Params, form, signature};
use crate::settings::Permission;

/// The time that a user has to allow the access.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);
/// The poll interval.
const INTERVAL: Duration = Duration::from_secs(3);

/// A login that waits for its user.
#[derive(Clone)]
pub(crate) struct PendingLogin {
    frob: Secret<String>,
    pub(crate) permission: Permission,
    /// The address where the user allows the access. It contains the API key and the frob, as the service
    /// requires.
    pub(crate) address: Secret<String>,
    since: Instant,
}

/// The user that is logged in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuthStatus {
    /// Whether a user is logged in, and the service confirms it.
    pub authenticated: bool,
    /// Their name at the service.
    pub username: Option<String>,
    /// Their name.
    pub full_name: Option<String>,
    /// The permission of the login: read, write or delete.
    pub permission: Option<String>,
    /// Whether a login waits for its person.
    pub pending: bool,
    /// Where the person allows the access, while one is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where the token is kept, after a login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<String>,
}

impl Account {
    /// Starts a login. Only the user may see its address.
    pub(crate) async fn begin_login(&self, permission: Permission) -> Result<PendingLogin, Fault> {
        let key = self.client.key()?;
        let answer = self.client.open("rtm.auth.getFrob", Vec::new()).await?;
        let frob = some(&answer, "frob").ok_or_else(no_frob)?;
        let mut params: Params = vec![
            ("api_key", key.key.expose().clone()),
            ("perms", permission.as_str().to_owned()),
            ("frob", frob.clone()),
        ];
        params.push(("api_sig", signature(&key.secret, &params)));
        let base = self.client.settings().approval().trim_end_matches('/');
        let address = Secret::new(format!("{base}/services/auth/?{}", form(&params)));
        let pending = PendingLogin { frob: Secret::new(frob), permission, address, since: Instant::now() };
        *self.pending.lock() = Some(pending.clone());
        Ok(pending)
    }

    pub(crate) fn pending(&self) -> Option<PendingLogin> {
        let pending = self.pending.lock();
        pending.clone().filter(|it| it.since.elapsed() < PATIENCE)
    }

    /// Polls once. It fails with `tasks/LOGIN_PENDING` while the user is not done.
    pub(crate) async fn finish_login(&self, frob: &Secret<String>) -> Result<AuthStatus, Fault> {
        // A frob gives one token. A second caller waits and gets the same result.
        let mut finished = self.finished.lock().await;
        if finished.as_ref() == Some(frob) {
            return self.auth_status().await;
        }
        let answer = self.client.open("rtm.auth.getToken", vec![("frob", frob.expose().clone())]).await?;
        let auth = first(answer.get("auth").cloned().unwrap_or_default());
        let token = some(&auth, "token").ok_or_else(no_frob)?;
        let location = self.client.keep.put(Secret::new(token)).await?;
        let mut pending = self.pending.lock().take();
        // Another login was started meanwhile and stays pending.
        if let Some(other) = pending.take_if(|it| &it.frob != frob) {
            *self.pending.lock() = Some(other);
        }
        *finished = Some(frob.clone());
        self.forget().await;
        Ok(AuthStatus { kept_in: Some(location.as_str().to_owned()), ..status_of(&auth) })
    }

    /// Polls until the user is done.
    pub(crate) async fn await_login(
        &self,
        pending: &PendingLogin,
        patience: Duration,
    ) -> Result<AuthStatus, Fault> {
        let end = Instant::now() + patience;
        loop {
            match self.finish_login(&pending.frob).await {
                Err(fault) if fault.reason() == &reason::TASKS_LOGIN_PENDING && Instant::now() < end => {
                    tokio::time::sleep(INTERVAL.min(self.client.settings().poll)).await;
                }
                done => return done,
            }
        }
    }

    /// Polls in the background while this login is the pending one.
    pub(crate) fn follow_login(self: &Arc<Self>, pending: PendingLogin) {
        let account = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(account) = account.upgrade() {
                let is_it = account.pending().is_some_and(|it| it.frob == pending.frob);
                if !is_it || account.finish_login(&pending.frob).await.is_ok() {
                    return;
                }
                let pause = INTERVAL.min(account.client.settings().poll);
                drop(account);
                tokio::time::sleep(pause).await;
            }
        });
    }

    /// The login as the service sees it. An outage is reported as one and does not log out.
    pub(crate) async fn auth_status(&self) -> Result<AuthStatus, Fault> {
        self.client.key()?;
        let pending = self.pending().is_some();
        if self.client.keep.token().await?.is_none() {
            return Ok(AuthStatus { pending, ..AuthStatus::default() });
        }
        match self.client.read("rtm.auth.checkToken", Vec::new()).await {
            Ok(answer) => {
                let auth = first(answer.get("auth").cloned().unwrap_or_default());
                Ok(AuthStatus { pending, ..status_of(&auth) })
            }
            Err(fault) if fault.reason() == &reason::TASKS_LOGIN_EXPIRED => {
                Ok(AuthStatus { pending, ..AuthStatus::default() })
            }
            Err(fault) => Err(fault),
        }
    }

    /// Deletes the login. Returns whether there was one.
    pub(crate) async fn log_out(&self) -> Result<bool, Fault> {
        *self.pending.lock() = None;
        let was = self.client.keep.clear().await?;
        self.forget().await;
        Ok(was)
    }
}

fn status_of(auth: &Value) -> AuthStatus {
    let user = first(auth.get("user").cloned().unwrap_or_default());
    AuthStatus {
        authenticated: true,
        username: some(&user, "username"),
        full_name: some(&user, "fullname"),
        permission: Permission::named(&text(auth, "perms")).map(|it| it.as_str().to_owned()),
        ..AuthStatus::default()
    }
}

fn no_frob() -> Fault {
    Fault::new(&reason::TASKS_BAD_ANSWER)
        .fact("why", "nothing to log in with in it")
        .fact("done", "nothing was changed")
}

/// A login at a terminal: [`Login::begin`], show the address to the user, [`Login::finish`].
pub struct Login {
    account: Arc<Account>,
    pending: PendingLogin,
}

impl Login {
    pub async fn begin(settings: crate::Settings, permission: Permission) -> Result<Login, Fault> {
        let account = Account::new(settings)?;
        let pending = account.begin_login(permission).await?;
        Ok(Login { account, pending })
    }

    /// The address where the user allows the access. It contains the API key and the frob, so show it to the
    /// user only.
    pub fn address(&self) -> &Secret<String> {
        &self.pending.address
    }

    /// Waits until the user is done.
    pub async fn finish(&self) -> Result<AuthStatus, Fault> {
        self.account.await_login(&self.pending, PATIENCE).await
    }
}

/// Deletes the login of these settings. Returns whether there was one.
pub async fn log_out(settings: crate::Settings) -> Result<bool, Fault> {
    let account = Account::new(settings)?;
    account.client.key()?;
    account.log_out().await
}

/// Whether a token is stored for these settings. It does not ask the service.
pub async fn is_logged_in(settings: crate::Settings) -> Result<bool, Fault> {
    let account = Account::new(settings)?;
    account.client.key()?;
    Ok(account.client.keep.token().await?.is_some())
}
