# Which way conditions and loops go. Follows worker.py.
class Sides:
    """The code of a run is rewritten so that what is watched notes its truth, or its rounds."""

    def __init__(self):
        self.taken = set()

    def watching(self, request, space):
        """The code of a request; as it is when nothing is to be watched."""
        if not request.get("branches"):
            return request["code"]
        import ast

        places = {tuple(place): index for index, place in enumerate(request["branches"])}
        space["__side__"], space["__rounds__"] = self.side, self.rounds
        return ast.fix_missing_locations(watcher(places).visit(ast.parse(request["code"])))

    def side(self, place, value):
        truth = bool(value)
        self.taken.add((place, truth))
        return truth

    def rounds(self, place, items):
        for item in items:
            self.taken.add((place, True))
            yield item
        self.taken.add((place, False))


def watcher(places):
    """Writes calls around conditions and loops. Made when it is needed, for most runs watch nothing."""
    import ast

    class Watcher(ast.NodeTransformer):
        def around(self, node, name):
            place = places.get((node.lineno, node.col_offset))
            if place is None:
                return node
            called = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(place), node], [])
            return ast.copy_location(called, node)

        def test(self, node):
            self.generic_visit(node)
            node.test = self.around(node.test, "__side__")
            return node

        visit_If = visit_While = visit_IfExp = visit_Assert = test

        def visit_For(self, node):
            self.generic_visit(node)
            node.iter = self.around(node.iter, "__rounds__")
            return node

        def visit_comprehension(self, node):
            self.generic_visit(node)
            node.ifs = [self.around(test, "__side__") for test in node.ifs]
            return node

        def visit_match_case(self, node):
            self.generic_visit(node)
            if node.guard is not None:
                node.guard = self.around(node.guard, "__side__")
            return node

    return Watcher()
