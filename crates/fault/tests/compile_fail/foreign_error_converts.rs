use failwell_fault::Fault;

fn read() -> Result<String, Fault> {
    Ok(std::fs::read_to_string("settings")?)
}

fn main() {
    let _ = read();
}
