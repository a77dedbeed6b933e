"""The line that makes the targets of a loss: from its argument back through names, functions, loaders and data sets."""

from __future__ import annotations

import ast

from netmend.diagnose.measures.batches import training_loader
from netmend.library.operations import COPIES, MOVES, RESHAPES
from netmend.localise.case import Case
from netmend.program.text.queries import Function, last_name, own_nodes, site_of
from netmend.vocabulary import Site

_MOST_HOPS = 24
_SAME = (*RESHAPES, *COPIES, *MOVES, "long", "t", "transpose", "squeeze")
_HANDING_ON = ("enumerate", "tqdm", "iter", "next", "list", "zip", "DataLoader")
_NAMES = ("target", "targets")


def target_line(case: Case) -> Site | None:
    """The expression that the targets are cut from; None where it cannot be followed."""
    for loss in case.trace.losses:
        if loss.called is None or (loss.backward is None and not loss.operands):
            continue
        call = case.sources.call_at(loss.called)
        given = None
        if call is not None:
            named = (case.sources.argument(call, name) for name in _NAMES)
            given = next((value for value in named if value is not None), None)
            given = given or (call.args[1] if len(call.args) > 1 else None)
        if given is not None:
            found = _Following(case, loss.called.file).follow(given, 0)
            if found is not None:
                return found
    return None


class _Following:
    def __init__(self, case: Case, file: str) -> None:
        self._case, self._sources, self._file = case, case.sources, file

    def follow(self, value: ast.expr, hops: int, index: int | None = None) -> Site | None:
        """`index`: the wanted element, where the value is several."""
        if hops > _MOST_HOPS:
            return None
        if isinstance(value, ast.Tuple) and index is not None and index < len(value.elts):
            return self.follow(value.elts[index], hops + 1)
        if isinstance(value, ast.Name):
            return self._name(value, hops, index)
        if isinstance(value, ast.Attribute) and value.attr in ("T", "mT"):
            return self.follow(value.value, hops + 1, index)
        if isinstance(value, ast.Call):
            return self._call(value, hops, index)
        if isinstance(value, ast.ListComp) and len(value.generators) == 1:  # each part moved to a device
            return self.follow(value.generators[0].iter, hops + 1, index)
        if isinstance(value, ast.Attribute) and index is not None:
            return self._of_dataset(hops, index) or self._here(value)
        return self._here(value)

    def _of_dataset(self, hops: int, index: int) -> Site | None:
        """What an attribute holds is not followed; the loaders say which class of data set samples come from."""
        trained = training_loader(self._case.trace)
        loaders = (trained,) if trained is not None else self._case.trace.loaders
        names = {loader.dataset for loader in loaders}
        for file in self._sources.files(near=self._file) if len(names) == 1 else ():
            for node in self._sources.nodes(file):
                if isinstance(node, ast.ClassDef) and node.name in names:
                    methods = (part for part in node.body if isinstance(part, Function))
                    method = next((part for part in methods if part.name == "__getitem__"), None)
                    return self._result(file, method, hops, index) if method is not None else None
        return None

    def _here(self, value: ast.expr) -> Site:
        return site_of(self._file, value)

    def _call(self, call: ast.Call, hops: int, index: int | None) -> Site | None:
        name = last_name(call.func)
        if isinstance(call.func, ast.Attribute) and name in _SAME:
            return self.follow(call.func.value, hops + 1, index)
        if name in _HANDING_ON and call.args:
            if name == "zip" and index is not None and index < len(call.args):
                return self.follow(call.args[index], hops + 1)
            return self.follow(call.args[0], hops + 1, index)
        if name == "TensorDataset" and index is not None and index < len(call.args):
            return self.follow(call.args[index], hops + 1)
        for file in self._sources.files(near=self._file):
            for node in self._sources.nodes(file):
                if isinstance(node, Function) and node.name == name:
                    return self._result(file, node, hops, index)
                if isinstance(node, ast.ClassDef) and node.name == name:
                    methods = {m.name: m for m in node.body if isinstance(m, Function)}
                    for method in ("__getitem__", "__iter__"):
                        if method in methods:
                            return self._result(file, methods[method], hops, index)
        return self._here(call)

    def _result(self, file: str, function: Function, hops: int, index: int | None) -> Site | None:
        """What a function of the program returns or yields last."""
        results = [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Return | ast.Yield) and node.value is not None
        ]
        if not results:
            return None
        self._file, before = file, self._file
        found = self.follow(results[-1], hops + 1, index)
        self._file = before
        return found

    def _name(self, name: ast.Name, hops: int, index: int | None) -> Site | None:
        function = self._sources.function_around(Site(self._file, name.lineno))
        for scope in self._sources.scopes_around(Site(self._file, name.lineno)):
            bound = _binding(scope, name, inside=scope is function)
            if bound is not None:
                value, at = bound
                return self.follow(value, hops + 1, index if at is None else at)
            if isinstance(scope, Function):
                given = self._given(scope, name.id)
                if given is not None:
                    file, value = given
                    self._file, before = file, self._file
                    found = self.follow(value, hops + 1, index)
                    self._file = before
                    return found
        return None

    def _given(self, function: Function, name: str) -> tuple[str, ast.expr] | None:
        """What a call in the program hands over for a parameter of a function; a model is called by any name."""
        names = [argument.arg for argument in function.args.args]
        if name not in names:
            return None
        position = names.index(name) - self._is_method(function)
        if function.name == "forward":
            for model in self._case.trace.models:
                call = self._sources.call_at(model.called) if model.called is not None else None
                value = None if call is None else self._sources.argument(call, name, position)
                if value is not None and model.called is not None:
                    return model.called.file, value
        for file in self._sources.files(near=self._file):
            for call in self._sources.calls_named(file, function.name):
                value = self._sources.argument(call, name, position)
                if value is not None:
                    return file, value
        return None

    def _is_method(self, function: Function) -> bool:
        """Whether its first parameter is the object itself, by whatever name."""
        classes = (node for node in self._sources.nodes(self._file) if isinstance(node, ast.ClassDef))
        return any(function in node.body for node in classes)


def _binding(
    scope: ast.Module | Function, name: ast.Name, inside: bool
) -> tuple[ast.expr, int | None] | None:
    """The last value that a name is given before it is read, and which element of it."""
    found: tuple[int, ast.expr, int | None] | None = None
    for node in own_nodes(scope):
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, node.iter)]
        for target, value in pairs:
            line = value.lineno
            if (inside and line > name.lineno) or any(part is name for part in ast.walk(value)):
                continue
            at = _element(target, name.id)
            if at is not False and (found is None or line >= found[0]):
                found = (line, value, None if at is True else at)
    if found is None:
        return None
    _, given, place = found
    if isinstance(given, ast.Tuple) and place is not None and place < len(given.elts):
        return given.elts[place], None
    return given, place


def _element(target: ast.expr, name: str) -> int | bool:
    """Where a name stands in what is assigned to: True when it is all of it. Of nested tuples the innermost counts."""
    if isinstance(target, ast.Name):
        return target.id == name
    if isinstance(target, ast.Tuple | ast.List):
        for index, part in enumerate(target.elts):
            inner = _element(part, name)
            if inner is not False:
                return index if inner is True else inner
    return False
