"""The parts of a source text: definitions, names, strings, calls, imports. By syntax tree, or by patterns where none can be had."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field

_MOST_STRINGS = 2_000
_CLASS_HEAD = 60  # lines of a class that are read as its head: docstring and attributes


@dataclass
class Outline:
    classes: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)  # names assigned at the top of the module
    variables: list[str] = field(default_factory=list)
    docstrings: list[str] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    # qualified name, kind, first line, last line, last line of the head
    definitions: list[tuple[str, str, int, int, int]] = field(default_factory=list)


def outline_by_syntax(text: str) -> Outline | None:
    """The outline by Python's own parser, or None where the text is not today's Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # doubtful escapes in foreign code are not ours to report
            tree = ast.parse(text)
        outline = Outline()
        _visit_body(tree, "", False, outline)
        _visit_expressions(tree, outline)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return outline


def _visit_body(node: ast.AST, prefix: str, in_class: bool, outline: Outline) -> None:
    """Definitions with their qualified names, and docstrings."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            is_class = isinstance(child, ast.ClassDef)
            name = f"{prefix}{child.name}"
            first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
            end = child.end_lineno or child.lineno
            head = end
            if is_class:
                inner = [
                    b.lineno for b in child.body if isinstance(b, (ast.FunctionDef, ast.AsyncFunctionDef))
                ]
                head = min([end, first + _CLASS_HEAD, *(line - 1 for line in inner)])
            kind = "class" if is_class else "method" if in_class else "function"
            outline.definitions.append((name, kind, first, end, max(head, first)))
            (outline.classes if is_class else outline.functions).append(child.name)
            _visit_body(child, f"{name}.", is_class, outline)
        elif isinstance(child, (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler)):
            _visit_body(child, prefix, in_class, outline)
        elif prefix == "" and isinstance(child, (ast.Assign, ast.AnnAssign)):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            outline.constants.extend(target.id for target in targets if isinstance(target, ast.Name))


def _visit_expressions(tree: ast.AST, outline: Outline) -> None:
    """Names, strings, calls and imports. One loop over a list: visitors of `ast` would take twice the time."""
    strings, variables, calls = outline.strings, outline.variables, outline.calls
    waiting: list[ast.AST] = [tree]
    docstrings: set[int] = set()
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Store:  # type: ignore[attr-defined]
                variables.append(node.id)  # type: ignore[attr-defined]
            continue
        if kind is ast.Constant:
            value = node.value  # type: ignore[attr-defined]
            if type(value) is str and id(node) not in docstrings and len(strings) < _MOST_STRINGS:
                strings.append(value)
            continue
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            told = first.value if isinstance(first, ast.Expr) else None
            if isinstance(told, ast.Constant) and type(told.value) is str:
                docstrings.add(id(told))
                outline.docstrings.append(told.value)
        elif isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name):
                calls.append(called.id)
            elif isinstance(called, ast.Attribute):
                calls.append(called.attr)
            variables.extend(keyword.arg for keyword in node.keywords if keyword.arg)
        elif isinstance(node, ast.Attribute):
            if type(node.ctx) is ast.Store:
                variables.append(node.attr)
        elif isinstance(node, ast.arg):
            variables.append(node.arg)
        elif isinstance(node, ast.Import):
            outline.imports.extend(alias.name for alias in node.names)
            continue
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            outline.imports.extend(f"{module}:{alias.name}" for alias in node.names)
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                waiting.extend(item for item in value if isinstance(item, ast.AST))
            elif isinstance(value, ast.AST) and name not in ("ctx", "op"):
                waiting.append(value)


_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+)?(class|def)[ \t]+(\w+)", re.MULTILINE)
_STRING = re.compile(
    r"""(?:[rRbBuUfF]{0,2})("{3}(?:[^\\]|\\.){0,4000}?"{3}|'{3}(?:[^\\]|\\.){0,4000}?'{3}|"(?:[^"\\\n]|\\.){0,2000}"|'(?:[^'\\\n]|\\.){0,2000}')""",
    re.DOTALL,
)
_CALL = re.compile(r"(\w+)[ \t]*\(")
_ASSIGNED = re.compile(r"(\w+)[ \t]*=(?!=)")
_TOP_ASSIGNED = re.compile(r"^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
_IMPORT_FROM = re.compile(
    r"^[ \t]*from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(\([^()]*\)|[\w, \t]+)", re.MULTILINE
)


def outline_by_patterns(text: str) -> Outline:
    """A rougher outline of text that does not parse: Python 2, unfinished or cut files."""
    outline = Outline(
        calls=_CALL.findall(text),
        variables=_ASSIGNED.findall(text),
        constants=_TOP_ASSIGNED.findall(text),
    )
    for string in _STRING.findall(text)[:_MOST_STRINGS]:
        triple = string[:3] in ('"""', "'''")
        (outline.docstrings if triple else outline.strings).append(string.strip("\"'"))
    for names in _IMPORT.findall(text):
        outline.imports.extend(name.split()[0] for name in names.split(",") if name.split())
    for module, names in _IMPORT_FROM.findall(text):
        outline.imports.extend(
            f"{module}:{name.split()[0]}" for name in names.strip("()").split(",") if name.split()
        )
    _definitions_by_indentation(text, outline)
    return outline


def _definitions_by_indentation(text: str, outline: Outline) -> None:
    lines = text.split("\n")
    open_ones: list[tuple[int, str, str, int, int]] = []  # indentation, name, kind, line, number

    def close(down_to: int, last: int) -> None:
        while open_ones and open_ones[-1][0] >= down_to:
            _, name, kind, line, number = open_ones.pop()
            head = min(last, line + _CLASS_HEAD) if kind == "class" else last
            outline.definitions[number] = (name, kind, line, max(last, line), max(head, line))

    last_code = 0
    for number, text_line in enumerate(lines, 1):
        stripped = text_line.lstrip()
        if not stripped or stripped[0] in "#)]}":
            continue
        indentation = len(text_line.expandtabs(8)) - len(stripped.expandtabs(8))
        found = _DEFINITION.match(text_line)
        if found:
            close(indentation, last_code)
            is_class = found.group(2) == "class"
            in_class = bool(open_ones) and open_ones[-1][2] == "class"
            name = f"{open_ones[-1][1]}.{found.group(3)}" if open_ones else found.group(3)
            kind = "class" if is_class else "method" if in_class else "function"
            open_ones.append((indentation, name, kind, number, len(outline.definitions)))
            outline.definitions.append((name, kind, number, number, number))
            (outline.classes if is_class else outline.functions).append(found.group(3))
        elif open_ones and indentation <= open_ones[-1][0] and re.match(r"[\w@]", stripped):
            close(indentation, last_code)
        last_code = number
    close(0, last_code)
