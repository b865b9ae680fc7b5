use failwell_fault::Secret;

fn main() {
    let _ = serde_json::to_string(&Secret::new("hunter2"));
}
