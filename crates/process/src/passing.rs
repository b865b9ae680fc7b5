//! Descriptors across a socket. Unlike inheriting, it cannot leak one into a child that somebody else starts meanwhile.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// Input, output, error output, events.
pub(crate) const MOST: usize = 4;

/// Sends the size of what follows, with the descriptors.
pub(crate) fn send(socket: &UnixStream, size: u32, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors"));
    }
    let size = size.to_be_bytes();
    let sent = rustix::net::sendmsg(socket, &[IoSlice::new(&size)], &mut ancillary, SendFlags::empty())?;
    if sent == size.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Receives what [`send`] sent.
pub(crate) fn receive(socket: &UnixStream) -> io::Result<(u32, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut size = [0; 4];
    let got =
        rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut size)], &mut ancillary, close_on_exec())?
            .bytes;
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    let rest = size.get_mut(got..).unwrap_or_default();
    let mut socket = socket;
    socket.read_exact(rest)?;
    Ok((u32::from_be_bytes(size), descriptors))
}

#[cfg(target_os = "linux")]
fn close_on_exec() -> RecvFlags {
    RecvFlags::CMSG_CLOEXEC
}

/// Elsewhere the flag does not exist; the supervisor marks what it received before it starts anything.
#[cfg(not(target_os = "linux"))]
fn close_on_exec() -> RecvFlags {
    RecvFlags::empty()
}
