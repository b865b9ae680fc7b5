//! The page on which a person lets an application in, or not. Plain HTML that needs nothing from anywhere else.

use failwell_emulator_http::escape_markup;

use crate::api::params::Params;
use crate::api::signature::sign;
use crate::state::{FrobState, Permission, State};

/// The content security policy of the pages: inline styles, and forms to this origin.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A page, and whether it is about something that went well.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) html: String,
}

/// The login request in the link to this page.
struct LoginRequest<'a> {
    frob: &'a str,
    permission: Permission,
}

/// The question, for a link an application made.
pub(crate) fn ask(state: &State, params: &Params) -> Page {
    match application(state, params) {
        Ok(application) => approval_form(state, &application, params),
        Err(why) => refused(why),
    }
}

/// The answer: the form carries everything the link did, so it is checked in the same way.
pub(crate) fn decide(state: &mut State, params: &Params) -> Page {
    let application = match application(state, params) {
        Ok(application) => application,
        Err(why) => return refused(why),
    };
    let (frob, permission) = (application.frob, application.permission);
    match params.get("decision") {
        Some("allow") => {
            state.decide(frob, FrobState::Approved(permission));
            done("Application allowed", "You can close this page and go back to the application.")
        }
        Some("deny") => {
            state.decide(frob, FrobState::Denied);
            done("Application denied", "It has no access to your account. You can close this page.")
        }
        _ => refused("The form was sent without a decision."),
    }
}

fn application<'a>(state: &State, params: &'a Params) -> Result<LoginRequest<'a>, &'static str> {
    if params.get("api_key") != Some(&state.api_key) {
        return Err("The link names an unknown application: its API key is wrong.");
    }
    // The decision is the person's and no part of what the application signed.
    let signed = params.iter().filter(|(name, _)| *name != "decision");
    if params.get("api_sig") != Some(&sign(&state.secret, signed)) {
        return Err("The link is not signed, or its signature is wrong.");
    }
    let permission = params.get("perms").and_then(Permission::read);
    let permission = permission.ok_or("The link asks for a permission that does not exist.")?;
    let frob = params.get("frob").unwrap_or_default();
    match state.frobs.get(frob) {
        Some(FrobState::Waiting) => Ok(LoginRequest { frob, permission }),
        Some(_) => Err("This request was already answered."),
        None => Err("The link is no longer valid. Go back to the application and start again."),
    }
}

fn approval_form(state: &State, application: &LoginRequest<'_>, params: &Params) -> Page {
    let fields: String = params
        .iter()
        .map(|(name, value)| {
            format!(
                "<input type=\"hidden\" name=\"{}\" value=\"{}\">\n",
                escape_markup(name),
                escape_markup(value)
            )
        })
        .collect();
    let can = match application.permission {
        Permission::Read => "<li>see your lists, tasks, contacts and settings</li>",
        Permission::Write => {
            "<li>see your lists, tasks, contacts and settings</li>\n<li>add and change lists, tasks and notes</li>"
        }
        Permission::Delete => {
            "<li>see your lists, tasks, contacts and settings</li>\n<li>add and change lists, tasks and notes</li>\n\
             <li>delete lists, tasks and notes</li>"
        }
    };
    let body = format!(
        "<h1>Allow access?</h1>\n\
         <p>An application wants to use the account of <strong>{}</strong>. It asks for \
         <strong id=\"permission\">{}</strong> permission and could then:</p>\n<ul>\n{can}\n</ul>\n\
         <form method=\"post\" action=\"/services/auth/\">\n{fields}\
         <button type=\"submit\" name=\"decision\" value=\"allow\">Allow</button>\n\
         <button type=\"submit\" name=\"decision\" value=\"deny\">Deny</button>\n</form>",
        escape_markup(&state.account.user.fullname),
        application.permission.name(),
    );
    Page { status: 200, html: document("Allow access?", &body) }
}

fn done(title: &str, text: &str) -> Page {
    Page { status: 200, html: document(title, &format!("<h1>{title}</h1>\n<p role=\"status\">{text}</p>")) }
}

fn refused(why: &str) -> Page {
    let body = format!("<h1>This does not work</h1>\n<p role=\"alert\">{}</p>", escape_markup(why));
    Page { status: 400, html: document("This does not work", &body) }
}

/// The page for people that stands where an answer should be.
pub(crate) fn unavailable() -> String {
    document(
        "Unavailable",
        "<h1>Unavailable</h1>\n<p>The service has too much to do. Try again in a moment.</p>",
    )
}

/// The page at the root.
pub(crate) fn welcome() -> String {
    document(
        "Emulator",
        "<h1>An emulator of the Remember The Milk web service</h1>\n\
         <p>Methods are called at <code>/services/rest/</code>; applications are allowed at \
         <code>/services/auth/</code>. Nothing here is kept, and nothing reaches the real service.</p>",
    )
}

fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} – emulator</title>\n<style>\n\
         body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 3rem auto; padding: 0 1rem; \
         color: #1b1b1b; background: #fff; }}\n\
         button {{ font: inherit; padding: .5rem 1.5rem; margin-right: .5rem; border: 2px solid #1b1b1b; \
         border-radius: .3rem; background: #fff; color: #1b1b1b; }}\n\
         button[value=allow] {{ background: #0b5394; border-color: #0b5394; color: #fff; }}\n\
         button:focus-visible {{ outline: 3px solid #e69138; }}\n\
         footer {{ margin-top: 3rem; font-size: .9rem; color: #555; }}\n\
         </style>\n</head>\n<body>\n<main>\n{body}\n</main>\n\
         <footer>This is a stand-in for tests and demonstrations, not Remember The Milk.</footer>\n\
         </body>\n</html>\n"
    )
}
