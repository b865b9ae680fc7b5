//! The gateway as a tool server: every member under prefixed names. At `/mcp` a reload may replace it by a
//! single member.

use std::sync::Arc;

use arc_swap::ArcSwap;
use failwell_fault::Fault;
use failwell_pipeline::Tracer;
use failwell_pipeline::{Hub, SharedState, SingleNode};
use failwell_policy::AccessPolicy;
use failwell_process::Launcher;
use failwell_rpc::Caller;
use failwell_toolbox::{
    CompletionTarget, Context, Guidance, Info, List, Lookup, MetricsText, Page, PromptTarget, ResourceTarget,
    ServerFeatures, ToolServer, ToolTarget, Work,
};

use crate::federation::Federation;
use crate::federation::member::Member;
use crate::federation::member::member_set::ReloadReport;
use crate::federation::single::SingleMember;
use crate::federation::targets::{MemberCompletion, MemberPrompt, MemberTool, NameScope};
use crate::upstream::{ALL_FEATURES, ServerEvent, UpstreamSettings, metrics};

/// A tool server that federates its members.
#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Federation>);

impl Gateway {
    pub fn new(
        info: Info,
        upstreams: Vec<UpstreamSettings>,
        built_in: Vec<(String, Arc<dyn ToolServer>)>,
        launcher: &Launcher,
    ) -> Gateway {
        let gateway = Gateway::with_state(info, launcher, Arc::new(SingleNode));
        gateway.reload(upstreams, built_in);
        gateway
    }

    /// A gateway without members that shares state with other nodes.
    pub fn with_state(info: Info, launcher: &Launcher, state: Arc<dyn SharedState>) -> Gateway {
        Gateway(Arc::new(Federation::new(info, launcher, state)))
    }

    /// Ends the spans of upstream requests through this tracer. The first one stays.
    pub fn set_tracer(&self, tracer: Tracer) {
        let _ = self.0.services.tracer.set(tracer);
    }

    /// Observes the starts and ends of upstreams, up to the end of the gateway. The first observer stays.
    pub fn observe_servers(&self, observe: impl Fn(&ServerEvent) + Send + Sync + 'static) {
        let end = self.0.end.clone();
        let until_the_end = move |event: &ServerEvent| {
            if !end.is_cancelled() {
                observe(event);
            }
        };
        let _ = self.0.services.observer.set(Box::new(until_the_end));
    }

    /// Replaces the members. A member with unchanged settings keeps its connections and its calls in flight. A member
    /// that changed or was removed finishes its calls first, within its timeouts.
    pub fn reload(
        &self,
        upstreams: Vec<UpstreamSettings>,
        built_in: Vec<(String, Arc<dyn ToolServer>)>,
    ) -> ReloadReport {
        let built_in = built_in.into_iter().map(|(name, server)| Member::BuiltIn(name.into(), server));
        let change = self.0.members.replace(upstreams, built_in, |settings| self.0.upstream(settings));
        for gone in &change.gone {
            self.0.catalogue.forget(gone.name());
            if let Member::Upstream(upstream) = gone {
                upstream.retire(&self.0.end);
            }
        }
        change.report
    }

    /// Announces a reload to clients.
    pub fn announce(&self, reloaded: &ReloadReport) {
        self.0.hubs.announce_reload(reloaded);
    }

    /// Replaces the access policy. Returns whether any caller may see something else than before.
    pub fn set_policy(&self, policy: AccessPolicy) -> bool {
        self.0.visibility.replace(policy)
    }

    /// Checks access to a resource that is stored outside the members.
    pub fn check_resource(&self, caller: &Caller, server: &str, uri: &str) -> Result<(), Fault> {
        self.0.reveal_to(caller, server, uri, uri).map(|_| ())
    }

    pub fn names(&self) -> Vec<String> {
        self.0.members.all().iter().map(|member| member.name().to_owned()).collect()
    }

    pub fn built_in(&self, name: &str) -> Option<Arc<dyn ToolServer>> {
        match self.0.members.find(name)? {
            Member::BuiltIn(_, server) => Some(server),
            Member::Upstream(_) => None,
        }
    }

    /// One member under its own names. The name is resolved for each request, so it survives reloads.
    pub fn single(&self, name: &str) -> Arc<dyn ToolServer> {
        Arc::new(SingleMember { federation: self.0.clone(), name: name.to_owned(), offers: Arc::default() })
    }

    /// Announces changes of all members to this hub.
    pub fn announce_to(&self, hub: &Hub) {
        self.0.hubs.add(None, hub);
    }

    /// Announces changes of one member, under its own names, to this hub.
    pub fn announce_single_to(&self, name: &str, hub: &Hub) {
        self.0.hubs.add(Some(name), hub);
    }

    pub fn stop(&self) {
        self.0.end.cancel();
        for member in self.0.members.all().iter() {
            if let Member::Upstream(upstream) = member {
                upstream.stop();
            }
        }
    }
}

impl ToolServer for Gateway {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn is_federation(&self) -> bool {
        true
    }

    fn offers(&self) -> ServerFeatures {
        ALL_FEATURES
    }

    fn guidance(&self, cx: Context) -> Work<Guidance> {
        let federation = self.0.clone();
        Box::pin(async move { Ok(federation.guidance(&cx).await) })
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        let federation = self.0.clone();
        Box::pin(async move { federation.page(list, cursor, &cx).await })
    }

    fn metrics(&self, out: &mut MetricsText) {
        let members = self.0.members_seen_by(out.reader());
        let upstreams = members.iter().filter_map(|member| match member {
            Member::Upstream(upstream) => Some(upstream),
            Member::BuiltIn(..) => None,
        });
        metrics::write(&upstreams.collect::<Vec<_>>(), out);
        self.0.write_quarantined(out);
        for member in members.iter() {
            if let Member::BuiltIn(_, server) = member {
                server.metrics(out);
            }
        }
    }

    fn shows_tool(&self, server: &str, tool: &str, caller: &Caller) -> bool {
        self.0.shows_tool(server, tool, caller)
    }

    fn roots_changed(&self, cx: Context) {
        self.0.members().iter().for_each(|member| member.roots_changed(&cx));
    }

    fn find_tool(&self, name: &str, caller: &Caller) -> Lookup<dyn ToolTarget> {
        self.0.look_up(List::Tools, name, caller, |gateway, member, entry, caller| {
            MemberTool::look_up(gateway, member, entry, NameScope::Federated, caller)
        })
    }

    fn find_prompt(&self, name: &str, caller: &Caller) -> Lookup<dyn PromptTarget> {
        self.0.look_up(List::Prompts, name, caller, MemberPrompt::look_up)
    }

    fn find_completion(&self, of: &str, caller: &Caller) -> Lookup<dyn CompletionTarget> {
        if of.contains("://") {
            let (federation, asked) = (self.0.clone(), of.to_owned());
            let member = self.0.member_of_uri(of, caller).ok();
            let target = move |caller: &Caller| federation.template(&asked, caller);
            return self.0.look_up_uri(member, List::Templates, caller, target);
        }
        self.0.look_up(List::Prompts, of, caller, |gateway, member, entry, caller| {
            MemberCompletion::look_up(&gateway, member, List::Prompts, &entry, caller)
        })
    }

    fn find_resource(&self, uri: &str, caller: &Caller) -> Lookup<dyn ResourceTarget> {
        let (federation, asked) = (self.0.clone(), uri.to_owned());
        let member = self.0.member_of_uri(uri, caller).ok();
        let target = move |caller: &Caller| federation.resource(&asked, caller);
        self.0.look_up_uri(member, List::Resources, caller, target)
    }
}

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

    fn offers(&self) -> ServerFeatures {
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

    fn shows_tool(&self, server: &str, tool: &str, caller: &Caller) -> bool {
        self.0.now.load().shows_tool(server, tool, caller)
    }

    fn is_visible_to(&self, caller: &Caller) -> bool {
        self.0.now.load().is_visible_to(caller)
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
