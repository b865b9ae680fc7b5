"""Compiled files stay out of the project."""

import os
import sys


def keep_bytecode_out(root, folder):
    """Compiled files of the project go to our folder; everything else keeps its usual place."""
    inside = os.path.join(root, "")
    prefix = os.path.join(sys.prefix, "")

    def ours(path):
        path = os.path.abspath(path)
        return path.startswith(inside) and not path.startswith(prefix)

    try:
        from importlib import _bootstrap_external as machinery

        usual = machinery.cache_from_source

        def cache_from_source(path, *args, **kwargs):
            place = usual(path, *args, **kwargs)
            if not ours(path):
                return place
            return os.path.join(folder, os.path.abspath(os.path.dirname(path)).lstrip("/"), os.path.basename(place))

        machinery.cache_from_source = cache_from_source
        from _pytest.assertion import rewrite

        elsewhere = rewrite.get_cache_dir

        def get_cache_dir(path):
            if not ours(str(path)):
                return elsewhere(path)
            return type(path)(os.path.join(folder, os.path.abspath(str(path.parent)).lstrip("/")))

        rewrite.get_cache_dir = get_cache_dir
        sys.dont_write_bytecode = False
    except Exception:
        sys.dont_write_bytecode = True
