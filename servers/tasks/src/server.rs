//! The tool server: tools, resources and prompts of one account.

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{
    Caller, CompletionTarget, Context, Info, List, Lookup, Members, MetricsText, Page, PromptTarget,
    ResourceTarget, ServerFeatures, ToolServer, ToolTarget, Toolbox, Work,
};

use crate::account::Account;
use crate::settings::Settings;
use crate::subscriptions::Subscriptions;
use crate::{prompts, resources, tools};

pub struct TasksServer {
    toolbox: Toolbox,
    watch: Arc<Subscriptions>,
    account: Arc<Account>,
}

/// Builds the tool server of one account.
pub fn tasks(settings: Settings) -> Result<TasksServer, Fault> {
    let account = Account::new(settings)?;
    let info = Info {
        name: "tasks",
        title: "Remember The Milk",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Tasks and lists of Remember The Milk. rtm_findTasks finds, rtm_createTask adds, rtm_updateTask changes, rtm_batch makes several changes, rtm_undo takes back. Pass task ids from answers rather than names. When a failure says effect unknown, look before trying again.",
    };
    let toolbox = tools::all(Toolbox::new(info), &account)?;
    let toolbox = resources::all(toolbox, &account);
    let toolbox = prompts::all(toolbox, &account);
    Ok(TasksServer { toolbox, watch: Subscriptions::new(&account), account })
}

impl ToolServer for TasksServer {
    fn info(&self) -> &Info {
        self.toolbox.info()
    }

    fn offers(&self) -> ServerFeatures {
        self.toolbox.offers()
    }

    fn check(&self) -> Result<(), Fault> {
        self.toolbox.check()
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        self.toolbox.list(list, cursor, cx)
    }

    fn metrics(&self, out: &mut MetricsText) {
        self.account.traffic.write(out);
    }

    fn find_tool(&self, name: &str, caller: &Caller) -> Lookup<dyn ToolTarget> {
        self.toolbox.find_tool(name, caller)
    }

    fn find_prompt(&self, name: &str, caller: &Caller) -> Lookup<dyn PromptTarget> {
        self.toolbox.find_prompt(name, caller)
    }

    fn find_completion(&self, of: &str, caller: &Caller) -> Lookup<dyn CompletionTarget> {
        self.toolbox.find_completion(of, caller)
    }

    fn find_resource(&self, uri: &str, caller: &Caller) -> Lookup<dyn ResourceTarget> {
        let (watch, uri) = (self.watch.clone(), uri.to_owned());
        let found = self.toolbox.find_resource(&uri, caller);
        found.map(move |resource| Arc::new(WatchedResource { resource, watch, uri }) as _)
    }
}

/// A resource that is polled for changes while it has subscribers.
struct WatchedResource {
    resource: Arc<dyn ResourceTarget>,
    watch: Arc<Subscriptions>,
    uri: String,
}

impl ResourceTarget for WatchedResource {
    fn read(self: Arc<Self>, cx: Context) -> Work<Members> {
        self.resource.clone().read(cx)
    }

    fn watch(self: Arc<Self>, cx: Context) -> Work<()> {
        Box::pin(async move {
            self.watch.add(self.uri.clone(), cx).await;
            Ok(())
        })
    }

    fn unwatch(&self, cx: Context) {
        self.watch.remove(&self.uri, &cx);
    }
}
