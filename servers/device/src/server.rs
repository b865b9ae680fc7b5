//! The room.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::Fault;
use failwell_server::{Info, Resource, ResourceContents, Toolbox, unknown_resource};

use crate::keep::Keep;
use crate::sessions::Desk;
use crate::settings::Settings;
use crate::tools;

/// The tool server for the devices of the settings.
pub fn device(settings: Settings) -> Result<Toolbox, Fault> {
    let info = Info {
        name: "device",
        title: "Devices",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Phones, simulators and mobile browsers. start_session, then get_screen_hierarchy shows what is there with references (e12) that tap_element, enter_text and the others take as ref; selectors work too. Assertions that do not hold are findings, not errors. When a failure says effect unknown, look at the screen before trying again. run_steps makes several steps at once; get_report tells what was done.",
    };
    let keep = Keep::new(settings.shelf.clone());
    let desk = Desk::new(settings, keep.clone());
    let toolbox = tools::all(Toolbox::new(info), &desk)?;
    // What is on the shelf is read there, beside every room.
    Ok(if keep.is_shelved() { toolbox } else { toolbox.resource(own(keep)) })
}

/// What is kept in memory.
fn own(keep: Keep) -> Resource {
    let about = "Pictures, recordings and reports of this run.";
    Resource::new(
        "resource://{type}/{name}",
        "kept",
        about,
        "application/octet-stream",
        move |address, _cx| {
            let keep = keep.clone();
            async move {
                let (media_type, bytes) =
                    keep.read(&address.uri).await.map_err(|_| unknown_resource(&address.uri))?;
                let is_text = !media_type.starts_with("image/");
                Ok(vec![match String::from_utf8(bytes.to_vec()) {
                    Ok(text) if is_text => ResourceContents::text(address.uri, &media_type, text),
                    _ => ResourceContents::blob(address.uri, &media_type, STANDARD.encode(&bytes)),
                }])
            }
        },
    )
}
