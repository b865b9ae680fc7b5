//! The toolbox of the device server.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::Fault;
use failwell_sdk::{Info, Resource, ResourceContents, Toolbox, unknown_resource};

use crate::artifacts::ArtifactStore;
use crate::sessions::DeviceSessions;
use crate::settings::Settings;
use crate::tools;

/// Builds the tool server for the devices of the settings.
pub fn device(settings: Settings) -> Result<Toolbox, Fault> {
    let info = Info {
        name: "device",
        title: "Devices",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Phones, simulators and mobile browsers. start_session, then get_screen_hierarchy shows what is there with references (e12) that tap_element, enter_text and the others take as ref; selectors work too. Assertions that do not hold are findings, not errors. When a failure says effect unknown, look at the screen before trying again. run_steps makes several steps at once; get_report tells what was done.",
    };
    let artifacts = ArtifactStore::new(settings.blobs.clone());
    let devices = DeviceSessions::new(settings, artifacts.clone());
    let toolbox = tools::all(Toolbox::new(info), &devices)?;
    // The blob store itself serves artifacts on disk.
    Ok(if artifacts.is_persistent() { toolbox } else { toolbox.resource(memory_resource(artifacts)) })
}

/// Artifacts in memory, as resources.
fn memory_resource(artifacts: ArtifactStore) -> Resource {
    let about = "Pictures, recordings and reports of this run.";
    Resource::new(
        "resource://{type}/{name}",
        "kept",
        about,
        "application/octet-stream",
        move |address, cx| {
            let artifacts = artifacts.clone();
            async move {
                let (media_type, bytes) = artifacts
                    .read(cx.client().caller.owner(), &address.uri)
                    .await
                    .map_err(|_| unknown_resource(&address.uri))?;
                let is_text = !media_type.starts_with("image/");
                Ok(vec![match String::from_utf8(bytes.to_vec()) {
                    Ok(text) if is_text => ResourceContents::text(address.uri, &media_type, text),
                    _ => ResourceContents::blob(address.uri, &media_type, STANDARD.encode(&bytes)),
                }])
            }
        },
    )
}
