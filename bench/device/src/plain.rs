//! The same work without stored files: writes that survive a crash.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;

/// Writes each to its own file: under a temporary name, synced to the disk, then renamed.
pub fn write(folder: &Path, pictures: &[Bytes]) -> io::Result<Duration> {
    fs::create_dir_all(folder)?;
    let began = Instant::now();
    for (number, picture) in pictures.iter().enumerate() {
        let part = folder.join("part");
        let mut file = File::create(&part)?;
        file.write_all(picture)?;
        file.sync_all()?;
        fs::rename(&part, folder.join(format!("{number}.png")))?;
        File::open(folder)?.sync_all()?;
    }
    Ok(began.elapsed())
}
