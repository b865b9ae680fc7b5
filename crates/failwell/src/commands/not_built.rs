//! Commands whose part was left out of this build.

use crate::complaint::Complaint;

/// Names the missing feature and the command that adds it.
pub(super) fn complaint(command: &str, feature: &str) -> Complaint {
    Complaint::new(
        format!("{command} is not in this build: it was built without the feature `{feature}`"),
        format!("add it with: cargo build --release -p failwell --features {feature}"),
    )
}
