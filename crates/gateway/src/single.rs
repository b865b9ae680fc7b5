//! One member alone, under its own names: what `/mcp/<server>` serves.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::{Echo, Fault, OrFault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::Json;
use failwell_server::{
    Completion, Context, HeaderParam, Info, List, Members, Offers, Page, Room, ToolOutcome, Work, nearest,
};
use serde_json::json;

use crate::gateway::{EVERYTHING, Inner};
use crate::member::{Member, items_of};
use crate::params::Params;

/// A view of one member.
pub(crate) struct Single {
    pub(crate) inner: Arc<Inner>,
    pub(crate) name: String,
}

/// What is there may change any moment.
const KEEP: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };

impl Single {
    /// The member as it is now. Its door goes with it, so only a request that was on its way finds it gone.
    fn member(&self) -> Result<Member, Fault> {
        self.inner.member(&self.name).ok_or_else(|| Fault::new(&reason::SERVER_SHUTDOWN))
    }

    /// Refuses names the member does not have, with the nearest it has.
    async fn known(
        inner: &Inner,
        member: &Member,
        list: List,
        name: &str,
        cx: &Context,
    ) -> Result<(), Fault> {
        let entries = inner.of(member, list, cx).await?;
        if entries.iter().any(|entry| entry.inside == name) {
            return Ok(());
        }
        let row = if list == List::Tools { &reason::MCP_UNKNOWN_TOOL } else { &reason::MCP_UNKNOWN_PROMPT };
        let near = nearest(name, entries.iter().map(|entry| entry.inside.as_str()));
        Err(Fault::new(row).fact("name", Echo::of_caller(name)).nearest(near))
    }
}

impl Room for Single {
    fn info(&self) -> &Info {
        &self.inner.info
    }

    fn offers(&self) -> Offers {
        EVERYTHING
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        let (inner, member) = (self.inner.clone(), self.member());
        Box::pin(async move {
            let member = member?;
            if !inner.offers(&member, list).await? {
                let members = Json::of(&json!({list.member(): []})).or_fault(&reason::SERVER_BUG)?;
                return Ok(Page { members, meta: None, cache: KEEP });
            }
            let first = cursor.is_none();
            let page = member.page(list, cursor, Params::passing(), &cx).await?;
            let (items, next) = items_of(&page, list)?;
            // Learnt from only when it is the whole of the list.
            if first && next.is_none() {
                inner.learn(&member, list, &items, page.cache);
            }
            Ok(page)
        })
    }

    fn header_params(&self, tool: &str) -> Vec<HeaderParam> {
        let member = self.name.as_str();
        self.inner.catalogue.header_params(|entry| entry.server == member && entry.inside == tool)
    }

    fn call(&self, tool: &str, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        let (inner, member, tool) = (self.inner.clone(), self.member(), tool.to_owned());
        Box::pin(async move {
            let member = member?;
            Single::known(&inner, &member, List::Tools, &tool, &cx).await?;
            member.call(&tool, arguments, cx, &inner.parking).await
        })
    }

    fn read(&self, uri: &str, cx: Context) -> Work<Members> {
        let (inner, member, uri) = (self.inner.clone(), self.member(), uri.to_owned());
        Box::pin(async move { member?.read(&uri, cx, &inner.parking).await })
    }

    fn watch(&self, uri: &str, cx: Context) -> Work<()> {
        let (member, uri) = (self.member(), uri.to_owned());
        Box::pin(async move { member?.watch(&uri, cx).await })
    }

    fn prompt(&self, name: &str, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        let (inner, member, name) = (self.inner.clone(), self.member(), name.to_owned());
        Box::pin(async move {
            let member = member?;
            Single::known(&inner, &member, List::Prompts, &name, &cx).await?;
            member.prompt(&name, arguments, cx, &inner.parking).await
        })
    }

    fn complete(&self, wanted: Completion, cx: Context) -> Work<Members> {
        let (inner, member) = (self.inner.clone(), self.member());
        Box::pin(async move {
            let member = member?;
            let list = if wanted.of.contains("://") { List::Templates } else { List::Prompts };
            Single::known(&inner, &member, list, &wanted.of, &cx).await?;
            member.complete(wanted, cx).await
        })
    }

    fn server_of(&self, _target: &str) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }
}
