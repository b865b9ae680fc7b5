use failwell_fault::{Excerpt, Fault, reason};

/// An error for the user at the terminal.
#[derive(Debug)]
pub(crate) struct Complaint {
    /// The error: lowercase, no full stop.
    pub(crate) title: String,
    /// The next step for the user.
    pub(crate) help: String,
}

impl Complaint {
    /// The fault for a client that is waiting for an answer.
    pub(crate) fn fault(&self) -> impl Fn() -> Fault + use<> {
        let excerpt = Excerpt::of_trusted(&format!("{}; {}", self.title, self.help));
        move || {
            let fault = Fault::new(&reason::CONFIG_INVALID).fact("problems", 1_usize);
            match excerpt.clone() {
                Some(excerpt) => fault.with_excerpt(excerpt),
                None => fault,
            }
        }
    }

    pub(crate) fn new(title: impl Into<String>, help: impl Into<String>) -> Complaint {
        Complaint { title: title.into(), help: help.into() }
    }
}
