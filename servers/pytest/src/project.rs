//! Names that a caller may use: projects, files in them, and tests in those. They cannot lead outside of the
//! project or become an option.

use std::path::{Component, Path, PathBuf};

/// A project folder with resolved links.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Project(PathBuf);

impl Project {
    pub(crate) fn root(&self) -> &Path {
        &self.0
    }

    /// Opens a folder that the operator configured.
    pub(crate) fn open(folder: &Path) -> std::io::Result<Project> {
        let root = folder.canonicalize()?;
        if root.is_dir() { Ok(Project(root)) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    }

    /// A folder inside this one as its own project.
    pub(crate) fn within(&self, name: &str) -> Option<Project> {
        let root = self.resolve(name)?;
        root.is_dir().then_some(Project(root))
    }

    /// Resolves a path of the caller: it must be plain and, after links are resolved, exist inside the
    /// project.
    fn resolve(&self, path: &str) -> Option<PathBuf> {
        if !is_data(path) || path.chars().any(char::is_control) {
            return None;
        }
        let given = Path::new(path);
        if given.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let found = self.0.join(given).canonicalize().ok()?;
        found.starts_with(&self.0).then_some(found)
    }

    /// Whether a test id names a file of this project. After `::` any character is allowed.
    pub(crate) fn has_test(&self, id: &str) -> bool {
        let path = id.split("::").next().unwrap_or_default();
        // Pytest treats text after a bracket as a parameter, even in the path.
        is_data(id) && !path.contains('[') && self.resolve(path).is_some()
    }

    /// Whether a path is a file or folder of this project.
    pub(crate) fn has_path(&self, path: &str) -> bool {
        !path.contains("::") && self.has_test(path)
    }

    /// The path relative to the project.
    pub(crate) fn relative<'a>(&self, path: &'a str) -> &'a str {
        let root = self.0.to_str().unwrap_or_default();
        path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
    }
}

/// Pytest reads `-x` as an option and `@x` as a file of options, even after `--`.
pub(crate) fn is_data(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['-', '@']) && !text.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::Project;
    use std::path::Path;

    fn here() -> Project {
        Project::open(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("this crate")
    }

    #[test]
    fn tests_are_named_inside_the_project_only() {
        for good in
            ["src/lib.rs", "src/lib.rs::x[-p]", "src", "./src/lib.rs::a::b", "src/lib.rs::x[../../a\n@é]"]
        {
            assert!(here().has_test(good), "{good}");
        }
        for bad in [
            "",
            "-p",
            "--basetemp=src",
            "@src/lib.rs",
            "../pytest/src/lib.rs",
            "src/../src",
            "/etc/passwd",
            "src/none.rs",
            "src/lib.rs\0",
            "src/lib.rs::a\0",
            "::x",
            "src\n",
            "src/lib.rs[x]",
            "/",
            "..",
        ] {
            assert!(!here().has_test(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_link_out_of_the_project_leads_nowhere() {
        let folder = std::env::temp_dir().join(format!("failwell-place-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let link = folder.join("test_link.py");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink("/etc/hostname", &link).expect("a link");
        let project = Project::open(&folder).expect("a project");
        assert!(!project.has_test("test_link.py"));
        std::fs::remove_dir_all(&folder).expect("gone");
    }
}
