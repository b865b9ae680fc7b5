"""What a worker has ready before it is asked: pytest, its plugins, and what a run would import on the way."""

import importlib.util
import os
import sys

# pytest imports these only when it is configured, so until then a conftest can still find modules of these names elsewhere.
LATE = ("cmd", "code", "codeop", "pdb")
HELD = {}


class NoConfig:
    """As much of a pytest configuration as importing a plugin through the rewriting hook needs."""

    def __init__(self):
        self.stash = self._store = self

    def __getitem__(self, key):
        return self

    def getini(self, name):
        return ["test_*.py", "*_test.py"] if name == "python_files" else False

    def trace(self, message):
        pass

    def issue_config_time_warning(self, warning, stacklevel):
        pass


def preload():
    """Imports pytest's own plugins, the installed ones, and what a session imports late."""
    from _pytest.config import get_config

    get_config([])._ensure_unconfigure()
    if not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        import_installed_plugins()
    remember_version()
    late = [name for name in LATE if name not in sys.modules]
    for name in late:
        __import__(name)
    for name in late:
        HELD[name] = sys.modules.pop(name)


def bring_late_modules():
    """Puts back what was held, when a fresh process would import the very same now."""
    if any(name in sys.modules for name in HELD):
        return
    for name, module in HELD.items():
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin != getattr(module, "__file__", None):
            return
    sys.modules.update(HELD)


def import_installed_plugins():
    """Through the rewriting hook, as pytest itself would."""
    from _pytest.assertion.rewrite import AssertionRewritingHook
    from _pytest.config import _iter_rewritable_modules

    try:
        from importlib.metadata import distributions
    except ImportError:
        return
    found = [(d, [p for p in d.entry_points if p.group == "pytest11"]) for d in distributions()]
    found = [(distribution, points) for distribution, points in found if points]
    hook = AssertionRewritingHook(NoConfig())
    for name in _iter_rewritable_modules(str(file) for distribution, _ in found for file in distribution.files or []):
        hook.mark_rewrite(name)
    sys.meta_path.insert(0, hook)
    try:
        for _, points in found:
            for point in points:
                __import__(point.value.partition(":")[0].strip())
    finally:
        sys.meta_path.remove(hook)


def remember_version():
    """pluggy looks its version up on disk each time it is asked; a session asks once."""
    import pluggy

    pluggy.__version__ = pluggy.__version__


def prepare_config():
    """Makes the part of pytest's configuration that does not depend on what is asked for: its own plugins, registered.
    The next session takes it, once."""
    from _pytest import config as machinery

    usual = machinery.get_config
    code = usual.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    more = {"prog": "pytest.main()"} if "prog" in names else {}
    prepared = usual(None, None, **more)

    def get_config(args=None, plugins=None, **given):
        machinery.get_config = usual
        # Which plugins to leave out is decided before any is registered.
        if given != more or any(argument.startswith("-p") for argument in args or ()):
            return usual(args, plugins, **given)
        here = type(prepared.invocation_params.dir).cwd()
        prepared.invocation_params = machinery.Config.InvocationParams(args=args or (), plugins=plugins, dir=here)
        return prepared

    machinery.get_config = get_config
