"""Whether what a worker has in memory still is what a fresh process would load."""

import glob
import os
import sys
import sysconfig

OURS = __name__.partition(".")[0]


class LoadedModules:
    """What is in memory, with the age of the files it came from."""

    def __init__(self, root):
        inside, prefix = os.path.join(root, ""), os.path.join(sys.prefix, "")
        self.files, self.names, self.own = {}, set(), False
        # Where a fresh process would look first: the project, and what the search path has of it.
        self.searched = [root]
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == OURS:
                continue
            self.names.add(name.partition(".")[0])
            path = getattr(module, "__file__", None)
            if path and os.path.exists(path):
                self.own = self.own or (path.startswith(inside) and not path.startswith(prefix))
                if not is_standard(path):
                    self.files[path] = os.stat(path).st_mtime_ns
        for folder in map(os.path.abspath, sys.path):
            if folder.startswith(inside) and not folder.startswith(prefix):
                self.searched.append(folder)
            elif os.path.isdir(folder):
                self.files[folder] = os.stat(folder).st_mtime_ns
        for path in (sys.executable, os.path.realpath(sys.executable)):
            self.files[path] = os.stat(path).st_mtime_ns
        self.paths = self.path_files()

    def path_files(self):
        found = {}
        for folder in sys.path:
            for path in glob.glob(os.path.join(glob.escape(folder), "*.pth")):
                found[path] = os.stat(path).st_mtime_ns
        return found

    def objection(self):
        """Why this must not be used, or nothing."""
        if self.own:
            return "the project is loaded already"
        try:
            for path, then in self.files.items():
                if os.stat(path).st_mtime_ns != then:
                    return "something installed has changed"
            if self.path_files() != self.paths:
                return "the search path has changed"
            for folder in self.searched:
                if os.path.isdir(folder) and any(self.is_shadowed(folder, entry) for entry in os.listdir(folder)):
                    return "the project has a module of the same name as one that is loaded"
            if len(os.listdir("/proc/self/task")) != 1:
                return "a thread is running"
        except OSError:
            return "something installed has changed"
        return None

    def is_shadowed(self, folder, entry):
        if entry.partition(".")[0] not in self.names:
            return False
        return entry.endswith((".py", ".so")) or os.path.exists(os.path.join(folder, entry, "__init__.py"))


def is_standard(path):
    """The interpreter's own library changes with the interpreter; its folder and the program are watched."""
    library = os.path.join(sysconfig.get_path("stdlib"), "")
    rest = path[len(library) :] if path.startswith(library) else "site-packages"
    return not rest.startswith(("site-packages", "dist-packages"))
