use failwell_fault::Name;

fn main() {
    let _ = Name(String::from("text").into());
}
