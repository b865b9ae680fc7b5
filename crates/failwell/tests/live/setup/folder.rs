use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::redis::Redis;
use super::several;

/// A temporary folder, removed on drop, and the state that its nodes share if there are several.
pub(crate) struct Folder(pub(crate) PathBuf, OnceLock<Box<Redis>>);

impl Folder {
    pub(crate) fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("failwell-live-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        Folder(folder, OnceLock::new())
    }

    pub(crate) fn with(text: &str) -> Folder {
        let folder = Folder::new();
        folder.write("failwell.toml", text);
        folder
    }

    /// The configuration, with the state that several nodes share.
    fn shared(&self, text: &str) -> String {
        let redis = || self.1.get_or_init(|| Box::new(Redis::new()));
        match several::wanted() > 1 && !text.contains("state = \"") {
            true => redis().line() + text,
            false => text.to_owned(),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let is_configuration = name.trim_start_matches('.').starts_with("failwell.toml");
        let text = if is_configuration { self.shared(text) } else { text.to_owned() };
        std::fs::write(self.0.join(name), text).expect("written");
    }

    /// Saves like an editor: writes a new file and renames it over the old one.
    pub(crate) fn save(&self, text: &str) {
        self.write(".failwell.toml.new", text);
        std::fs::rename(self.0.join(".failwell.toml.new"), self.0.join("failwell.toml")).expect("renamed");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        crate::canary::keep(&self.0);
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An `[[upstream]]` with additional lines.
pub(crate) fn upstream(name: &str, more: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/live/setup/upstream.py");
    format!("[[upstream]]\nname = \"{name}\"\ncommand = [\"python3\", \"{script}\"]\n{more}\n")
}
