//! Prefixed names and URIs, and the members and entries that they resolve to.

pub(super) mod uris;

use std::sync::Arc;

use failwell_fault::{Echo, Fault, OrFault, reason};
use failwell_policy::ResourceUri;
use failwell_rpc::Caller;
use failwell_toolbox::{
    CompletionTarget, Context, Find, List, Lookup, ResourceTarget, nearest, unknown_resource,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::federation::Federation;
use crate::federation::catalogue::{Entry, EntryList, shown_names};
use crate::federation::member::Member;
use crate::federation::targets::{MemberCompletion, MemberResource, ResourceUris};

/// The longest tool name that all clients accept.
const LONGEST: usize = 64;
const BETWEEN: &str = "__";

/// The prefixed name of a tool or prompt: stable, and at most [`LONGEST`] bytes.
pub(crate) fn outside(server: &str, name: &str) -> String {
    let whole = format!("{server}{BETWEEN}{name}");
    if whole.len() <= LONGEST {
        return whole;
    }
    let hash = short_hash(name);
    let cut = whole.floor_char_boundary(LONGEST.saturating_sub(hash.len() + 1));
    format!("{}_{hash}", whole.get(..cut).unwrap_or_default())
}

/// Eight characters that differ for different names.
pub(crate) fn short_hash(name: &str) -> String {
    let mut hash = hex::encode(Sha256::digest(name.as_bytes()));
    hash.truncate(8);
    hash
}

/// The server prefix of a name.
pub(crate) fn server_of(outside: &str) -> Option<&str> {
    // Names are short: a plain scan beats building a searcher.
    let end = outside.as_bytes().windows(BETWEEN.len()).position(|two| two == BETWEEN.as_bytes())?;
    outside.get(..end).filter(|server| !server.is_empty())
}

/// The prefixed URI of a resource: still a valid URI, with the server in its scheme.
pub(crate) fn outside_uri(server: &str, uri: &str) -> String {
    // A scheme has no underscores, and a server's name no dots.
    format!("{}+{uri}", server.replace('_', "."))
}

/// The server and the original URI of a prefixed one.
pub(crate) fn inside_uri(outside: &str) -> Option<(String, &str)> {
    let (server, uri) = outside.split_once('+')?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    server.chars().all(plain).then(|| (server.replace('.', "_"), uri))
}

fn server_of_uri(uri: &str) -> Option<Box<str>> {
    inside_uri(uri).map(|(server, _)| server.into_boxed_str())
}

/// The prefixed name of an item.
pub(crate) fn outside_name(server: &str, list: List, inside: &str) -> String {
    match list {
        List::Tools | List::Prompts => outside(server, inside),
        List::Resources | List::Templates => outside_uri(server, inside),
    }
}

/// The JSON member that holds an item's name.
pub(crate) fn naming_member(list: List) -> &'static str {
    match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    }
}

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
        target: fn(Arc<Federation>, Member, Arc<Entry>, &Caller) -> Lookup<T>,
    ) -> Lookup<T> {
        match self.find_known(list, name, caller) {
            NameLookup::Found(member, entry) => target(self.clone(), member, entry, caller),
            NameLookup::Unknown(member) => member.refuse(self.unknown(list, name, caller)),
            NameLookup::Unlisted(member) => {
                let (gateway, name) = (self.clone(), name.to_owned());
                let find: Find<T> = Box::new(move |cx| {
                    Box::pin(async move {
                        let (member, entry) = gateway.resolve(list, &name, &cx).await?;
                        target(gateway, member, entry, &cx.client().caller).resolve(&cx).await
                    })
                });
                Lookup::Pending { find, server: member.map(|member| Box::from(member.name())) }
            }
        }
    }

    fn find_known(&self, list: List, name: &str, caller: &Caller) -> NameLookup {
        let Some(member) = server_of(name).and_then(|server| self.member(server)) else {
            return NameLookup::Unlisted(None);
        };
        let known = self.catalogue.get(member.name(), list, member.generation());
        let entries = known.map(|entries| self.visibility.filter(entries, member.name(), list, caller));
        match entries.as_ref().map(|entries| entries.iter().find(|entry| entry.outside == name)) {
            Some(Some(entry)) => NameLookup::Found(member, entry.clone()),
            _ if self.is_hidden(&member, caller) => NameLookup::Unlisted(None),
            Some(None) => NameLookup::Unknown(member),
            None => NameLookup::Unlisted(Some(member)),
        }
    }

    /// Resolves a name, fetching lists that are not cached. An unprefixed name resolves if exactly one member has it.
    async fn resolve(
        self: &Arc<Self>,
        list: List,
        name: &str,
        cx: &Context,
    ) -> Result<(Member, Arc<Entry>), Fault> {
        let caller = &cx.client().caller;
        let named = server_of(name).and_then(|server| self.member(server));
        if let Some(member) = named.filter(|member| !self.is_hidden(member, caller)) {
            let entries = match self.visible_list(&member, list, cx).await {
                Err(fault) if self.is_unseen(&member, caller) => {
                    return Err(self.unknown(list, name, caller).absorbing(fault));
                }
                listed => listed?,
            };
            if let Some(entry) = entries.iter().find(|entry| entry.outside == name) {
                return Ok((member, entry.clone()));
            }
            return Err(self.unknown(list, name, caller));
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
    pub(super) fn resource(self: &Arc<Self>, uri: &str, caller: &Caller) -> Lookup<dyn ResourceTarget> {
        let found = self.member_of_uri(uri, caller).and_then(|(member, inside)| {
            let inside = self.reveal_to(caller, member.name(), inside, uri)?;
            Ok((member, inside))
        });
        match found {
            Ok((member, inside)) => {
                let (outside, asked) = (Some(outside_uri(member.name(), &inside)), uri.to_owned());
                let uris = ResourceUris { inside, outside, asked };
                MemberResource::look_up(self.clone(), member, uris, caller)
            }
            Err(fault) => Lookup::Refused { fault, server: server_of_uri(uri) },
        }
    }

    /// A lookup by URI. The server's list says whether an unusual spelling is the server's own. This node may not have
    /// the list yet, such as when the caller listed on another one; it is then fetched first.
    pub(super) fn look_up_uri<T: ?Sized + Send + Sync + 'static>(
        self: &Arc<Self>,
        member: Option<(Member, &str)>,
        list: List,
        caller: &Caller,
        target: impl FnOnce(&Caller) -> Lookup<T> + Send + 'static,
    ) -> Lookup<T> {
        let unlisted = member.filter(|(member, inside)| self.lacks_list(member, list, inside, caller));
        let Some((member, _)) = unlisted else { return target(caller) };
        let (federation, server) = (self.clone(), Some(Box::from(member.name())));
        let find: Find<T> = Box::new(move |cx| {
            Box::pin(async move {
                // Without a list the spelling is not known as the server's own.
                let _ = federation.listed(&member, list, &cx).await;
                target(&cx.client().caller).resolve(&cx).await
            })
        });
        Lookup::Pending { find, server }
    }

    fn lacks_list(&self, member: &Member, list: List, inside: &str, caller: &Caller) -> bool {
        // First, because the list is known in nearly every call, and reading the URI costs most.
        if self.catalogue.last(member.name(), list).is_some() {
            return false;
        }
        let normal = match list {
            List::Templates => ResourceUri::parse_template(inside),
            _ => ResourceUri::parse(inside),
        };
        let is_usual = normal.as_ref().is_some_and(|normal| normal.sent() == inside);
        !is_usual && self.visibility.shows_resource(caller, member.name(), normal.as_ref())
    }

    pub(super) fn member_of_uri<'u>(
        &self,
        uri: &'u str,
        caller: &Caller,
    ) -> Result<(Member, &'u str), Fault> {
        let (server, inside) = inside_uri(uri).ok_or_else(|| unknown_resource(uri))?;
        let known = self.member(&server).filter(|member| !self.is_hidden(member, caller));
        Ok((known.ok_or_else(|| unknown_resource(uri))?, inside))
    }

    /// The spelling of a URI that goes to the server. Rejects a hidden URI exactly like an unknown one.
    pub(crate) fn reveal_to(
        &self,
        caller: &Caller,
        server: &str,
        inside: &str,
        uri: &str,
    ) -> Result<String, Fault> {
        self.reveal(caller, server, List::Resources, inside, ResourceUri::parse(inside), uri)
    }

    /// The same for a template. Its completion is a use of the resources behind it.
    pub(super) fn template(self: &Arc<Self>, uri: &str, caller: &Caller) -> Lookup<dyn CompletionTarget> {
        let found = self.member_of_uri(uri, caller).and_then(|(member, inside)| {
            let normal = ResourceUri::parse_template(inside);
            let of = self.reveal(caller, member.name(), List::Templates, inside, normal, uri)?;
            Ok((member, of))
        });
        match found {
            Ok((member, of)) => MemberCompletion::of(member, of, caller),
            Err(fault) => Lookup::Refused { fault, server: server_of_uri(uri) },
        }
    }

    /// A spelling that the server itself lists is the server's own, and goes to it unchanged. Any other
    /// spelling is replaced by the normal form, which is the one that the policy judged. Where no policy judges,
    /// doubled slashes stay.
    fn reveal(
        &self,
        caller: &Caller,
        server: &str,
        list: List,
        inside: &str,
        normal: Option<ResourceUri>,
        uri: &str,
    ) -> Result<String, Fault> {
        if !self.visibility.shows_resource(caller, server, normal.as_ref()) {
            return Err(unknown_resource(uri));
        }
        if let Some(normal) = &normal {
            self.visibility.authorize_resource(caller, server, normal)?;
        }
        let is_listed = || {
            let listed = self.catalogue.last(server, list);
            listed.is_some_and(|entries| entries.iter().any(|entry| entry.inside == inside))
        };
        let is_judged = !self.visibility.shows_resource(caller, server, None);
        match normal {
            Some(normal) if normal.sent() == inside || !is_listed() => {
                Ok(if is_judged { normal.sent() } else { normal.sent_without_rules() }.to_owned())
            }
            Some(_) => Ok(inside.to_owned()),
            None if is_listed() => Ok(inside.to_owned()),
            None => Err(unknown_resource(uri)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{inside_uri, outside, outside_uri, server_of};

    #[test]
    fn names_are_prefixed_and_never_too_long() {
        assert_eq!(outside("ev", "echo"), "ev__echo");
        let long = outside("server", &"x".repeat(100));
        assert_eq!((long.len(), &long[..9]), (64, "server__x"));
        assert_eq!(long, outside("server", &"x".repeat(100)), "stable");
        assert_ne!(long, outside("server", &"x".repeat(101)), "different");
        assert_eq!(server_of("ev__a__b"), Some("ev"));
        assert_eq!(server_of("__echo"), None);
        assert_eq!(server_of("echo"), None);
    }

    #[test]
    fn addresses_stay_addresses_and_map_back() {
        for (server, uri) in [("ev", "file:///x"), ("my_server", "test://a+b"), ("a-b", "https://h/p?q=1+1")]
        {
            let there = outside_uri(server, uri);
            assert_eq!(inside_uri(&there), Some((server.to_owned(), uri)), "{there}");
            let scheme = there.split(':').next().unwrap_or_default();
            assert!(scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)), "{scheme}");
        }
        assert_eq!(inside_uri("https://plain"), None);
    }
}
