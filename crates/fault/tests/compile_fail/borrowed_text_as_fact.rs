use failwell_fault::{Fault, reason};

fn main() {
    let from_child = String::from("/home/someone/.ssh");
    let _ = Fault::new(&reason::SERVER_BUG).fact("path", from_child.as_str());
}
