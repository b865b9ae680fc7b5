//! Guards the operator wrote: what they are asked, what they may answer, and what is done about it. Who asks them, and
//! where they run, is known elsewhere: here is nothing that waits.

mod judge;
mod opinion;
mod places;
mod question;
mod rule;
mod strings;
mod take_out;

pub use judge::{Judge, Judging};
pub use opinion::{Opinion, Part, Wish};
pub use question::Question;
pub use rule::{About, CustomRule, Subject};
pub use take_out::take_out;
