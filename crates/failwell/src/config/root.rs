//! The top level of the file.

use std::net::SocketAddr;

use failwell_controls::SHELF_SERVER;

use super::Builtin;
use super::keys::servers;
use super::listen::listen_address;
use super::parse::names::{list, nearest};
use super::parse::reader::{Reader, Section};
use super::policy::{cedar, consent, guard, identity, jwt, limits, rules};
use super::servers::{device, tasks, upstream};
use super::settings::Config;
use super::{audit, shelf, state};

/// Reads the whole file. The result is valid only if the reader has no problems.
pub(super) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> Config {
    reader.know(root);
    let listen = listen(reader, root);
    let data_dir = reader.folder_to_keep(root, "data_dir");
    let state = state::read(reader, root);
    let require_key = reader.flag(root, "require_key").unwrap_or(false);
    let keys = identity::read(reader, root);
    let jwt = jwt::read(reader, root);
    let (limits, listener) = limits::read(reader, root);
    let servers = built_in(reader, root);
    let upstreams = upstream::read_all(reader, root);
    if servers.is_empty() && root.has("servers") && !root.has("upstream") && reader.problems.is_empty() {
        let help =
            format!("name a built-in server ({}) or add an [[upstream]]", list(super::keys::servers()));
        reader.wrong(&root.key_span("servers"), "servers", "there is nothing to serve", help);
    }
    let upstream_names: Vec<String> = upstreams.iter().map(|upstream| upstream.name.clone()).collect();
    let names: Vec<String> = servers
        .iter()
        .map(|server| server.name().to_owned())
        .chain(upstreams.iter().map(|upstream| upstream.name.clone()))
        .collect();
    // Stored files have rules and guards like a server, but no tools.
    let with_shelf: Vec<String> = names.iter().cloned().chain([SHELF_SERVER.to_owned()]).collect();
    let rules = rules::read(reader, root, &names, &with_shelf);
    let approval = consent::approval(reader, root);
    let pin = consent::pin(reader, root, &upstream_names);
    let cedar = cedar::read(reader, root);
    let (guards, custom_guards) = guard::read(reader, root, &with_shelf);
    let shelf = shelf::read(reader, root);
    let audit = audit::read(reader, root);
    let tasks = tasks::read(reader, root);
    let device = device::read(reader, root);
    Config {
        file: None,
        listen,
        data_dir,
        state,
        require_key,
        keys,
        jwt,
        limits,
        listener,
        servers,
        upstreams,
        rules,
        approval,
        pin,
        cedar,
        guards,
        custom_guards,
        shelf,
        audit,
        tasks,
        device,
    }
}

fn listen(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<SocketAddr> {
    let text = reader.text(root, "listen")?;
    match listen_address(&text.value) {
        Ok(address) => Some(address),
        Err(help) => {
            reader.wrong(&text.span, &text.key, "`listen` is not an IP address with a port", help);
            None
        }
    }
}

fn built_in(reader: &mut Reader<'_>, root: &Section<'_>) -> Vec<Builtin> {
    let Some(named) = reader.texts(root, "servers") else { return Builtin::USUAL.to_vec() };
    let mut found = Vec::new();
    for name in named {
        match Builtin::named(&name.value) {
            Some(server) if found.contains(&server) => {
                let message = format!("`{}` is named twice", server.name());
                reader.wrong(&name.span, &name.key, message, "remove one of them");
            }
            Some(server) => found.push(server),
            None => {
                let help = nearest(&name.value, servers()).map_or_else(
                    || format!("the built-in servers are {}", list(servers())),
                    |near| format!("did you mean `{near}`?"),
                );
                let message = format!("there is no built-in server `{}`", name.value);
                reader.wrong(&name.span, &name.key, message, help);
            }
        }
    }
    found
}
