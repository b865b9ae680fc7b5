//! Permissions written in Cedar, for operators who need more than lists.
//!
//! | | |
//! |---|---|
//! | principal | `Caller::"key:ci"`, in its `Role::"admin"` |
//! | action | `Action::"see"`, `Action::"call"`, `Action::"read"`, `Action::"get"` |
//! | resource | `Tool::"files/write"`, `Resource::"files/file:///x"` or `Prompt::"files/plan"`, in its `Server::"files"` |
//! | context | `arguments` of a call; whole numbers in any spelling are numbers |
//!
//! The default is to deny. A policy that cannot be evaluated denies the request: a `forbid` that fails on a
//! missing argument forbids. So does a condition that reads a value without a type in Cedar: a fraction, a
//! number beyond 64 bits, null.

#[cfg(not(feature = "cedar"))]
mod absent;
#[cfg(feature = "cedar")]
mod arguments;
#[cfg(feature = "cedar")]
mod conditions;
#[cfg(feature = "cedar")]
mod evaluate;

/// A set of Cedar policies. A build without the feature `cedar` has the type but never creates a value.
#[derive(Debug)]
pub struct CedarPolicies {
    #[cfg(feature = "cedar")]
    policies: cedar_policy::PolicySet,
    /// The policies whose conditions read arguments.
    #[cfg(feature = "cedar")]
    on_arguments: Vec<conditions::ArgumentPolicy>,
    #[cfg(feature = "cedar")]
    authorizer: cedar_policy::Authorizer,
    #[cfg(not(feature = "cedar"))]
    never: std::convert::Infallible,
}

/// The reason why a policy text is refused.
#[derive(Debug)]
pub struct PolicyTextError {
    /// The offset in bytes, if known.
    pub at: Option<usize>,
    pub what: String,
}
