//! The tool server at `/mcp`: a single member or the federation. A reload may replace one by the other.

use std::sync::Arc;

use arc_swap::ArcSwap;
use failwell_rpc::Caller;
use failwell_toolbox::{
    CompletionTarget, Context, Guidance, Info, List, Lookup, MetricsText, Offers, Page, PromptTarget,
    ResourceTarget, ToolServer, ToolTarget, Work,
};

/// A tool server that can be replaced at runtime. Its `Info` stays the one it started with.
#[derive(Clone)]
pub struct ReloadableServer(Arc<CurrentServer>);

struct CurrentServer {
    info: Info,
    now: ArcSwap<Arc<dyn ToolServer>>,
}

impl ReloadableServer {
    pub fn new(server: Arc<dyn ToolServer>) -> ReloadableServer {
        ReloadableServer(Arc::new(CurrentServer {
            info: server.info().clone(),
            now: ArcSwap::from_pointee(server),
        }))
    }

    /// Replaces the server. Calls in flight finish in the old one.
    pub fn set(&self, server: Arc<dyn ToolServer>) {
        self.0.now.store(Arc::new(server));
    }
}

impl ToolServer for ReloadableServer {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn is_federation(&self) -> bool {
        self.0.now.load().is_federation()
    }

    fn offers(&self) -> Offers {
        self.0.now.load().offers()
    }

    fn prepare(&self, cx: Context) -> Work<()> {
        self.0.now.load().prepare(cx)
    }

    fn guidance(&self, cx: Context) -> Work<Guidance> {
        self.0.now.load().guidance(cx)
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        self.0.now.load().list(list, cursor, cx)
    }

    fn metrics(&self, out: &mut MetricsText) {
        self.0.now.load().metrics(out);
    }

    fn roots_changed(&self, cx: Context) {
        self.0.now.load().roots_changed(cx);
    }

    fn find_tool(&self, name: &str, caller: &Caller) -> Lookup<dyn ToolTarget> {
        self.0.now.load().find_tool(name, caller)
    }

    fn find_prompt(&self, name: &str, caller: &Caller) -> Lookup<dyn PromptTarget> {
        self.0.now.load().find_prompt(name, caller)
    }

    fn find_resource(&self, uri: &str, caller: &Caller) -> Lookup<dyn ResourceTarget> {
        self.0.now.load().find_resource(uri, caller)
    }

    fn find_completion(&self, of: &str, caller: &Caller) -> Lookup<dyn CompletionTarget> {
        self.0.now.load().find_completion(of, caller)
    }
}
