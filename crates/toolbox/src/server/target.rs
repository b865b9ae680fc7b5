//! The target of a call. A tool server looks a name up once. Limits, guards, approval, the ledger and spans
//! read the target, and the call runs through it.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::Fault;
use failwell_rpc::Caller;
use failwell_rpc::Json;

use crate::context::Context;
use crate::server::{Completion, Members};
use crate::tool::{HeaderParam, Work};
use crate::tool_outcome::ToolOutcome;

/// The result of a name lookup. A hidden name returns exactly the fault of an unknown name.
pub enum Lookup<T: ?Sized> {
    /// The name is known, and this caller may use it.
    Found(Arc<T>),
    /// The name is unknown, hidden, quarantined or denied.
    Refused {
        /// The fault that the caller receives.
        fault: Fault,
        /// The server that the prefix of the name denotes.
        server: Option<Box<str>>,
    },
    /// The lookup must first request a server's list.
    Pending {
        /// Completes the lookup on behalf of this request.
        find: Find<T>,
        /// The server that the prefix of the name denotes.
        server: Option<Box<str>>,
    },
}

/// A lookup that waits for a server.
pub type Find<T> = Box<dyn FnOnce(Context) -> Work<Arc<T>> + Send>;

impl<T: ?Sized + Send + Sync + 'static> Lookup<T> {
    /// Creates a refusal by a server that is not part of a federation.
    pub fn refused(fault: Fault) -> Lookup<T> {
        Lookup::Refused { fault, server: None }
    }

    /// Wraps the target.
    #[must_use]
    pub fn map<U: ?Sized + Send + Sync + 'static>(
        self,
        wrap: impl FnOnce(Arc<T>) -> Arc<U> + Send + 'static,
    ) -> Lookup<U> {
        match self {
            Lookup::Found(target) => Lookup::Found(wrap(target)),
            Lookup::Refused { fault, server } => Lookup::Refused { fault, server },
            Lookup::Pending { find, server } => {
                let find: Find<U> = Box::new(move |cx| Box::pin(async move { find(cx).await.map(wrap) }));
                Lookup::Pending { find, server }
            }
        }
    }

    /// Changes the fault of a refusal.
    #[must_use]
    pub fn map_fault(self, change: impl FnOnce(Fault) -> Fault + Send + 'static) -> Lookup<T> {
        match self {
            Lookup::Found(target) => Lookup::Found(target),
            Lookup::Refused { fault, server } => Lookup::Refused { fault: change(fault), server },
            Lookup::Pending { find, server } => {
                let find: Find<T> =
                    Box::new(move |cx| Box::pin(async move { find(cx).await.map_err(change) }));
                Lookup::Pending { find, server }
            }
        }
    }

    /// Returns the target. Waits for a server if the lookup is pending.
    pub async fn resolve(self, cx: &Context) -> Result<Arc<T>, Fault> {
        match self {
            Lookup::Found(target) => Ok(target),
            Lookup::Refused { fault, .. } => Err(fault),
            Lookup::Pending { find, .. } => find(cx.clone()).await,
        }
    }
}

/// A tool that a caller can call.
pub trait ToolTarget: Send + Sync {
    /// The server behind this one that has the tool; `None` for a tool of this server itself.
    fn server(&self) -> Option<&str> {
        None
    }
    /// The server's own name of the tool.
    fn name(&self) -> &str;
    /// Parameters that must be repeated in HTTP headers.
    fn header_params(&self) -> &[HeaderParam] {
        &[]
    }
    /// Whether each call by this caller needs human approval.
    fn needs_approval(&self, _caller: &Caller) -> bool {
        false
    }
    /// Refuses arguments that policy denies to this caller.
    fn authorize(&self, _caller: &Caller, _arguments: &Json) -> Result<(), Fault> {
        Ok(())
    }
    /// Calls the tool.
    fn call(self: Arc<Self>, arguments: Json, cx: Context) -> Work<ToolOutcome>;
}

/// A prompt that a caller can get.
pub trait PromptTarget: Send + Sync {
    /// The server behind this one that has the prompt.
    fn server(&self) -> Option<&str> {
        None
    }
    /// Fills in the prompt and returns the members of the result.
    fn fill(self: Arc<Self>, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members>;
}

/// A resource that a caller can read and subscribe to. A layer around a server recognizes its own targets by type.
pub trait ResourceTarget: Any + Send + Sync {
    /// The server behind this one that has the resource.
    fn server(&self) -> Option<&str> {
        None
    }
    /// The URI under which the server announces changes; `None` for the URI that the caller used.
    fn uri(&self) -> Option<&str> {
        None
    }
    /// Reads the resource and returns the members of the result.
    fn read(self: Arc<Self>, cx: Context) -> Work<Members>;
    /// Subscribes this client to the resource.
    fn watch(self: Arc<Self>, _cx: Context) -> Work<()> {
        Box::pin(std::future::ready(Ok(())))
    }
    /// Ends this client's subscription, without blocking.
    fn unwatch(&self, _cx: Context) {}
}

/// A prompt or template whose arguments a server can complete.
pub trait CompletionTarget: Send + Sync {
    /// The server behind this one that has the prompt or template.
    fn server(&self) -> Option<&str> {
        None
    }
    /// Completes an argument and returns the members of the result.
    fn complete(self: Arc<Self>, wanted: Completion, cx: Context) -> Work<Members>;
}
