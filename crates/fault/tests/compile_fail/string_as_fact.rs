use failwell_fault::{Fault, reason};

fn main() {
    let from_upstream = String::from("password=hunter2");
    let _ = Fault::new(&reason::SERVER_BUG).fact("message", from_upstream);
}
