//! Results of tools as text: text as it is, structured results as JSON, files saved or described.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use failwell_journal::printable;
use serde_json::Value;

use crate::complaint::Complaint;

/// Names of files by the start of their media type.
const EXTENSIONS: [(&str, &str); 10] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg", "svg"),
    ("audio/mpeg", "mp3"),
    ("audio/wav", "wav"),
    ("application/json", "json"),
    ("application/pdf", "pdf"),
    ("text/", "txt"),
];

/// How results are printed.
pub(super) struct ResultPrinter<'p> {
    /// The tool, for the names of saved files.
    pub(super) tool: &'p str,
    pub(super) save: Option<&'p Path>,
    /// Whether a terminal shows the text, so that it must not move the cursor.
    pub(super) is_terminal: bool,
}

impl ResultPrinter<'_> {
    /// The text of a result.
    pub(super) fn text(&self, result: &Value) -> Result<String, Complaint> {
        let structured = result.get("structuredContent").filter(|value| !value.is_null());
        let blocks: Vec<&Value> =
            result.get("content").and_then(Value::as_array).into_iter().flatten().collect();
        // A structured result often comes a second time, as text for older clients.
        let repeats = |block: &&&Value| {
            let text = block.get("text").and_then(Value::as_str);
            let parsed = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
            structured.is_some() && parsed.as_ref() == structured
        };
        let is_repeated = blocks.iter().any(|block| repeats(&block));
        let has_text = blocks.iter().any(|block| block.get("text").is_some());
        let mut lines = Vec::new();
        for (index, block) in blocks.iter().enumerate().filter(|(_, block)| !repeats(block)) {
            lines.push(self.block(block, index + 1)?);
        }
        if let Some(structured) = structured.filter(|_| is_repeated || !has_text) {
            lines.push(serde_json::to_string_pretty(structured).unwrap_or_default());
        }
        let text = lines.join("\n");
        Ok(if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" })
    }

    fn block(&self, block: &Value, number: usize) -> Result<String, Complaint> {
        let of = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        match of("type") {
            "text" => Ok(self.safe(of("text"))),
            "image" | "audio" => self.file(of("mimeType"), of("data"), number),
            "resource_link" => Ok(self.safe(&format!("[{}]", of("uri")))),
            "resource" => {
                let inner = block.get("resource").unwrap_or(&Value::Null);
                let of = |name: &str| inner.get(name).and_then(Value::as_str).unwrap_or_default();
                match inner.get("blob").and_then(Value::as_str) {
                    Some(blob) => self.file(of("mimeType"), blob, number),
                    None => Ok(self.safe(of("text"))),
                }
            }
            other => Ok(self.safe(&format!("[{other}] {block}"))),
        }
    }

    /// Writes a file into the chosen folder, or describes it.
    fn file(&self, media_type: &str, data: &str, number: usize) -> Result<String, Complaint> {
        let bytes = BASE64_STANDARD.decode(data).unwrap_or_default();
        let Some(folder) = self.save else {
            let described = format!("[{media_type}, {} bytes; --save DIR writes it to a file]", bytes.len());
            return Ok(self.safe(&described));
        };
        let extension = EXTENSIONS.iter().find(|(start, _)| media_type.starts_with(start));
        let extension = extension.map_or("bin", |(_, extension)| extension);
        let plain: String =
            self.tool.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let path = folder.join(format!("{plain}-{number}.{extension}"));
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes));
        written.map_err(|error| {
            let title = format!("{} cannot be written: {error}", path.display());
            Complaint::new(title, "name a folder that you may write to with --save")
        })?;
        Ok(format!("[{} is written]", path.display()))
    }

    /// Text without what would control a terminal.
    pub(super) fn safe(&self, text: &str) -> String {
        match self.is_terminal {
            true => text
                .split('\n')
                .map(|line| printable(line.trim_end_matches('\r')))
                .collect::<Vec<_>>()
                .join("\n"),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ResultPrinter;
    use serde_json::{Value, json};

    fn shown(result: &Value) -> String {
        let printer = ResultPrinter { tool: "t", save: None, is_terminal: true };
        printer.text(result).map_err(|complaint| complaint.title).expect("printed")
    }

    #[test]
    fn results_are_shown_once_and_without_control_characters() {
        let sum = json!({"sum": 3});
        for (result, text) in [
            (json!({"content": [{"type": "text", "text": "a\n\u{1b}[2Jb"}]}), "a\n\\u{1b}[2Jb\n"),
            (
                json!({"content": [{"type": "text", "text": "{\"sum\":3}"}], "structuredContent": sum}),
                "{\n  \"sum\": 3\n}\n",
            ),
            (
                json!({"content": [{"type": "text", "text": "3 it is"}], "structuredContent": sum}),
                "3 it is\n",
            ),
            (json!({"content": [], "structuredContent": sum}), "{\n  \"sum\": 3\n}\n"),
            (
                json!({"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA"}]}),
                "[image/png, 3 bytes; --save DIR writes it to a file]\n",
            ),
            (json!({"content": [{"type": "resource_link", "uri": "file:///a"}]}), "[file:///a]\n"),
            (json!({"content": []}), ""),
        ] {
            assert_eq!(shown(&result), text, "{result}");
        }
    }
}
