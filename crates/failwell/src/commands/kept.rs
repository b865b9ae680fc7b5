//! Where resources are kept.

use failwell_gateway::Gateway;
use failwell_server::{SHELF_SERVER, ShelfDesk};
use failwell_shelf::Shelf;

use crate::config::Config;

/// The shelf of a start, if there is to be one. A folder that is there is opened and cleared up at once; one that is not is
/// made when it is first needed.
pub(super) fn shelf(config: &Config) -> Option<Shelf> {
    if !config.shelf.enabled {
        return None;
    }
    let (folder, settings) = (config.shelf_folder(), config.shelf.settings.clone());
    let shelf = Shelf::at(&folder, settings);
    if folder.is_dir() {
        // What keeps it from opening is said to whoever needs it.
        let opened = shelf.clone();
        std::thread::spawn(move || opened.ready().is_ok());
    }
    Some(shelf)
}

/// The same under the rules of a gateway.
pub(super) fn desk(shelf: &Shelf, gateway: &Gateway) -> ShelfDesk {
    let gateway = gateway.clone();
    ShelfDesk::ruled(
        shelf.clone(),
        std::sync::Arc::new(move |caller, uri| gateway.reveal(caller, SHELF_SERVER, uri)),
    )
}
