//! The working folder of upstreams.

use serde_json::json;

use crate::setup::folder::Folder;
use crate::setup::node::Node;

#[test]
fn a_relative_folder_begins_at_the_file() {
    let folder = Folder::with(
        "[[upstream]]\nname = \"a\"\ncommand = [\"python3\", \"server.py\"]\ncwd = \".\"\n\
         [[upstream]]\nname = \"b\"\ncommand = [\"python3\", \"../server.py\"]\ncwd = \"below\"\n",
    );
    folder.write("server.py", include_str!("setup/upstream.py"));
    std::fs::create_dir(folder.0.join("below")).expect("a folder");
    let node = Node::up(&folder, &[]);
    for tool in ["a__pid", "b__pid"] {
        assert_eq!(node.tool(tool, json!({})).status, 200, "{tool}");
    }
}
