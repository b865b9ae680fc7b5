use failwell_fault::Secret;

fn main() {
    let _ = format!("{}", Secret::new("hunter2"));
}
