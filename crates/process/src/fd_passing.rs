//! Passes descriptors over a socket. Unlike inheritance, this cannot leak a descriptor into a child that
//! another thread starts at the same time.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// Standard input, output, error and events.
pub(crate) const MOST: usize = 4;

/// Sends the size of the following request together with the descriptors.
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

/// Receives a message of [`send`].
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

/// The flag exists on Linux only. Elsewhere the supervisor marks received descriptors before it starts the
/// child.
#[cfg(not(target_os = "linux"))]
fn close_on_exec() -> RecvFlags {
    RecvFlags::empty()
}
