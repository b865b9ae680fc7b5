use failwell_fault::Ref;

/// The owner of a resource subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Watcher {
    /// A session, until it unsubscribes or ends. Repeated subscriptions count once.
    Session(u64),
    /// One subscription of the modern era, until its request ends. Other subscriptions of the client
    /// continue.
    Subscription(Ref),
}
