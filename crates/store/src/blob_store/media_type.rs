//! File extensions and their media types.

use crate::blob_store::uri::Extension;

/// If a type has several extensions, the first one is assigned to new files.
const TABLE: &[(&str, &str)] = &[
    (".png", "image/png"),
    (".jpg", "image/jpeg"),
    (".jpeg", "image/jpeg"),
    (".gif", "image/gif"),
    (".webp", "image/webp"),
    (".svg", "image/svg+xml"),
    (".bmp", "image/bmp"),
    (".tiff", "image/tiff"),
    (".heic", "image/heic"),
    (".mp4", "video/mp4"),
    (".mov", "video/quicktime"),
    (".webm", "video/webm"),
    (".mp3", "audio/mpeg"),
    (".wav", "audio/wav"),
    (".txt", "text/plain"),
    (".log", "text/plain"),
    (".md", "text/markdown"),
    (".csv", "text/csv"),
    (".html", "text/html"),
    (".css", "text/css"),
    (".json", "application/json"),
    (".jsonl", "application/jsonl"),
    (".xml", "application/xml"),
    (".yaml", "application/yaml"),
    (".plist", "application/x-plist"),
    (".js", "text/javascript"),
    (".py", "text/x-python"),
    (".pdf", "application/pdf"),
    (".zip", "application/zip"),
    (".gz", "application/gzip"),
    (".tar", "application/x-tar"),
    (".ipa", "application/octet-stream"),
    (".apk", "application/vnd.android.package-archive"),
    (".wasm", "application/wasm"),
    (".har", "application/json"),
];

/// The fallback for unknown extensions.
const BYTES: &str = "application/octet-stream";

pub fn media_type(extension: &Extension) -> &'static str {
    TABLE.iter().find(|(ending, _)| *ending == extension.as_str()).map_or(BYTES, |(_, kind)| kind)
}

/// The extension for a media type; empty if the type is unknown or generic.
pub fn extension_of(media_type: &str) -> Extension {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let known = TABLE.iter().find(|(_, kind)| *kind != BYTES && kind.eq_ignore_ascii_case(essence));
    known.and_then(|(ending, _)| Extension::new(ending).ok()).unwrap_or_default()
}

/// Returns true if people and models can read content of this type as text.
pub fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("+xml")
        || ["json", "jsonl", "xml", "yaml", "x-plist"]
            .iter()
            .any(|name| media_type.strip_prefix("application/") == Some(name))
}

#[cfg(test)]
mod tests {
    use super::{TABLE, extension_of, is_text, media_type};
    use crate::blob_store::uri::Extension;

    #[test]
    fn every_ending_of_the_table_is_one() {
        for (ending, kind) in TABLE {
            let extension = Extension::new(ending).expect("an ending");
            assert_eq!(extension.as_str(), *ending);
            assert_eq!(media_type(&extension), *kind);
        }
    }

    #[test]
    fn types_give_endings_where_they_say_something() {
        assert_eq!(extension_of("image/PNG; x=1").as_str(), ".png");
        assert_eq!(extension_of("application/octet-stream").as_str(), "");
        assert_eq!(extension_of("../../x").as_str(), "");
        assert!(is_text("application/json") && is_text("image/svg+xml") && !is_text("image/png"));
    }
}
