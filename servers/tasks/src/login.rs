//! Logging in: the service is asked for a frob, a person allows the access on the service's page, and then the frob is
//! good for a token. Nobody has to carry the frob: this program asks until the person is done.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use failwell_fault::{Fault, Secret, reason};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::account::Account;
use crate::settings::Permission;
use crate::shape::{first, some, text};
use crate::sign::{Params, form, signature};

/// How long a person may take to allow the access.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);
/// How often the service is asked whether they did.
const INTERVAL: Duration = Duration::from_secs(3);

/// A login that waits for its person.
#[derive(Clone)]
pub(crate) struct Pending {
    frob: Secret<String>,
    pub(crate) permission: Permission,
    /// Where the person allows the access. It holds key and frob, because the service wants them there.
    pub(crate) address: Secret<String>,
    since: Instant,
}

/// Who is logged in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuthStatus {
    /// Whether somebody is logged in, and the service agrees.
    pub authenticated: bool,
    /// Their name at the service.
    pub username: Option<String>,
    /// Their name.
    pub full_name: Option<String>,
    /// What the login allows: read, write or delete.
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
    /// Begins a login; its address is for the person alone.
    pub(crate) async fn begin_login(&self, permission: Permission) -> Result<Pending, Fault> {
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
        let pending = Pending { frob: Secret::new(frob), permission, address, since: Instant::now() };
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) = Some(pending.clone());
        Ok(pending)
    }

    /// The login that waits for its person.
    pub(crate) fn pending(&self) -> Option<Pending> {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.clone().filter(|it| it.since.elapsed() < PATIENCE)
    }

    /// Asks once whether the person is done: `tasks/LOGIN_PENDING` when not.
    pub(crate) async fn finish_login(&self, frob: &Secret<String>) -> Result<AuthStatus, Fault> {
        // A frob is good for one token: whoever asks at the same time waits, and hears how it went.
        let mut finished = self.finished.lock().await;
        if finished.as_ref() == Some(frob) {
            return self.auth_status().await;
        }
        let answer = self.client.open("rtm.auth.getToken", vec![("frob", frob.expose().clone())]).await?;
        let auth = first(answer.get("auth").cloned().unwrap_or_default());
        let token = some(&auth, "token").ok_or_else(no_frob)?;
        let kept = self.client.keep.put(Secret::new(token)).await?;
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Somebody else began another one meanwhile: that one goes on.
        if let Some(other) = pending.take_if(|it| &it.frob != frob) {
            *self.pending.lock().unwrap_or_else(PoisonError::into_inner) = Some(other);
        }
        *finished = Some(frob.clone());
        self.forget().await;
        Ok(AuthStatus { kept_in: Some(kept.as_str().to_owned()), ..status_of(&auth) })
    }

    /// Asks until the person is done.
    pub(crate) async fn await_login(
        &self,
        pending: &Pending,
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

    /// Goes on asking when nobody waits for it, as long as the login is the one that is pending.
    pub(crate) fn follow_login(self: &Arc<Self>, pending: Pending) {
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

    /// Who is logged in, as the service sees it. An outage is told as one, and logs nobody out.
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

    /// Forgets the login; says whether there was one.
    pub(crate) async fn log_out(&self) -> Result<bool, Fault> {
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) = None;
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

/// A login from a terminal: [`Login::begin`], show the address to the person, [`Login::finish`].
pub struct Login {
    account: Arc<Account>,
    pending: Pending,
}

impl Login {
    /// Begins one.
    pub async fn begin(settings: crate::Settings, permission: Permission) -> Result<Login, Fault> {
        let account = Account::new(settings)?;
        let pending = account.begin_login(permission).await?;
        Ok(Login { account, pending })
    }

    /// Where the person allows the access. For their eyes: it holds the API key and the frob.
    pub fn address(&self) -> &Secret<String> {
        &self.pending.address
    }

    /// Waits until they did.
    pub async fn finish(&self) -> Result<AuthStatus, Fault> {
        self.account.await_login(&self.pending, PATIENCE).await
    }
}

/// Forgets the login of these settings; says whether there was one.
pub async fn log_out(settings: crate::Settings) -> Result<bool, Fault> {
    let account = Account::new(settings)?;
    account.client.key()?;
    account.log_out().await
}

/// Whether a token is kept for these settings, without asking the service.
pub async fn is_logged_in(settings: crate::Settings) -> Result<bool, Fault> {
    let account = Account::new(settings)?;
    account.client.key()?;
    Ok(account.client.keep.token().await?.is_some())
}
