//! The WebDriver protocol: routes, selectors, sessions and errors, as WebDriverAgent words them.

pub(crate) mod routes;
pub(crate) mod selector;
pub(crate) mod session;
pub(crate) mod source;
pub(crate) mod webdriver_error;
