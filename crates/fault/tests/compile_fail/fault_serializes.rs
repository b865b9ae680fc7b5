use failwell_fault::{Fault, reason};

fn main() {
    let _ = serde_json::to_string(&Fault::new(&reason::SERVER_BUG));
}
