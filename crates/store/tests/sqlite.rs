//! Many threads open one new file at once, like processes that start together.

use std::path::PathBuf;
use std::sync::Barrier;
use std::time::Duration;

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn everybody_gets_in_although_all_come_at_once() {
    for round in 0..10 {
        let name = format!("failwell-drawer-{}-{round}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        let path = folder.0.join("state").join("x.sqlite");
        let together = Barrier::new(8);
        let open = || {
            together.wait();
            failwell_store::sqlite::make(&path).expect("a file");
            let pragmas = "PRAGMA synchronous = FULL;";
            let connection =
                failwell_store::sqlite::open(&path, Duration::from_secs(30), pragmas).expect("opened");
            let mode: String =
                connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).expect("a mode");
            assert_eq!(mode, "wal");
            connection
                .execute_batch("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1);")
                .expect("written");
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(open))));
        let connection = failwell_store::sqlite::open(&path, Duration::from_secs(30), "").expect("opened");
        let count: i64 =
            connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).expect("a count");
        assert_eq!(count, 8);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode =
                |path: &std::path::Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
        }
    }
}
