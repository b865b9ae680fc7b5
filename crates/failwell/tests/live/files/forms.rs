//! Uploads to the real program: multipart forms as clients write them, and the files they leave.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use ring::digest::{SHA256, digest};

use crate::setup::folder::Folder;
use crate::setup::node::{Answer, Node};

pub(crate) const BOUNDARY: &str = "----one-of-our-own";
const KIND: &str = "multipart/form-data; boundary=----one-of-our-own";

/// One part of a form: name, optional file name, bytes.
pub(crate) type Part<'a> = (&'a str, Option<&'a str>, &'a [u8]);

/// A complete form.
pub(crate) fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, file, bytes) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// Sends a form and reads the whole response. `None` if the connection broke first.
pub(crate) fn try_upload(node: &Node, body: &[u8]) -> Option<Answer> {
    let mut stream = begin(node, body.len()).ok()?;
    stream.write_all(body).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    answer(&bytes).map(|(answer, _)| answer)
}

/// Sends a form that must get a response.
pub(crate) fn upload(node: &Node, parts: &[Part<'_>]) -> Answer {
    try_upload(node, &form(parts)).expect("an answer")
}

/// Uploads a file of a type and returns its URI.
pub(crate) fn keep(node: &Node, kind: &str, name: &str, bytes: &[u8]) -> String {
    let answer = upload(node, &[("type", None, kind.as_bytes()), ("file", Some(name), bytes)]);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["uri"].as_str().expect("a URI").to_owned()
}

/// Sends the head of an upload with this content length.
pub(crate) fn begin(node: &Node, length: usize) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(node.address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let head = format!(
        "POST /v1/resources HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: {KIND}\r\nContent-Length: {length}\r\n\r\n",
        node.address
    );
    stream.write_all(head.as_bytes())?;
    Ok(stream)
}

/// A response with its raw body.
pub(crate) fn get(node: &Node, path: &str, headers: &[(&str, &str)]) -> (Answer, Vec<u8>) {
    let mut stream = node.open("GET", path, headers, "");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer");
    answer(&bytes).expect("a head")
}

fn answer(bytes: &[u8]) -> Option<(Answer, Vec<u8>)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes[end + 4..].to_vec());
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let text = String::from_utf8_lossy(&body).into_owned();
    Some((Answer { status, head: head.to_ascii_lowercase(), body: text }, body))
}

/// Every file below a folder, except the ledger, the index and locks.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder).expect("below").display().to_string();
            if path.is_dir() {
                open.push(path);
            } else if !name.contains("sqlite") && !name.ends_with("lock") && !name.contains("ledger.run") {
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

/// The stored files of a test. The content of each must match the hash in its name.
pub(crate) fn kept(folder: &Folder) -> Vec<String> {
    let files = tree(&folder.0.join("state/shelf/kept"));
    for (path, bytes) in &files {
        let name = path.rsplit('/').next().and_then(|file| file.split('.').next()).expect("a name");
        assert_eq!(name, hash(bytes), "{path} is torn");
    }
    files.into_keys().map(|path| format!("resource://{path}")).collect()
}

/// The number of unfinished uploads.
pub(crate) fn incoming(folder: &Folder) -> usize {
    tree(&folder.0.join("state/shelf/incoming")).len()
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
