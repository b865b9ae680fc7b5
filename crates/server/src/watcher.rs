use failwell_fault::Ref;

/// Who watches a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Watcher {
    /// A session, however often it asked to, until it gives the resource up or ends.
    Session(u64),
    /// One subscription of the modern era, until its request ends: another one of the same client watches on.
    Subscription(Ref),
}
