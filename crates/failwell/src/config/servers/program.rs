//! Whether the program of a command can be started, as far as the file system tells.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use failwell_plugins::ChildSettings;

/// Where the system looks without a `PATH`.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// Why the program of a guard cannot be started; `None` if it can.
pub(crate) fn problem(settings: &ChildSettings) -> Option<&'static str> {
    let own = settings.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.expose());
    let inherited = || settings.inherited.iter().any(|name| name == "PATH").then(|| std::env::var_os("PATH"));
    let path = own.map(|own| own.clone().into()).or_else(|| inherited().flatten());
    problem_in(&settings.program, &settings.folder, &path.unwrap_or_else(|| USUAL_PATH.into()))
}

fn problem_in(program: &Path, folder: &Path, path: &OsStr) -> Option<&'static str> {
    let candidates: Vec<PathBuf> = match program.components().count() {
        1 if !program.is_absolute() && !starts_here(program) => {
            std::env::split_paths(path).map(|part| folder.join(part).join(program)).collect()
        }
        _ => vec![folder.join(program)],
    };
    let found = || candidates.iter().filter_map(|file| file.metadata().ok());
    let is_program = |meta: &std::fs::Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    match (found().any(|meta| is_program(&meta)), found().next()) {
        (true, _) => None,
        (false, None) => Some("it does not exist"),
        (false, Some(meta)) if meta.is_dir() => Some("it is a folder"),
        (false, Some(_)) => Some("it may not be executed"),
    }
}

/// Whether a path such as `./guard`, of which `components` drops the dot, names a file instead of a command.
fn starts_here(program: &Path) -> bool {
    program.as_os_str().as_encoded_bytes().contains(&b'/')
}

#[cfg(test)]
mod tests {
    use super::problem_in;
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn programs_are_looked_for_where_the_system_looks() {
        let path = OsStr::new("/nowhere:/bin:/usr/bin");
        for (program, folder, expected) in [
            ("sh", "/", None),
            ("/bin/sh", "/", None),
            ("bin/sh", "/", None),
            ("./sh", "/bin", None),
            ("./sh", "/", Some("it does not exist")),
            ("no-such-program-here", "/", Some("it does not exist")),
            ("/etc/passwd", "/", Some("it may not be executed")),
            ("/etc", "/", Some("it is a folder")),
        ] {
            assert_eq!(problem_in(Path::new(program), Path::new(folder), path), expected, "{program}");
        }
    }
}
