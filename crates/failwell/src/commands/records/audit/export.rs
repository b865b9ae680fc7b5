use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use failwell_audit::Format;

use super::{RecordReader, asked};
use crate::cli::{Export, ExportFormat};
use crate::complaint::Complaint;

pub(super) fn run(arguments: &Export) -> Result<ExitCode, Complaint> {
    let mut book = RecordReader::open(&arguments.place)?;
    let name =
        arguments.output.as_deref().map_or("standard output".to_owned(), |path| path.display().to_string());
    let failed = |error: &std::io::Error| {
        Complaint::new(
            format!("{name} cannot be written: {error}"),
            "check the folder and the space that is left",
        )
    };
    let mut out: Box<dyn Write> = match &arguments.output {
        Some(path) => Box::new(create(path).map_err(|error| failed(&error))?),
        None => Box::new(std::io::stdout().lock()),
    };
    match write(&mut book, arguments, &mut BufWriter::new(&mut out))? {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // A closed pipe means that the reader has enough. It is not a failure.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(failed(&error)),
    }
}

fn write(
    book: &mut RecordReader,
    arguments: &Export,
    out: &mut impl Write,
) -> Result<Result<(), std::io::Error>, Complaint> {
    let format = match arguments.format {
        ExportFormat::Jsonl => Format::Jsonl,
        ExportFormat::Csv => Format::Csv,
        ExportFormat::Text => Format::Text,
    };
    let mut written = out.write_all(book.header(format).as_bytes());
    let read = book.each(&asked(&arguments.wanted), |row| {
        if written.is_ok() {
            written = out.write_all(row.written(format).as_bytes());
        }
        written.is_ok()
    });
    read?;
    Ok(written.and_then(|()| out.flush()))
}

/// Creates the file readable for its owner only, because records may contain private data.
fn create(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
