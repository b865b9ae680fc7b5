//! The compared parsers. Each reads a message, and writes it with id 99 to a reused buffer. A parser that refuses a
//! sample ends the run.

use crate::messages::{Sample, Sender};
use failwell_rpc::{Incoming, Limits, Message, read};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, NumberOrString, ServerJsonRpcMessage};
use serde_json::Value;
use std::io::{IoSlice, Write};

/// Reads a sample and writes it to the sink.
pub type Contender = fn(&Sample, &mut Vec<u8>) -> Result<(), String>;

/// Failwell first, then the others.
pub const CONTENDERS: [(&str, Contender); 3] = [("failwell", ours), ("serde_json", value), ("rmcp", typed)];

pub fn ours(sample: &Sample, sink: &mut Vec<u8>) -> Result<(), String> {
    let limits = Limits::default();
    let write = |pieces: [&[u8]; 3], sink: &mut Vec<u8>| {
        let wanted: usize = pieces.iter().map(|piece| piece.len()).sum();
        match sink.write_vectored(&pieces.map(IoSlice::new)) {
            Ok(written) if written == wanted => Ok(()),
            other => Err(format!("{other:?}")),
        }
    };
    match read(&sample.bytes, &limits) {
        Incoming::One(Ok(Message::Request(request))) => write(request.splice_id("99"), sink),
        Incoming::One(Ok(Message::Response(response))) => write(response.splice_id("99"), sink),
        other => Err(format!("{other:?}")),
    }
}

pub fn value(sample: &Sample, sink: &mut Vec<u8>) -> Result<(), String> {
    let mut value: Value = serde_json::from_slice(&sample.bytes).map_err(|error| error.to_string())?;
    value["id"] = Value::from(99);
    serde_json::to_writer(sink, &value).map_err(|error| error.to_string())
}

pub fn typed(sample: &Sample, sink: &mut Vec<u8>) -> Result<(), String> {
    match sample.sender {
        Sender::Client => {
            let mut message: ClientJsonRpcMessage =
                serde_json::from_slice(&sample.bytes).map_err(|error| error.to_string())?;
            let JsonRpcMessage::Request(request) = &mut message else { return Err("no request".into()) };
            request.id = NumberOrString::Number(99);
            serde_json::to_writer(sink, &message).map_err(|error| error.to_string())
        }
        Sender::Server => {
            let mut message: ServerJsonRpcMessage =
                serde_json::from_slice(&sample.bytes).map_err(|error| error.to_string())?;
            let JsonRpcMessage::Response(response) = &mut message else { return Err("no response".into()) };
            response.id = NumberOrString::Number(99);
            serde_json::to_writer(sink, &message).map_err(|error| error.to_string())
        }
    }
}
