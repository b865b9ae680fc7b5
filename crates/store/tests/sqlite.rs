//! Many threads open one new file at once, like processes that start together.

#[path = "support/temp_folder.rs"]
mod temp_folder;

use std::sync::Barrier;
use std::time::Duration;
use temp_folder::TempFolder;

#[test]
fn eight_threads_open_one_new_file() {
    for _ in 0..10 {
        let folder = TempFolder::new();
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
