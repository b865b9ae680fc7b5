//! The block of memory that the kernel shows as `/proc/<pid>/environ`.
//!
//! Every process of the same user may read it, also children that were given other variables on purpose. A change of
//! the environment leaves the block as it is, so it is overwritten.
//!
//! Reason for `unsafe`: a change of the environment is only sound with one thread, and the block has no other API.

#![allow(unsafe_code, reason = "see above")]

use std::ffi::OsString;
use std::io;

/// The fields of `/proc/self/stat` with the start and the end of the block, counted after the name of the program.
const START: usize = 47;
const END: usize = 48;

/// Moves all variables to other memory and overwrites the block. There must be no other thread.
pub(crate) fn clear() -> io::Result<()> {
    let (start, end) = place()?;
    let is_plain = |(name, _): &(OsString, OsString)| !name.as_encoded_bytes().contains(&b'=');
    for (name, value) in std::env::vars_os().filter(is_plain).collect::<Vec<_>>() {
        // SAFETY: there is no other thread that could read or change the environment.
        unsafe {
            // Removed first, so that the C library cannot keep the old text for an equal value.
            std::env::remove_var(&name);
            std::env::set_var(&name, value);
        }
    }
    // SAFETY: the kernel put the texts of the environment there, in writable memory of this process. Every variable has
    // a copy elsewhere now. A text that is no variable is empty afterwards.
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(start).write_bytes(0, end - start) };
    Ok(())
}

fn place() -> io::Result<(usize, usize)> {
    let line = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the program may contain any character.
    let after = line.rsplit_once(')').map_or("", |(_, after)| after);
    let field = |index| after.split_whitespace().nth(index)?.parse::<usize>().ok();
    let known = field(START).zip(field(END)).filter(|(start, end)| *start > 0 && start <= end);
    known.ok_or_else(|| io::Error::other("the kernel does not say where the environment is"))
}
