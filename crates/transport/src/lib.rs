//! The door: stdio, streamable HTTP, REST and plain JSON-RPC; the only room that touches sockets and stdio.
