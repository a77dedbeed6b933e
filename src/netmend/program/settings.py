"""Where a value was set: from the argument of a call back to the literal, constant, default or configuration key."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from netmend.program.engine.values import Name, Param, Value, options
from netmend.program.of_run import program_of
from netmend.program.text.queries import Function, arguments_of, assignments, elements_of, last_name, site_of
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


def _follow(sources: Sources, file: str, written: ast.expr, hops: int) -> Site | None:
    """Where the program sets what it has at an expression; None where that is several places, or cannot be told."""
    if hops > _MOST_HOPS:
        return None
    if isinstance(written, ast.Call) and written.args and last_name(written.func) in ("float", "int"):
        return _follow(sources, file, written.args[0], hops + 1)
    if not isinstance(written, ast.Name | ast.Attribute | ast.Subscript):
        return _by_name(sources, file, written, hops) or site_of(file, written)
    again = _set_again(sources, file, written)
    if again is not None:
        return site_of(file, again)
    values = program_of(sources).values(file, written)
    found = {_set_at(sources, written, option, hops) for value in values for option in options(value)}
    places = found - {None}
    if len(places) == 1:
        return places.pop()
    return None if places else _by_name(sources, file, written, hops)


def _set_again(sources: Sources, file: str, written: ast.expr) -> ast.expr | None:
    """What a variable holds that a loop sets anew, for a use in the loop or behind it: a number or text that the loop gives, else no more than the use."""
    whole = sources.file(file)
    if whole is None or not isinstance(written, ast.Name):
        return None
    made = assignments(sources.function_around(site_of(file, written)) or whole.tree, written.id)
    loop = whole.loop(made[-1]) if len(made) > 1 else None
    in_reach = loop is not None and loop.lineno <= written.lineno
    if not in_reach:
        return None
    return made[-1].value if isinstance(made[-1].value, ast.Constant) else written


def _set_at(sources: Sources, written: ast.expr, value: Value, hops: int) -> Site | None:
    """Where a value was made; for a parameter that nothing is given for, its default."""
    program = program_of(sources)
    if isinstance(value, Param):
        return program.site(value.default.node) if value.default is not None else None
    file = program.file_of(value.node)
    if (
        file is not None and value.node is not None and isinstance(value, Name)
    ):  # of a library: not followed further
        in_table = isinstance(next(iter(file.parents(value.node)), None), ast.Dict)
        return _looked_up(sources, file.file, written) if in_table else program.site(value.node)
    if file is None or not isinstance(value.node, ast.expr) or value.node is written:
        return None
    return _follow(sources, file.file, value.node, hops + 1)


def _looked_up(sources: Sources, file: str, written: ast.expr) -> Site | None:
    """Of a variable that was looked up in a table: where that is done, since the key is what was chosen."""
    if not isinstance(written, ast.Name):
        return None
    made = assignments(sources.function_around(site_of(file, written)), written.id, before=written.lineno)
    return site_of(file, made[-1].value) if made else None


def _by_name(sources: Sources, file: str, node: ast.expr, hops: int) -> Site | None:
    """What the text says where the program does not: constants, options, fields and configuration files of that name."""
    if isinstance(node, ast.Name):
        function = sources.function_around(site_of(file, node))
        if function is not None and node.id in arguments_of(function):
            return _parameter(sources, file, function, node.id, hops)
        tree = sources.tree(file)
        made = [part for part in assignments(tree, node.id) if tree is not None and part in tree.body]
        return _follow(sources, file, made[-1].value, hops + 1) if made else None
    if isinstance(node, ast.Attribute):
        held = _held(sources, file, node)
        return _follow(sources, file, held, hops + 1) if held else _attribute(sources, file, node.attr)
    key: ast.expr | None = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(node, ast.Call) and node.args and last_name(node.func) == "get":
        key = node.args[0]
    return _key(sources, file, str(key.value)) if isinstance(key, ast.Constant) else None


def _parameter(sources: Sources, file: str, function: Function, name: str, hops: int) -> Site | None:
    """What the only call of a function gives for a parameter, else its default: of generators, and of classes that are handed on."""
    positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    place = positional.index(name) - (positional[0] in ("self", "cls")) if name in positional else None
    calls = [
        (other, call)
        for other in sources.files(near=file)
        for call in sources.calls_named(other, function.name)
    ]
    given = [
        (other, value) for other, call in calls if (value := sources.argument(call, name, place)) is not None
    ]
    if given:
        return _follow(sources, *given[0], hops + 1) if len(calls) == 1 else None
    defaults = [None] * (len(positional) - len(function.args.defaults)) + function.args.defaults
    keywords = zip((each.arg for each in function.args.kwonlyargs), function.args.kw_defaults, strict=True)
    default = dict([*zip(positional, defaults, strict=True), *keywords]).get(name)
    return None if default is None else site_of(file, default)


def _held(sources: Sources, file: str, attribute: ast.Attribute) -> ast.expr | None:
    """What the file's methods give to `self.name`, where it is asked for in one that is not gone into."""
    if last_name(attribute.value) != "self" or not isinstance(attribute.value, ast.Name):
        return None
    given: list[ast.expr] = []
    for statement in sources.nodes(file, ast.Assign):
        for target in statement.targets:
            targets, values = elements_of(target), elements_of(statement.value)
            pairs = zip(targets, values, strict=True) if len(targets) == len(values) else ()
            given += [
                value
                for part, value in pairs
                if isinstance(part, ast.Attribute)
                and part.attr == attribute.attr
                and last_name(part.value) == "self"
            ]
    return given[0] if len(given) == 1 else None


def _attribute(sources: Sources, file: str, name: str) -> Site | None:
    """`args.lr`, `config.lr`: an argparse default, a class field, a keyword of a namespace, a configuration key."""
    for other in sources.files(near=file):
        for node in sources.nodes(other):
            found: ast.expr | None = None
            if isinstance(node, ast.Call) and last_name(node.func) == "add_argument":
                if _option(node) == name:
                    if given_option(sources, name):
                        return None  # the default was not used: the value is none of the source's
                    found = sources.argument(node, "default") or node
            elif isinstance(node, ast.ClassDef):
                found = _field(node, name)
            elif isinstance(node, ast.Call) and last_name(node.func) in (
                "SimpleNamespace",
                "Namespace",
                "dict",
            ):
                found = sources.argument(node, name)
            if found is not None:
                return site_of(other, found)
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


def _text(sources: Sources, site: Site) -> str:
    lines = sources.lines(site.file)
    if site.line > len(lines) or site.column is None or site.end_line != site.line:
        return sources.line(site)
    # Columns count bytes of UTF-8, as Python's own do.
    return lines[site.line - 1].encode()[site.column : site.end_column].decode(errors="replace")
