//! The routes. Paths and response texts are those of WebDriverAgent.

mod alerts;
mod apps;
mod elements;
mod gestures;
mod phone;
mod sessions;

use http::Method;
use serde_json::Value;

use super::selector;
use super::session::Session;
use crate::state::State;
use crate::webdriver::webdriver_error::{CommandResult, WebDriverError};

/// A parsed command.
pub(crate) struct Command {
    pub(crate) method: Method,
    /// The session it names, if any.
    pub(crate) session: Option<String>,
    /// The rest of the path.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Command {
    /// Method and path, without the session.
    pub(crate) fn command(&self) -> String {
        format!("{} /{}", self.method, self.path.join("/"))
    }

    fn query_param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn text(&self, name: &str) -> Result<&str, WebDriverError> {
        let missing = || WebDriverError::invalid_argument(format!("'{name}' has to be a text"));
        self.body.get(name).and_then(Value::as_str).ok_or_else(missing)
    }

    fn number(&self, name: &str) -> Option<f64> {
        let value = self.body.get(name)?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok())
    }
}

/// Runs the command, as a whole or not at all. `extra` is the number of bytes by which screenshots grow.
pub(crate) fn perform(state: &mut State, request: &Command, extra: usize) -> CommandResult {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    if let Some(outcome) = sessions::without_session(state, request, &path) {
        return outcome;
    }
    if let Some(id) = &request.session
        && state.session.as_ref().map(|session| &session.id) != Some(id)
    {
        return Err(WebDriverError::no_session());
    }
    if let Some(outcome) = phone::answer(state, request, &path, extra) {
        return outcome;
    }
    if let Some(outcome) = alerts::answer(state, request, &path) {
        return outcome;
    }
    // Everything else is about elements or apps, and needs a session.
    if request.session.is_some() {
        let within = [sessions::answer, apps::answer, elements::answer, gestures::answer];
        if let Some(outcome) = within.into_iter().find_map(|answer| answer(state, request, &path)) {
            return outcome;
        }
    }
    Err(WebDriverError::unknown_command(&request.command()))
}

fn session(state: &mut State) -> Result<&mut Session, WebDriverError> {
    state.session.as_mut().ok_or_else(WebDriverError::no_session)
}

/// Where on the screen an element is, known by its id; refused when it is stale.
fn find_element(state: &mut State, id: &str) -> Result<usize, WebDriverError> {
    let screen = state.device.screen();
    let key = session(state)?.key(id)?;
    screen.by_key(key).ok_or_else(WebDriverError::stale)
}

/// Finds the elements that match a selector, under an element or anywhere.
fn found(state: &mut State, under: Option<&str>, request: &Command) -> Result<Vec<usize>, WebDriverError> {
    let under = under.map_or(Ok(0), |id| find_element(state, id))?;
    let (using, value) = (request.text("using")?, request.text("value")?);
    selector::find(&state.device.screen(), under, using, value)
}
