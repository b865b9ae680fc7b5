use std::process::ExitCode;

use failwell_tasks::{AuthStatus, Login, Permission, Settings};

use crate::cli::{LoginTarget, LogoutTarget, PermissionChoice, Reach, TasksLogin};
use crate::commands::config_file::{self, ConfigFileError};
use crate::commands::servers::tasks::{complaint, settle};
use crate::complaint::Complaint;
use crate::terminal;

fn settled(reach: &Reach) -> Result<Settings, Complaint> {
    settle(&config_file::settle(reach.config.as_deref()).map_err(ConfigFileError::report)?, reach)
}

/// Starts a login and waits until the user has allowed it in the browser.
pub(in crate::commands) async fn log_in(to: &LoginTarget) -> Result<ExitCode, Complaint> {
    let LoginTarget::Tasks(TasksLogin { permission, reach }) = to;
    let settings = settled(reach)?;
    let permission = permission.map_or(settings.permission, named);
    let login = Login::begin(settings, permission).await.map_err(|fault| complaint(&fault))?;
    terminal::print(&format!(
        "open this address, and allow the access there:\n\n  {}\n\nwaiting; Ctrl-C gives up\n",
        login.address().expose()
    ));
    let status = login.finish().await.map_err(|fault| complaint(&fault))?;
    terminal::print(&status_text(&status));
    Ok(ExitCode::SUCCESS)
}

/// Deletes a stored login.
pub(in crate::commands) async fn log_out(of: &LogoutTarget) -> Result<ExitCode, Complaint> {
    let LogoutTarget::Tasks(arguments) = of;
    let settings = settled(&arguments.reach)?;
    let was = failwell_tasks::log_out(settings).await.map_err(|fault| complaint(&fault))?;
    terminal::print(if was {
        "logged out; the permission itself is taken back on the website, under Settings, Apps\n"
    } else {
        "no account was logged in\n"
    });
    Ok(ExitCode::SUCCESS)
}

fn named(permission: PermissionChoice) -> Permission {
    match permission {
        PermissionChoice::Read => Permission::Read,
        PermissionChoice::Write => Permission::Write,
        PermissionChoice::Delete => Permission::Delete,
    }
}

fn status_text(status: &AuthStatus) -> String {
    let part = |text: &Option<String>, otherwise: &str| text.clone().unwrap_or_else(|| otherwise.to_owned());
    format!(
        "logged in as {} with permission {}; the token is kept in the {}\n",
        part(&status.username, "an unknown user"),
        part(&status.permission, "unknown"),
        part(&status.kept_in, "memory"),
    )
}
