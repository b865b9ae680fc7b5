//! Giving back what only the start of this program needed of it.
//!
//! Reading the configuration, compiling patterns and looking at the machine touch most of a large program once, and the
//! kernel counts what was touched as ours for as long as nobody else needs the memory. Told that it is not needed, it takes the
//! pages out of this process; what is used again comes back from the file, which is still in memory.
//!
//! Why `unsafe` has to be: memory by its address has no safe name in Rust.

#![allow(unsafe_code, reason = "see above")]

use std::ffi::c_void;

use rustix::mm::{Advice, madvise};

/// Gives back the pages of this program and its libraries that are as they are in their files.
pub fn forget_start() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/smaps") else { return };
    for (start, end) in as_in_files(&maps) {
        // SAFETY: the range is a mapping of this process that nobody can write to, private, of a file, and without a page
        // that differs from it: whatever is read there later is read from the file again, and is what it was.
        let _ = unsafe {
            madvise(std::ptr::without_provenance_mut::<c_void>(start), end - start, Advice::LinuxDontNeed)
        };
    }
}

/// The private, read-only mappings of files none of whose pages were changed, by the kernel's account: neither one in
/// memory nor one that was written out to swap.
fn as_in_files(maps: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut candidate = None;
    for line in maps.lines() {
        if let Some(mapping) = mapping(line) {
            candidate = mapping.is_read_from_file.then_some(mapping.range);
        } else if is_some_of(line, "Anonymous:") {
            candidate = None;
        } else if line.starts_with("Swap:") && !is_some_of(line, "Swap:") {
            found.extend(candidate.take());
        }
    }
    found
}

fn is_some_of(line: &str, what: &str) -> bool {
    line.strip_prefix(what).is_some_and(|size| size.trim() != "0 kB")
}

struct Mapping {
    range: (usize, usize),
    is_read_from_file: bool,
}

/// The first line of a mapping: `start-end rights offset device inode path`.
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let range = (number(start)?, number(end)?);
    let is_read_only = matches!(words.next()?, "r--p" | "r-xp");
    let path = words.nth(3).unwrap_or_default();
    Some(Mapping { range, is_read_from_file: is_read_only && path.starts_with('/') })
}

#[cfg(test)]
mod tests {
    use super::{as_in_files, forget_start};

    #[test]
    fn only_what_is_as_in_its_file_is_given_back() {
        let maps = "\
1000-2000 r--p 00000000 fe:00 12 /bin/failwell
Size:                  4 kB
Anonymous:             0 kB
Swap:                  0 kB
SwapPss:               0 kB
VmFlags: rd mr mw me
2000-4000 r-xp 00001000 fe:00 12 /bin/failwell
Anonymous:             0 kB
Swap:                  0 kB
4000-5000 r--p 00003000 fe:00 12 /bin/failwell
Anonymous:             4 kB
Swap:                  0 kB
4800-5000 r--p 00003000 fe:00 12 /bin/failwell
Anonymous:             0 kB
Swap:                  4 kB
SwapPss:               0 kB
5000-6000 rw-p 00004000 fe:00 12 /bin/failwell
Anonymous:             0 kB
Swap:                  0 kB
6000-7000 r--s 00004000 fe:00 13 /var/shared
Anonymous:             0 kB
Swap:                  0 kB
7000-8000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
Swap:                  0 kB
8000-9000 r--p 00000000 00:00 0 
Anonymous:             0 kB
Swap:                  0 kB
";
        assert_eq!(as_in_files(maps), [(0x1000, 0x2000), (0x2000, 0x4000)]);
    }

    /// Kilobytes of files that are mapped here and in memory.
    fn from_files() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("the status");
        let line = status.lines().find_map(|line| line.strip_prefix("RssFile:")).expect("a size");
        line.trim().trim_end_matches("kB").trim().parse().expect("a number")
    }

    #[test]
    fn pages_are_given_back_and_the_program_goes_on() {
        let before = from_files();
        forget_start();
        let after = from_files();
        assert!(after < before, "{before} kB before, {after} kB after");
        assert_eq!(format!("{:?}", vec![1.5, 2.0]), "[1.5, 2.0]");
    }
}
