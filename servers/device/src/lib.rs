//! The device server: phones, simulators and mobile browsers for an agent.
//!
//! `w3c` is a WebDriver client. `device` has the operations of a device and the back ends: Appium,
//! `WebDriverAgent`, chromedriver, simctl. `sessions` starts drivers, and gives each device to one caller at
//! a time. `screen` has the elements of a screen with stable references. `commands` are the actions of a
//! session: tools, steps of a batch, steps of a recording. `steps` are the performed actions, for a `report`.
//! `picture` compares screenshots.
//!
//! # Invariants
//!
//! * A device has one writer. Waiting callers are served in order, for a limited time.
//! * Every wait has a deadline, every response of a driver a maximum size.
//! * An action whose response was lost is not sent again: the fault reports an unknown effect.
//! * A started action runs to its end even if its caller cancels; then the next caller gets the device.
//! * The response to a failed action has a screenshot and the elements nearest to the selector.
//! * An assertion that does not hold is a finding.
//! * A caller cannot make a driver run programs or read files: capabilities, URLs and apps are checked.
//! * Messages of a driver go to the operator only; text from the screen is fenced.

mod artifacts;
mod commands;
mod device;
mod evidence;
pub mod picture;
pub mod reason;
pub mod report;
mod screen;
mod server;
mod sessions;
mod settings;
pub mod steps;
mod tools;
mod w3c;

pub use reason::REASONS;
pub use server::device;
pub use settings::{DeviceSettings, DriverKind, Reach, Settings};
