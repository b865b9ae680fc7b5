//! The echo server over standard input and output.

use bench_gateway::echo::{Answer, answer};
use std::io::{BufRead, BufReader, Write};
use std::sync::{Arc, Mutex, PoisonError};

fn main() {
    let out = Arc::new(Mutex::new(std::io::stdout()));
    let mut input = BufReader::with_capacity(64 * 1024, std::io::stdin());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        match answer(&line) {
            Answer::Now(body) | Answer::SessionOpened(body) => write(&out, body),
            Answer::Later(wait, body) => {
                let out = out.clone();
                std::thread::spawn(move || {
                    std::thread::sleep(wait);
                    write(&out, body);
                });
            }
            Answer::Nothing => {}
        }
        line.clear();
    }
}

fn write(out: &Mutex<std::io::Stdout>, mut body: Vec<u8>) {
    body.push(b'\n');
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner).lock();
    let _ = out.write_all(&body).and_then(|()| out.flush());
}
