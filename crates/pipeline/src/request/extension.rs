//! Calls that the pipeline does not know. REST adds them for its features beyond tools.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use failwell_fault::Fault;
use failwell_rpc::Json;
use failwell_toolbox::{Context, ResourceTarget, Work};

use crate::record::Verdict;

/// A call that implements its own work. It passes every stage like any other call.
pub trait ExtensionCall: Debug + Send {
    fn method(&self) -> &'static str;
    /// The name of the object that the call concerns.
    fn target(&self) -> Option<&str>;
    fn route(&self) -> ExtensionRoute<'_> {
        ExtensionRoute::Nothing
    }
    /// The JSON that guards inspect.
    fn content(&self) -> Result<Option<Cow<'_, str>>, Fault>;
    /// Returns the same call with its redacted content.
    fn with_content(self: Box<Self>, clean: Json) -> Result<Box<dyn ExtensionCall>, Fault>;
    /// Who may change the response on its way.
    fn response(&self) -> ResponseContent {
        ResponseContent::Guarded
    }
    fn serve(self: Box<Self>, request: ExtensionRequest) -> Work<ExtensionOutcome>;
}

/// The content of a response, for guards and records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseContent {
    /// Guards inspect it.
    Guarded,
    /// It shows an approver what is approved, with its secrets masked. No guard changes it.
    Complete,
    /// It shows a secret, once. No guard changes it, and no record contains it.
    Secret,
}

#[derive(Debug, Clone, Copy)]
pub enum ExtensionRoute<'a> {
    /// The call concerns no server.
    Nothing,
    /// The call concerns this server.
    Server(&'static str),
    /// The call reads this resource.
    Resource(&'a str),
}

pub struct ExtensionRequest {
    pub cx: Context,
    /// The connection that the request arrived on.
    pub connection: String,
    /// The resource that the call is routed to.
    pub resource: Option<Arc<dyn ResourceTarget>>,
    /// The start of the exchange.
    pub began: Instant,
    /// The maximum size of the response, in bytes.
    pub largest_answer: usize,
}

pub struct ExtensionOutcome {
    /// The body of the response.
    pub value: Json,
    /// The attachment of the response, such as the bytes of a file.
    pub attachment: Option<Attachment>,
    /// The name of the created object.
    pub target: Option<String>,
    /// Decisions for the record.
    pub verdicts: Vec<Verdict>,
}

/// Data that follows a response. The transport knows its type.
pub type Attachment = Box<dyn Any + Send>;

impl From<Json> for ExtensionOutcome {
    fn from(value: Json) -> ExtensionOutcome {
        ExtensionOutcome { value, attachment: None, target: None, verdicts: Vec::new() }
    }
}
