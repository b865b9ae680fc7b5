//! The program inside the project's own Python: a package embedded in this binary and written to the private
//! folder.

use std::io;
use std::path::{Path, PathBuf};

/// The name of the package and of its folder.
const PACKAGE: &str = "failwell_inside";

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../python/failwell_inside/", $name)))),*]
    };
}

/// The files of the package.
const FILES: &[(&str, &str)] = files![
    "__init__.py",
    "boot.py",
    "bytecode.py",
    "channel.py",
    "errors.py",
    "loaded.py",
    "outcomes.py",
    "oversee.py",
    "pipe.py",
    "places.py",
    "plugin.py",
    "preload.py",
    "run.py",
    "serve.py",
    "text.py",
];

/// The code that the interpreter is started with. Its first lines explain it.
pub(crate) const START: &str = include_str!("../../python/start.py");

/// Writes the package to a folder and returns the import path.
pub(crate) fn lay_out(folder: &Path) -> io::Result<PathBuf> {
    let home = folder.join("inside");
    let package = home.join(PACKAGE);
    std::fs::create_dir_all(&package)?;
    for (name, text) in FILES {
        std::fs::write(package.join(name), text)?;
    }
    Ok(home)
}

#[cfg(test)]
mod tests {
    use super::FILES;

    #[test]
    fn every_file_of_the_package_is_part_of_the_program() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/python/failwell_inside");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .expect("the package")
            .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
            .filter(|name| name.ends_with(".py"))
            .collect();
        found.sort();
        let known: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(found, known);
    }
}
