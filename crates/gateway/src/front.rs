//! What stands at `/mcp`: one room alone under its own names, or all of them federated; a reload may turn one into
//! the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use failwell_policy::Caller;
use failwell_rpc::Json;
use failwell_server::{
    Completion, Context, Guidance, HeaderParam, Info, List, Members, Numbers, Offers, Page, Room,
    ToolOutcome, Work,
};

/// A room that another can take the place of. Who it says it is stays what it was at the start.
#[derive(Clone)]
pub struct Front(Arc<Inner>);

struct Inner {
    info: Info,
    now: ArcSwap<Arc<dyn Room>>,
}

impl Front {
    /// This room for now.
    pub fn new(room: Arc<dyn Room>) -> Front {
        Front(Arc::new(Inner { info: room.info().clone(), now: ArcSwap::from_pointee(room) }))
    }

    /// Another room from now on. What runs in the old one ends there.
    pub fn set(&self, room: Arc<dyn Room>) {
        self.0.now.store(Arc::new(room));
    }
}

impl Room for Front {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn behind(&self, target: &str) -> Option<Box<str>> {
        self.0.now.load().behind(target)
    }

    fn has_others(&self) -> bool {
        self.0.now.load().has_others()
    }

    fn own_tool(&self, tool: &str, caller: &Caller) -> Option<(Box<str>, Box<str>)> {
        self.0.now.load().own_tool(tool, caller)
    }

    fn offers(&self) -> Offers {
        self.0.now.load().offers()
    }

    fn settle(&self, cx: Context) -> Work<()> {
        self.0.now.load().settle(cx)
    }

    fn guidance(&self, cx: Context) -> Work<Guidance> {
        self.0.now.load().guidance(cx)
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        self.0.now.load().list(list, cursor, cx)
    }

    fn header_params(&self, tool: &str, caller: &Caller) -> Vec<HeaderParam> {
        self.0.now.load().header_params(tool, caller)
    }

    fn call(&self, tool: &str, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        self.0.now.load().call(tool, arguments, cx)
    }

    fn read(&self, uri: &str, cx: Context) -> Work<Members> {
        self.0.now.load().read(uri, cx)
    }

    fn metrics(&self, out: &mut Numbers) {
        self.0.now.load().metrics(out);
    }

    fn watch(&self, uri: &str, cx: Context) -> Work<()> {
        self.0.now.load().watch(uri, cx)
    }

    fn unwatch(&self, uri: &str, cx: Context) {
        self.0.now.load().unwatch(uri, cx);
    }

    fn roots_changed(&self, cx: Context) {
        self.0.now.load().roots_changed(cx);
    }

    fn prompt(&self, name: &str, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        self.0.now.load().prompt(name, arguments, cx)
    }

    fn complete(&self, wanted: Completion, cx: Context) -> Work<Members> {
        self.0.now.load().complete(wanted, cx)
    }
}
