//! The only session of WebDriverAgent, and its cache of elements.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::webdriver_error::WebDriverError;

/// The name the standard gives to a reference to an element, and the one before it.
const REFERENCES: [&str; 2] = ["element-6066-11e4-a52e-4f735466cecf", "ELEMENT"];
/// How many elements are remembered; the runner's own cache has about as many.
const MOST_ELEMENTS: usize = 1_024;

pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) settings: Map<String, Value>,
    /// The app that was started for it, and ends with it.
    pub(crate) bundle: Option<String>,
    elements: HashMap<String, String>,
    given: u64,
}

impl Session {
    pub(crate) fn new(number: u64, bundle: Option<String>) -> Session {
        let mut settings = Map::new();
        settings.insert("shouldUseCompactResponses".to_owned(), json!(true));
        let id = format!("5E550000-0000-4000-8000-{number:012X}");
        Session { id, settings, bundle, elements: HashMap::new(), given: 0 }
    }

    /// A reference to the element at this place of the app.
    pub(crate) fn refer(&mut self, key: &str) -> Value {
        let known = self.elements.iter().find(|(_, known)| *known == key).map(|(id, _)| id.clone());
        let id = known.unwrap_or_else(|| {
            if self.elements.len() >= MOST_ELEMENTS {
                self.elements.clear();
            }
            self.given += 1;
            let id =
                format!("E1E00000-0000-0000-{:04X}-{:012X}", self.given >> 48, self.given & 0xffff_ffff_ffff);
            self.elements.insert(id.clone(), key.to_owned());
            id
        });
        let references = REFERENCES.map(|name| (name.to_owned(), json!(id)));
        Value::Object(references.into_iter().collect())
    }

    /// Where in the app the element with this id is.
    pub(crate) fn key(&self, id: &str) -> Result<&str, WebDriverError> {
        self.elements.get(id).map(String::as_str).ok_or_else(WebDriverError::stale)
    }

    /// Drops the cache: every known element becomes stale.
    pub(crate) fn forget(&mut self) {
        self.elements.clear();
    }
}
