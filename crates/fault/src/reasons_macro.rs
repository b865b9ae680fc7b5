/// Declares reasons: one `static` [`Reason`](crate::Reason) per row, and `REASONS`, the list of them.
///
/// A tool server declares its own reasons in its own crate and registers the list at the program's start (see
/// [`ReasonRegistry`](crate::ReasonRegistry)). They are then counted, explained and documented like all
/// others.
///
/// ```
/// mod reason {
///     failwell_fault::reasons! {
///         OVEN_COLD = "bakery/OVEN_COLD" {
///             Precondition, ToolFailed, Server,
///             title: "the oven is cold",
///             detail: "the oven has {degrees} degrees",
///             hint: "call preheat first, then bake again",
///             about: "Bread is baked at 220 degrees or more.",
///         }
///     }
/// }
///
/// let registry = failwell_fault::ReasonRegistry::core().with(reason::REASONS)?;
/// let fault = failwell_fault::Fault::new(&reason::OVEN_COLD).fact("degrees", 20u64);
/// assert_eq!(fault.to_string(), "the oven has 20 degrees");
/// assert!(registry.find("bakery/OVEN_COLD").is_some());
/// # Ok::<(), failwell_fault::RegistryError>(())
/// ```
///
/// The three words of a row are its [`Kind`](crate::Kind), its [`Condition`](crate::Condition) and its usual
/// [`Origin`](crate::Origin). `detail` and `session_message` may be left out. A first line such as
/// `pub(crate) static ROWS;` gives the list another name or visibility.
#[macro_export]
macro_rules! reasons {
    ($list_vis:vis static $list:ident; $($name:ident = $id:literal {
        $kind:ident, $condition:ident, $origin:ident,
        title: $title:literal,
        $(detail: $detail:literal,)?
        $(session_message: $message:expr,)?
        hint: $hint:literal,
        about: $about:literal $(,)?
    })*) => {
        $(
            #[doc = $about]
            #[allow(unreachable_pub, reason = "the module around it may be private")]
            pub static $name: $crate::Reason = $crate::Reason {
                id: $id,
                kind: $crate::Kind::$kind,
                condition: $crate::Condition::$condition,
                origin: $crate::Origin::$origin,
                title: $title,
                detail: ::core::concat!($($detail)?),
                // The given message, otherwise an empty text.
                session_message: [$($message,)? ""][0],
                hint: $hint,
                about: $about,
            };
        )*
        /// Every reason declared here, in the order of the manual.
        #[allow(unreachable_pub, reason = "the module around it may be private")]
        $list_vis static $list: &[&$crate::Reason] = &[$(&$name),*];
    };
    ($first:ident = $($rows:tt)*) => {
        $crate::reasons! { pub static REASONS; $first = $($rows)* }
    };
}
