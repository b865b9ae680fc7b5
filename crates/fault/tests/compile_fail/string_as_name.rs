use failwell_fault::{Fact, Name};

fn main() {
    let _ = Fact::Word(&String::from("text"));
    let _ = Name(String::from("text").into());
}
