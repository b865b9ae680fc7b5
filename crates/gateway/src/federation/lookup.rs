//! Resolves the names that callers use to a member and its entry.

use std::sync::Arc;

use failwell_fault::{Echo, Fault, OrFault, reason};
use failwell_rpc::Caller;
use failwell_toolbox::{Context, Find, List, Lookup, nearest, unknown_resource};
use serde_json::Value;

use crate::federation::Federation;
use crate::federation::catalogue::{Entry, EntryList, shown_names};
use crate::federation::member::Member;
use crate::federation::names::{inside_uri, server_of};
use crate::federation::targets::UpstreamResource;

/// The result of a lookup in the cached lists.
enum NameLookup {
    Found(Member, Arc<Entry>),
    /// The member has no such name, or hides it from this caller.
    Unknown(Member),
    /// The list is not cached. The member is known if the name has its prefix.
    Unlisted(Option<Member>),
}

impl Federation {
    /// Looks a name up in the cached lists, or returns a future that asks the members.
    pub(super) fn look_up<T: ?Sized + Send + Sync + 'static>(
        self: &Arc<Self>,
        list: List,
        name: &str,
        caller: &Caller,
        target: impl Fn(Arc<Federation>, Member, Arc<Entry>) -> Result<Arc<T>, Fault> + Send + Sync + 'static,
    ) -> Lookup<T> {
        let boxed = |member: &Member| Some(Box::from(member.name()));
        match self.find_known(list, name, caller) {
            NameLookup::Found(member, entry) => {
                let server = boxed(&member);
                match target(self.clone(), member, entry) {
                    Ok(target) => Lookup::Found(target),
                    Err(fault) => Lookup::Refused { fault, server },
                }
            }
            NameLookup::Unknown(member) => {
                Lookup::Refused { fault: self.unknown(list, name, caller), server: boxed(&member) }
            }
            NameLookup::Unlisted(member) => {
                let (gateway, name) = (self.clone(), name.to_owned());
                let find: Find<T> = Box::new(move |cx| {
                    Box::pin(async move {
                        let (member, entry) = gateway.resolve(list, &name, &cx).await?;
                        target(gateway, member, entry)
                    })
                });
                Lookup::Pending { find, server: member.as_ref().and_then(boxed) }
            }
        }
    }

    fn find_known(&self, list: List, name: &str, caller: &Caller) -> NameLookup {
        let Some(member) = server_of(name).and_then(|server| self.member(server)) else {
            return NameLookup::Unlisted(None);
        };
        let Some(entries) = self.catalogue.get(member.name(), list, member.generation()) else {
            return NameLookup::Unlisted(Some(member));
        };
        let entries = self.visibility.filter(entries, member.name(), list, caller);
        match entries.iter().find(|entry| entry.outside == name) {
            Some(entry) => NameLookup::Found(member, entry.clone()),
            None => NameLookup::Unknown(member),
        }
    }

    /// Resolves a name, fetching lists that are not cached. An unprefixed name resolves if exactly one member has it.
    async fn resolve(
        self: &Arc<Self>,
        list: List,
        name: &str,
        cx: &Context,
    ) -> Result<(Member, Arc<Entry>), Fault> {
        if let Some(member) = server_of(name).and_then(|server| self.member(server)) {
            let entries = self.visible_list(&member, list, cx).await?;
            if let Some(entry) = entries.iter().find(|entry| entry.outside == name) {
                return Ok((member, entry.clone()));
            }
            return Err(self.unknown(list, name, &cx.client().caller));
        }
        let (found, missing) = self.all(list, cx).await;
        let mut having = found.iter().flat_map(|entries| entries.iter()).filter(|entry| entry.shown == name);
        match (having.next(), having.next()) {
            (Some(only), None) => {
                let member = self.member(&only.server).or_fault(&reason::SERVER_BUG)?;
                Ok((member, only.clone()))
            }
            // A member that is still starting may have the name.
            (None, _) => Err(self
                .still_starting(&missing)
                .unwrap_or_else(|| self.unknown(list, name, &cx.client().caller))),
            _ => Err(self.unknown(list, name, &cx.client().caller)),
        }
    }

    /// The fault for a name that a starting member may have.
    fn still_starting(&self, missing: &[Value]) -> Option<Fault> {
        let starting = missing.iter().find(|one| one["reason"] == reason::GATEWAY_UPSTREAM_STARTING.id)?;
        match self.member(starting["server"].as_str()?)? {
            Member::Upstream(upstream) => Some(upstream.settings().list_limit().still_starting()),
            Member::BuiltIn(..) => None,
        }
    }

    /// A hidden name gets the same fault as an unknown one. Suggestions come from the entries this caller sees.
    fn unknown(&self, list: List, name: &str, caller: &Caller) -> Fault {
        let row = if list == List::Tools { &reason::MCP_UNKNOWN_TOOL } else { &reason::MCP_UNKNOWN_PROMPT };
        let known = self.visible_lists(list, caller);
        let names = known.iter().flat_map(|entries| shown_names(entries, |entry| &entry.outside));
        Fault::new(row).fact("name", Echo::of_caller(name)).nearest(nearest(name, names))
    }

    fn visible_lists(&self, list: List, caller: &Caller) -> Vec<EntryList> {
        let known = self.catalogue.known(list).into_iter();
        known.map(|(server, entries)| self.visibility.filter(entries, &server, list, caller)).collect()
    }

    /// The resource behind an outside URI, if this caller may know and use it.
    pub(super) fn resource(self: &Arc<Self>, uri: &str, caller: &Caller) -> Result<UpstreamResource, Fault> {
        let (server, inside) = inside_uri(uri).ok_or_else(|| unknown_resource(uri))?;
        let member = self.member(&server).ok_or_else(|| unknown_resource(uri))?;
        self.reveal_to(caller, member.name(), inside, uri)?;
        let (inside, outside) = (inside.to_owned(), Some(uri.to_owned()));
        Ok(UpstreamResource { gateway: self.clone(), member, inside, outside })
    }

    /// Rejects a hidden URI exactly like an unknown one.
    pub(crate) fn reveal_to(
        &self,
        caller: &Caller,
        server: &str,
        inside: &str,
        uri: &str,
    ) -> Result<(), Fault> {
        if !self.visibility.shows_resource(caller, server, inside) {
            return Err(unknown_resource(uri));
        }
        self.visibility.authorize(caller, server, List::Resources, inside, None)
    }
}
