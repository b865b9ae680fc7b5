"""Where a collected test is."""

import os


def place_of(item, root):
    """What discover_tests answers with."""
    classes, node = [], getattr(item, "parent", None)
    while node is not None:
        if type(node).__name__ in ("Class", "UnitTestCase"):
            classes.append(node.name)
        node = getattr(node, "parent", None)
    file, line, _ = item.location
    module = getattr(getattr(item, "module", None), "__name__", None)
    return {
        "id": item.nodeid,
        "module": module or os.path.splitext(os.path.basename(file))[0],
        "class": ".".join(reversed(classes)) or None,
        "function": getattr(item, "originalname", None) or item.name,
        "file": file,
        "line": None if line is None else line + 1,
    }
