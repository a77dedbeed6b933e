"""Where a value was set: from the argument of a call back to the literal, constant, default or configuration key."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from netmend.program.text.queries import Function, last_name, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

_MOST_HOPS = 8  # a value that is handed on more often than this is not followed
_CONFIGURATION = (".json", ".yaml", ".yml", ".toml", ".ini", ".cfg")


@dataclass(frozen=True)
class Origin:
    """The place a value comes from and its text there; `used` is the argument through which it reached the call."""

    site: Site
    text: str
    used: Site


def argument_origin(
    sources: Sources, call_site: Site | None, name: str, position: int | None = None
) -> Origin | None:
    """Follow one argument of the call at a site; None when the call or the argument cannot be found in the source."""
    if call_site is None:
        return None
    call = sources.call_at(call_site)
    value = None if call is None else sources.argument(call, name, position)
    if value is None:
        return None
    used = site_of(call_site.file, value)
    found = _follow(sources, call_site.file, value, 0) or used
    return Origin(found, _text(sources, found), used)


def value_origin(sources: Sources, file: str, value: ast.expr) -> Site:
    """Where an expression's value was set; the expression itself when it cannot be followed."""
    return _follow(sources, file, value, 0) or site_of(file, value)


def _follow(sources: Sources, file: str, value: ast.expr, hops: int) -> Site | None:
    if hops > _MOST_HOPS:
        return None
    if isinstance(value, ast.Name):
        return _name(sources, file, value, hops)
    if isinstance(value, ast.Attribute):
        return _attribute(sources, file, value.attr, hops)
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
        return _key(sources, file, str(value.slice.value))
    if isinstance(value, ast.Call) and last_name(value.func) in ("get", "float", "int") and value.args:
        first = value.args[0]
        if last_name(value.func) == "get" and isinstance(first, ast.Constant):
            return _key(sources, file, str(first.value)) or site_of(file, value)
        return _follow(sources, file, first, hops + 1)
    return site_of(file, value)


def _name(sources: Sources, file: str, name: ast.Name, hops: int) -> Site | None:
    here = Site(file, name.lineno)
    function = sources.function_around(here)
    if function is not None:
        local = _assigned(function, name.id, before=name.lineno)
        if local is not None:
            return _follow(sources, file, local, hops + 1)
        if any(argument.arg == name.id for argument in _arguments(function)):
            return _parameter(sources, file, function, name.id, hops)
    tree = sources.tree(file)
    if tree is None:
        return None
    value = _assigned(tree, name.id, before=None)
    if value is not None:
        return _follow(sources, file, value, hops + 1)
    return _imported(sources, file, name.id, hops)


def _assigned(scope: ast.Module | Function, name: str, before: int | None) -> ast.expr | None:
    """The last plain assignment to a name in a scope, above a line if one is given."""
    found: ast.expr | None = None
    for node in ast.walk(scope):
        if before is not None and getattr(node, "lineno", 0) >= before:
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found = _matching(target, node.value, name) or found
        elif (
            isinstance(node, ast.AnnAssign | ast.NamedExpr)
            and isinstance(node.target, ast.Name)
            and node.target.id == name
            and node.value is not None
        ):
            found = node.value
    return found


def _matching(target: ast.expr, value: ast.expr, name: str) -> ast.expr | None:
    if isinstance(target, ast.Name):
        return value if target.id == name else None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for part, given in zip(target.elts, value.elts, strict=True):
            if isinstance(part, ast.Name) and part.id == name:
                return given
    return None


def _arguments(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _parameter(sources: Sources, file: str, function: Function, name: str, hops: int) -> Site | None:
    """A parameter's value: what the only call gives for it, else its default."""
    positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    position = positional.index(name) if name in positional else None
    called = function.name
    if called == "__init__":
        position = None if position is None else position - 1
        called = _class_of(sources, file, function) or called
    elif positional[:1] in (["self"], ["cls"]) and position is not None:
        position -= 1
    given: list[tuple[str, ast.expr]] = []
    calls = 0
    for other in sources.files(near=file):
        for call in sources.calls_named(other, called):
            calls += 1
            value = sources.argument(call, name, position)
            if value is not None:
                given.append((other, value))
    if len(given) == 1 and calls == 1:
        return _follow(sources, given[0][0], given[0][1], hops + 1)
    default = _default(function, name)
    if default is not None and not given:
        return site_of(file, default)
    return None


def _default(function: Function, name: str) -> ast.expr | None:
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults = dict(
        zip(
            (a.arg for a in positional[len(positional) - len(function.args.defaults) :]),
            function.args.defaults,
            strict=True,
        )
    )
    keyword = dict(zip((a.arg for a in function.args.kwonlyargs), function.args.kw_defaults, strict=True))
    return defaults.get(name) or keyword.get(name)


def _class_of(sources: Sources, file: str, function: Function) -> str:
    for node in sources.nodes(file, ast.ClassDef):
        if function in node.body:
            return node.name
    return ""


def _attribute(sources: Sources, file: str, name: str, hops: int) -> Site | None:
    """`args.lr`, `config.lr`, `self.lr`: an argparse default, a class field, an assignment, a keyword of a namespace."""
    for other in sources.files(near=file):
        for node in sources.nodes(other):
            if isinstance(node, ast.Call) and last_name(node.func) == "add_argument":
                if _option(node) == name:
                    if given_option(sources, name):
                        return None  # the default was not used: the value is none of the source's
                    default = sources.argument(node, "default")
                    return site_of(other, default if default is not None else node)
            elif isinstance(node, ast.ClassDef):
                field = _field(node, name)
                if field is not None:
                    return site_of(other, field)
            elif isinstance(node, ast.Call) and last_name(node.func) in (
                "SimpleNamespace",
                "Namespace",
                "dict",
            ):
                given = sources.argument(node, name)
                if given is not None:
                    return site_of(other, given)
    for node in sources.nodes(file, ast.Assign):
        for target in node.targets:
            given = _attribute_value(target, node.value, name)
            if given is None or (isinstance(given, ast.Attribute) and given.attr == name):
                continue
            return _follow(sources, file, given, hops + 1)
    return _configured(sources, file, name)


def given_option(sources: Sources, name: str) -> str:
    """The option as it stands on the command line, `--epochs 2`; empty when it was not given."""
    found = ""
    for index, argument in enumerate(sources.arguments):
        flag, equals, _ = argument.partition("=")
        if flag.startswith("-") and flag.lstrip("-").replace("-", "_") == name:
            value = sources.arguments[index + 1 : index + 2]
            found = argument if equals else " ".join((argument, *value))
    return found


def _attribute_value(target: ast.expr, value: ast.expr, name: str) -> ast.expr | None:
    """What an assignment gives to an attribute: `self.lr = x`, `self.epochs, self.lr = n, x`."""
    if isinstance(target, ast.Attribute):
        return value if target.attr == name else None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for part, given in zip(target.elts, value.elts, strict=True):
            if isinstance(part, ast.Attribute) and part.attr == name:
                return given
    return None


def _option(call: ast.Call) -> str:
    """The attribute name that an add_argument call stores to."""
    for keyword in call.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    names = [str(argument.value) for argument in call.args if isinstance(argument, ast.Constant)]
    long = [name for name in names if name.startswith("--")] or names
    return long[0].lstrip("-").replace("-", "_") if long else ""


def _field(node: ast.ClassDef, name: str) -> ast.expr | None:
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if statement.target.id == name and statement.value is not None:
                return statement.value
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    return statement.value
    return None


def _key(sources: Sources, file: str, key: str) -> Site | None:
    """`config["lr"]`: a dictionary literal or a configuration file that holds the key."""
    for other in sources.files(near=file):
        for node in sources.nodes(other):
            if isinstance(node, ast.Dict):
                for name, value in zip(node.keys, node.values, strict=True):
                    if isinstance(name, ast.Constant) and name.value == key:
                        return site_of(other, value)
            elif isinstance(node, ast.Call) and last_name(node.func) == "dict":
                given = sources.argument(node, key)
                if given is not None:
                    return site_of(other, given)
    return _configured(sources, file, key)


def _configured(sources: Sources, file: str, key: str) -> Site | None:
    folder = sources.path(file).parent
    pattern = re.compile(rf"""^\s*["']?{re.escape(key)}["']?\s*[:=]|["']{re.escape(key)}["']\s*:""")
    there = [
        path
        for path in sorted(folder.glob("*")) + sorted(folder.glob("conf*/*"))
        if path.suffix in _CONFIGURATION and path.is_file()
    ]
    # A file that the program names is read by it; any other may just lie there.
    texts = ["\n".join(sources.lines(other)) for other in sources.files(near=file)]
    for path in sorted(there, key=lambda path: not any(path.stem in text for text in texts)):
        for number, line in enumerate(sources.lines(str(path)), start=1):
            if pattern.search(line):
                return Site(str(path), number, 0, number, len(line))
    return None


def _imported(sources: Sources, file: str, name: str, hops: int) -> Site | None:
    for node in sources.nodes(file, ast.ImportFrom):
        if node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    ending = node.module.replace(".", "/") + ".py"
                    for other in sources.files(near=file):
                        tree = sources.tree(other) if other.replace("\\", "/").endswith(ending) else None
                        value = None if tree is None else _assigned(tree, alias.name, before=None)
                        if value is not None:
                            return _follow(sources, other, value, hops + 1)
    return None


def _text(sources: Sources, site: Site) -> str:
    lines = sources.lines(site.file)
    if site.line > len(lines) or site.column is None or site.end_line != site.line:
        return sources.line(site)
    # Columns count bytes of UTF-8, as Python's own do.
    return lines[site.line - 1].encode()[site.column : site.end_column].decode(errors="replace")
