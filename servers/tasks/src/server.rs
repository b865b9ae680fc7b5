//! The room: tools, resources and prompts over one account.

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::Fault;
use failwell_server::{
    Completion, Context, HeaderParam, Info, Json, List, Members, Numbers, Offers, Page, Room, ToolOutcome,
    Toolbox, Work,
};

use crate::account::Account;
use crate::settings::Settings;
use crate::watch::Watch;
use crate::{prompts, resources, tools};

/// The tool server of one account.
pub struct Tasks {
    toolbox: Toolbox,
    watch: Arc<Watch>,
    account: Arc<Account>,
}

/// The tool server of one account.
pub fn tasks(settings: Settings) -> Result<Tasks, Fault> {
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
    Ok(Tasks { toolbox, watch: Watch::new(&account), account })
}

impl Room for Tasks {
    fn info(&self) -> &Info {
        self.toolbox.info()
    }

    fn offers(&self) -> Offers {
        self.toolbox.offers()
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        self.toolbox.list(list, cursor, cx)
    }

    fn header_params(&self, tool: &str, caller: &failwell_server::Caller) -> Vec<HeaderParam> {
        self.toolbox.header_params(tool, caller)
    }

    fn metrics(&self, out: &mut Numbers) {
        self.account.traffic.write(out);
    }

    fn call(&self, tool: &str, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        self.toolbox.call(tool, arguments, cx)
    }

    fn read(&self, uri: &str, cx: Context) -> Work<Members> {
        self.toolbox.read(uri, cx)
    }

    fn watch(&self, uri: &str, cx: Context) -> Work<()> {
        let (known, watch, uri) = (self.toolbox.watch(uri, cx.clone()), self.watch.clone(), uri.to_owned());
        Box::pin(async move {
            known.await?;
            watch.add(uri, cx).await;
            Ok(())
        })
    }

    fn unwatch(&self, uri: &str, cx: Context) {
        self.watch.remove(uri, &cx);
    }

    fn prompt(&self, name: &str, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        Room::prompt(&self.toolbox, name, arguments, cx)
    }

    fn complete(&self, wanted: Completion, cx: Context) -> Work<Members> {
        self.toolbox.complete(wanted, cx)
    }
}
