//! Stores screenshots of one megabyte: one after the other, eight at a time, and reads them back. The baseline is plain
//! files that are written as durably. Exits 1 when storing is much slower than the baseline.

mod plain;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Bytes;
use failwell_store::blob_store::{BlobStore, BlobStoreSettings, Extension, NewFile, ResourceType};
use serde_json::Map;

const SIZE: usize = 1 << 20;
/// Concurrent writes in the second round.
const TOGETHER: usize = 8;
/// The most time to store a screenshot, relative to a plain file. A stored file is hashed and has a row in SQLite.
const BAR: f64 = 4.0;

#[tokio::main]
async fn main() -> ExitCode {
    let count = std::env::var("PICTURES").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let folder = std::env::temp_dir().join(format!("failwell-bench-device-{}", std::process::id()));
    let outcome = measure(&folder, count).await;
    let _ = std::fs::remove_dir_all(&folder);
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}\nhelp: the disk may be full; TMPDIR names another one");
            ExitCode::FAILURE
        }
    }
}

async fn measure(folder: &Path, count: usize) -> Result<bool, String> {
    let pictures: Vec<Bytes> = (0..count * 2).map(picture).collect();
    let (alone, together) = pictures.split_at(count);
    let plain = plain::write(&folder.join("plain"), alone).map_err(|error| error.to_string())?;
    let blobs = BlobStore::open(
        &folder.join("shelf"),
        BlobStoreSettings { most_bytes: 64 << 30, ..BlobStoreSettings::default() },
    )
    .map_err(|fault| fault.to_string())?;
    println!("{count} pictures of 1 MB");
    show("plain files, written through", count, plain);
    let kept = one_by_one(&blobs, alone).await?;
    show("kept, one after the other", count, kept);
    show(&format!("kept, {TOGETHER} at a time"), count, at_once(&blobs, together).await?);
    show("kept again, the same bytes", count, one_by_one(&blobs, alone).await?);
    show("read back", count, read(&blobs, alone).await?);
    let ratio = kept.as_secs_f64() / plain.as_secs_f64();
    let held = ratio <= BAR;
    println!(
        "{} keeping takes {ratio:.2}× of a plain file, at most {BAR}×",
        if held { "held  " } else { "MISSED" }
    );
    Ok(held)
}

fn show(what: &str, count: usize, took: Duration) {
    let (seconds, pictures) = (took.as_secs_f64(), count as f64);
    println!("  {what:<32} {:>8.1} MB/s   {:>7.2} ms each", pictures / seconds, seconds * 1e3 / pictures);
}

/// Unique bytes.
fn picture(number: usize) -> Bytes {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ (number as u64 + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mut bytes = Vec::with_capacity(SIZE);
    while bytes.len() < SIZE {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    Bytes::from(bytes)
}

fn screenshot() -> Result<NewFile, String> {
    Ok(NewFile {
        owner: String::new(),
        kind: ResourceType::new("screenshots").map_err(|fault| fault.to_string())?,
        extension: Extension::new(".png").map_err(|fault| fault.to_string())?,
        ttl: None,
        metadata: Map::new(),
    })
}

async fn one_by_one(blobs: &BlobStore, pictures: &[Bytes]) -> Result<Duration, String> {
    let new = screenshot()?;
    let began = Instant::now();
    for picture in pictures {
        blobs.put(new.clone(), picture.clone()).await.map_err(|fault| fault.to_string())?;
    }
    Ok(began.elapsed())
}

async fn at_once(blobs: &BlobStore, pictures: &[Bytes]) -> Result<Duration, String> {
    let new = screenshot()?;
    let began = Instant::now();
    let share = pictures.len().div_ceil(TOGETHER).max(1);
    let mut working = Vec::new();
    for part in pictures.chunks(share) {
        let (blobs, new, part) = (blobs.clone(), new.clone(), part.to_vec());
        working.push(tokio::spawn(async move {
            for picture in part {
                blobs.put(new.clone(), picture).await.map_err(|fault| fault.to_string())?;
            }
            Ok::<(), String>(())
        }));
    }
    for work in working {
        work.await.map_err(|error| error.to_string())??;
    }
    Ok(began.elapsed())
}

async fn read(blobs: &BlobStore, pictures: &[Bytes]) -> Result<Duration, String> {
    let mut addresses = Vec::new();
    for picture in pictures {
        addresses
            .push(blobs.put(screenshot()?, picture.clone()).await.map_err(|fault| fault.to_string())?.uri);
    }
    let began = Instant::now();
    for (address, picture) in addresses.iter().zip(pictures) {
        let (_, bytes) = blobs.read(address).await.map_err(|fault| fault.to_string())?;
        if bytes != *picture {
            return Err("what was read is not what was kept".to_owned());
        }
    }
    Ok(began.elapsed())
}
