//! The device room: phones, simulators and mobile browsers for an agent.
//!
//! `w3c` speaks to drivers. `device` is what a device can do, and the back ends: Appium, `WebDriverAgent`, chromedriver,
//! simctl. `driver` starts drivers of our own. `sessions` are who works on which device, one at a time. `screen` is what is
//! on it, with references that last. `commands` are what can be done in a session, one by one, in a batch, and again from a
//! recording; `steps` is what was done, for a `report`. `picture` compares what screens look like.
//!
//! # Invariants
//!
//! * One device has one writer; who waits is served in the order they came, for a limited time.
//! * Every wait has a deadline, every answer of a driver a largest size.
//! * An action whose answer was lost is not sent again: its effect is unknown, and the fault says so.
//! * What was begun on a device is seen through when its caller has called it off; then the next has its turn.
//! * An action that fails is answered with a picture of the screen and the elements nearest to what was wanted.
//! * An assertion that does not hold is a finding.
//! * A caller cannot make a driver run programs or read files: capabilities, addresses and apps are checked.
//! * What a driver says stays with the operator; what is on the screen is fenced.

mod capabilities;
mod commands;
mod device;
mod driver;
mod evidence;
mod keep;
mod log;
pub mod picture;
mod queue;
pub mod report;
mod screen;
mod server;
mod sessions;
mod settings;
mod stage;
pub mod steps;
mod tools;
mod w3c;

pub use server::device;
pub use settings::{DeviceSettings, DriverKind, Reach, Settings};
