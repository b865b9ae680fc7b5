# Handed to the interpreter with -c: `HOME VERB …`. Makes the package in HOME importable, without a trace on the search path
# and under names that no file has, so that it is not taken for a part of the project. Compiled once per interpreter.
import marshal
import os
import sys
from importlib import machinery


def compiled(home):
    cache = os.path.join(home, "%x.code" % sys.hexversion)
    try:
        with open(cache, "rb") as file:
            return marshal.load(file)
    except (OSError, ValueError, EOFError, TypeError):
        pass
    codes = {}
    for name in os.listdir(os.path.join(home, "failwell_inside")):
        with open(os.path.join(home, "failwell_inside", name), encoding="utf-8") as file:
            codes["failwell_inside." + name[:-3]] = compile(file.read(), "<failwell>/" + name, "exec")
    codes["failwell_inside"] = codes.pop("failwell_inside.__init__")
    try:
        with open("%s.%d" % (cache, os.getpid()), "wb") as file:
            marshal.dump(codes, file)
        os.replace(file.name, cache)
    except OSError:
        pass
    return codes


class Package:
    def __init__(self, home):
        self.codes = compiled(home)

    def find_spec(self, name, path=None, target=None):
        if name in self.codes:
            return machinery.ModuleSpec(name, self, is_package=name == "failwell_inside")

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.codes[module.__name__], module.__dict__)


path = sys.path[:]
sys.path[:] = [place for place in path if place]
sys.meta_path.insert(0, Package(sys.argv.pop(1)))
from failwell_inside import boot  # noqa: E402

if sys.argv[1] == "serve":
    from failwell_inside import serve  # noqa: F401

del sys.meta_path[0]
sys.path[:] = path
boot.main()
