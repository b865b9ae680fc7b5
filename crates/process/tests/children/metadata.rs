//! Modes, owners, times and attributes of files: the changes that a sandboxed child can make, as different
//! users.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use failwell_process::{ChildExit, Launcher, Plan, Profile, Sandbox, SandboxNeed, containment};

use crate::support::{Folder, is_alive, shell, soon};
use crate::tree::parent_of;

const CHANGES: &str = include_str!("metadata.py");
/// A Python that every user of the machine can run.
const PYTHON: &str = "/usr/bin/python3";
/// The number of changes that the script tries.
const WAYS: usize = 21;

/// The rights of supervisor and child.
#[derive(Debug, Clone, Copy)]
enum User {
    /// The user of the tests.
    Own,
    /// The user `nobody`, who needs a user namespace to mount. Requires root.
    Unprivileged,
    /// Root without the right to mount, as in many containers.
    RootThatMayNotMount,
    /// Root on a machine without namespaces.
    RootWithoutNamespaces,
}

impl User {
    /// All users that the tests can switch to here.
    fn all() -> Vec<User> {
        let root = rustix::process::getuid().is_root();
        if root { vec![User::Own, User::Unprivileged, User::RootThatMayNotMount] } else { vec![User::Own] }
    }

    fn launcher(self, folder: &Folder) -> Launcher {
        let ours = env!("CARGO_BIN_EXE_failwell-supervise");
        let prefix = match self {
            User::Own => return Launcher::at(ours),
            User::Unprivileged => "exec setpriv --reuid=65534 --regid=65534 --clear-groups",
            User::RootThatMayNotMount => "exec setpriv --bounding-set=-sys_admin",
            User::RootWithoutNamespaces => {
                "exec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_mnt_namespaces; exec \"$@\"' sh"
            }
        };
        // The user `nobody` cannot reach the build folder, so the binary is copied. Another process writes
        // the copy: a child forked by this process meanwhile would hold it open for writing, and exec would
        // fail.
        let (copy, script) = (folder.file("supervise"), folder.file(&format!("as-{self:?}")));
        let text = format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{prefix} {copy} \"$@\"\n");
        let write =
            "test -e $2 || install -m 755 $1 $2; printf %s \"$4\" > $3.new; chmod 755 $3.new; mv $3.new $3";
        let written = Command::new("sh").args(["-c", write, "sh", ours, &copy, &script, &text]).status();
        assert!(written.unwrap().success());
        Launcher::at(script)
    }

    async fn run(self, folder: &Folder, plan: Plan) -> ChildExit {
        self.launcher(folder).start(plan).await.expect("the child starts").wait().await
    }

    /// A file of this user with two extended attributes.
    fn file(self, path: PathBuf) -> PathBuf {
        std::fs::write(&path, "x").unwrap();
        for name in ["user.there", "user.too"] {
            rustix::fs::setxattr(&path, name, b"x", rustix::fs::XattrFlags::empty()).unwrap();
        }
        self.give(&path);
        path
    }

    fn give(self, path: &Path) {
        if matches!(self, User::Unprivileged) {
            std::os::unix::fs::lchown(path, Some(65534), Some(65534)).unwrap();
        }
    }
}

/// All metadata of a file. The last value, the change time, changes with every other one.
fn metadata_of(path: &Path) -> (u32, u32, u32, i64, i64, i64, i64) {
    let found = std::fs::symlink_metadata(path).unwrap();
    let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
    (found.mode(), found.uid(), found.gid(), times.0, times.1, times.2, times.3)
}

fn changing(path: &Path, way: &str, profile: Profile) -> Plan {
    let mut plan = shell("");
    plan.program = PYTHON.into();
    plan.arguments = vec!["-c".into(), CHANGES.into(), path.into(), way.into()];
    plan.sandbox = Sandbox::Profile(profile);
    plan
}

fn did(ended: &ChildExit) -> Vec<String> {
    ended.output.stdout.text().lines().map(str::to_owned).collect()
}

#[test]
fn this_machine_has_what_the_other_tests_need() {
    assert!(containment().mount_namespaces, "{:?}", containment());
}

#[tokio::test]
async fn nothing_changes_where_nothing_is_writable() {
    for user in User::all() {
        let folder = Folder::new(&format!("closed-{user:?}"));
        let file = user.file(folder.path().join("file"));
        let before = metadata_of(&file);
        let profile = Profile::closed().with_system().reading(folder.path());
        let ended = user.run(&folder, changing(&file, "both", profile)).await;
        let errors = ended.output.stderr.text();
        assert_eq!((did(&ended), metadata_of(&file)), (vec![], before), "{user:?}");
        // Seccomp refuses all of them.
        assert_eq!(errors.matches("operation not permitted - ").count(), WAYS, "{user:?}: {errors}");
    }
}

#[tokio::test]
async fn only_files_in_writable_folders_change() {
    for user in User::all() {
        let (tools, within, without) = (
            Folder::new(&format!("tools-{user:?}")),
            Folder::new(&format!("within-{user:?}")),
            Folder::new(&format!("without-{user:?}")),
        );
        let (inside, outside) = (within.path().join("inside"), without.path().join("outside"));
        user.give(within.path());
        user.file(inside.clone());
        user.file(outside.clone());
        let (link, back) = (within.path().join("link"), without.path().join("back"));
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        std::os::unix::fs::symlink(&inside, &back).unwrap();
        user.give(&link);
        let profile = || {
            Profile::closed().with_system().reading(without.path()).reading("/proc").writing(within.path())
        };
        let before = (metadata_of(&outside), metadata_of(&back));
        for target in [&outside, &link] {
            let ended = user.run(&tools, changing(target, "both", profile())).await;
            // The link itself is inside the writable folder. Links have no attributes and flags.
            let own = if target == &link { vec!["did lchown".to_owned()] } else { vec![] };
            assert_eq!(did(&ended), own, "{user:?} {target:?}");
            assert!(ended.output.stderr.text().contains("read-only file system - chmod"), "{user:?}");
        }
        assert_eq!((metadata_of(&outside), metadata_of(&back)), before, "{user:?}");
        let ended = user.run(&tools, changing(&inside, "both", profile())).await;
        assert_eq!(did(&ended).len(), WAYS, "{user:?}: {}", ended.output.stderr.text());
        // A single file can be writable too, without its neighbours.
        let single = Profile::closed().with_system().reading(without.path()).writing(&outside);
        let ended = user.run(&tools, changing(&outside, "path", single)).await;
        assert!(did(&ended).contains(&"did chmod".to_owned()), "{user:?}: {}", ended.output.stderr.text());
    }
}

/// Attempts to reach the same file around the sandbox's mounts.
const PAST: &str = r#"
import ctypes, os, stat, struct, sys
inside, outside, supervisor = sys.argv[1], sys.argv[2], os.getppid()
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, act):
    try:
        act()
        print("did", name)
    except OSError:
        pass
def syscall(*arguments):
    found = libc.syscall(*arguments)
    if found < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return found
def through_a_tree(number, *more):
    tree = syscall(number, -100, b"/", 0x8001, *more)
    os.chmod(outside.lstrip("/"), 0o777, dir_fd=tree)
READ_ONLY_OFF = struct.pack("QQQQ", 0, 1, 0, 0)
attempt("root of the supervisor", lambda: os.chmod("/proc/%d/root%s" % (supervisor, outside), 0o777))
attempt("folder of the supervisor", lambda: os.chmod("/proc/%d/cwd%s" % (supervisor, outside), 0o777))
attempt("root of the first process", lambda: os.chmod("/proc/1/root%s" % outside, 0o777))
attempt("clone of the tree", lambda: through_a_tree(428))
attempt("writable clone of the tree", lambda: through_a_tree(467, READ_ONLY_OFF, 32))
attempt("mount attributes", lambda: syscall(442, -100, b"/", 0x8000, READ_ONLY_OFF, 32))
attempt("standard input", lambda: os.fchmod(0, stat.S_IMODE(os.fstat(0).st_mode)))
attempt("null device", lambda: os.chmod("/dev/null", stat.S_IMODE(os.stat("/dev/null").st_mode)))
attempt("disk", lambda: os.mknod(inside + "/disk", 0o600 | stat.S_IFBLK, os.stat(outside).st_dev))
attempt("memory", lambda: os.mknod(inside + "/memory", 0o600 | stat.S_IFCHR, os.makedev(1, 1)))
attempt("hard link", lambda: os.link(outside, inside + "/linked"))
attempt("new namespace", lambda: syscall(272, 0x20000))
open("/dev/null", "w").write("x")
os.mkfifo(inside + "/pipe")
print("end")
"#;

#[tokio::test]
async fn there_is_no_way_past_the_mounts() {
    for user in User::all() {
        let (tools, within, without) = (
            Folder::new(&format!("past-tools-{user:?}")),
            Folder::new(&format!("past-within-{user:?}")),
            Folder::new(&format!("past-without-{user:?}")),
        );
        user.give(within.path());
        let outside = user.file(without.path().join("outside"));
        let before = metadata_of(&outside);
        let mut plan =
            changing(&outside, "", Profile::closed().with_system().reading("/").writing(within.path()));
        plan.arguments = vec!["-c".into(), PAST.into(), within.path().into(), outside.clone().into()];
        let ended = user.run(&tools, plan).await;
        assert_eq!(did(&ended), ["end"], "{user:?}: {}", ended.output.stderr.text());
        assert_eq!(metadata_of(&outside), before, "{user:?}");
    }
}

/// Operations that ordinary programs rely on.
#[tokio::test]
async fn a_child_with_writable_folders_is_at_home_in_them() {
    for user in User::all() {
        let (tools, within) =
            (Folder::new(&format!("home-tools-{user:?}")), Folder::new(&format!("home-{user:?}")));
        user.give(within.path());
        let project = within.path().join("project");
        std::fs::create_dir(&project).unwrap();
        user.give(&project);
        let mut plan = shell(
            "id -u; id -g; pwd; touch here ../there && mv ../there . && ln here linked && chmod 700 . && ls; \
             cd .. && rm -r project && echo x > /dev/null && echo x > /dev/shm/failwell-$$ && rm /dev/shm/failwell-$$ && \
             cat < /dev/null && echo all; test -w / || echo closed",
        );
        plan.folder.clone_from(&project);
        let profile = Profile::closed().with_system().reading("/").writing("/dev/shm").writing(&project);
        plan.sandbox = Sandbox::Profile(profile.writing(within.path()));
        let ended = user.run(&tools, plan).await;
        let number =
            if matches!(user, User::Unprivileged) { 65534 } else { rustix::process::getuid().as_raw() };
        let group =
            if matches!(user, User::Unprivileged) { 65534 } else { rustix::process::getgid().as_raw() };
        let expected =
            format!("{number}\n{group}\n{}\nhere\nlinked\nthere\nall\nclosed\n", project.display());
        assert_eq!(ended.output.stdout.text(), expected, "{user:?}: {}", ended.output.stderr.text());
    }
}

/// The kernel resets the parent death signal when a process changes its credentials, as in a user namespace.
#[tokio::test]
async fn a_killed_supervisor_takes_a_child_with_mounts_of_its_own_with_it() {
    for user in User::all() {
        let (tools, within) =
            (Folder::new(&format!("killed-tools-{user:?}")), Folder::new(&format!("killed-{user:?}")));
        let mut plan = shell("exec sleep 300");
        plan.sandbox = Sandbox::Profile(Profile::closed().with_system().writing(within.path()));
        let child = user.launcher(&tools).start(plan).await.expect("the child starts");
        let supervisor = rustix::process::Pid::from_raw(parent_of(child.pid())).unwrap();
        rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
        soon("the child is gone", || !is_alive(child.pid().cast_signed())).await;
    }
}

#[tokio::test]
async fn without_namespaces_there_is_less_or_nothing() {
    let user = User::RootWithoutNamespaces;
    let (tools, within) = (Folder::new("less-tools"), Folder::new("less-within"));
    let inside = user.file(within.path().join("inside"));
    let profile = |need| Profile { need, ..Profile::closed().with_system().writing(within.path()) };
    let fault = user
        .launcher(&tools)
        .start(changing(&inside, "both", profile(SandboxNeed::Required)))
        .await
        .unwrap_err();
    assert_eq!(fault.reason().id, "process/UNCONTAINED");
    assert!(fault.operator().to_string().contains("mount namespace"), "{}", fault.operator());
    let ended = user.run(&tools, changing(&inside, "both", profile(SandboxNeed::BestEffort))).await;
    // Not among them: owners, attributes, flags, set-user and set-group bits.
    let left = ["fchmodat2", "utime", "touch", "futimens", "chmod again"].map(|name| format!("did {name}"));
    assert_eq!(did(&ended), left, "{}", ended.output.stderr.text());
}
