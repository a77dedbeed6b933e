"""Edits that rules build: what the source looks like afterwards."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from netmend.check.fix import apply
from netmend.program.text import edits
from netmend.program.text.positions import lines_of
from netmend.vocabulary.finding import SAFE, Edit, Finding, Fix


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class Program:
    """A source text with its tree, as the edits need it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.file = "train.py"
        self.tree = ast.parse(text)
        self._parents = {
            child: parent for parent in ast.walk(self.tree) for child in ast.iter_child_nodes(parent)
        }

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def place(self, node: ast.AST) -> Place:
        lines = lines_of(self.text)

        def characters(line: int, column: int) -> int:
            return len(lines.content(line).encode()[:column].decode())

        return Place(
            self.file,
            node.lineno,  # type: ignore[attr-defined]
            characters(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            node.end_lineno,  # type: ignore[attr-defined]
            characters(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def the(self, source: str) -> ast.AST:
        """The outermost node whose text this is."""
        return next(
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.expr) and ast.get_source_segment(self.text, node) == source
        )

    def call(self, function: str) -> ast.Call:
        return next(
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == function
        )


def after(text: str, made: tuple[Edit, ...]) -> str:
    """The text with the edits in it; as it was when there are none or they were refused."""
    finding = Finding("S1", "", "", "train.py", 1, 0, 1, 0, Fix("", made, SAFE))
    return apply(text, [finding], unsafe=False)[0]


def argument(text: str, source: str, function: str = "f") -> str:
    program = Program(text)
    call = program.call(function)
    found = next(
        part for part in (*call.args, *call.keywords) if ast.get_source_segment(text, part) == source
    )
    return after(text, edits.delete_argument(program, call, found))


@pytest.mark.parametrize(
    ("text", "source", "wanted"),
    [
        ("f(a)", "a", "f()"),
        ("f(a,)", "a", "f()"),
        ("f( a )", "a", "f()"),
        ("f(a, b)", "a", "f(b)"),
        ("f(a, b)", "b", "f(a)"),
        ("f(a, b,)", "b", "f(a,)"),
        ("f(a, b, c)", "b", "f(a, c)"),
        ("f(a,b,c)", "b", "f(a,c)"),
        ("f(a , b , c)", "b", "f(a , c)"),
        ("f((a), (b))", "b", "f((a))"),
        ("f(((a)), b)", "a", "f(b)"),
        ("f(a, dim=1)", "dim=1", "f(a)"),
        ("f(a, dim=(1))", "dim=(1)", "f(a)"),
        ("f(dim=1, keepdim=True)", "dim=1", "f(keepdim=True)"),
        ("f(a, *rest)", "*rest", "f(a)"),
        ("f(a, **options)", "**options", "f(a)"),
        ("f(lambda p, q: p, b)", "b", "f(lambda p, q: p)"),
        ("f(lambda p, q: p, b)", "lambda p, q: p", "f(b)"),
        ("f(g(1, 2), [3, 4], {5: 6}, b)", "[3, 4]", "f(g(1, 2), {5: 6}, b)"),
        ("f('a, b', \"c)\", d)", '"c)"', "f('a, b', d)"),
        ("f(äöü, 'ß', b)", "'ß'", "f(äöü, b)"),
        ("(f)(a, b)", "b", "(f)(a)"),
        ("f(a, \\\n  b)", "a", "f(b)"),
        ("f(a, \\\n  b)", "b", "f(a)"),
        ("f(\n\ta,\n\tb,\n)", "a", "f(\n\tb,\n)"),
        ("f(\n\ta,\n\tb,\n)", "b", "f(\n\ta,\n)"),
        ("f(\n    a,\n    b\n)", "b", "f(\n    a\n)"),
        ("f(\n    a,\n)", "a", "f()"),
        ("f(a, b,\n  c)", "b", "f(a,\n  c)"),
        ("f(a, b,\n  c)", "a", "f(b,\n  c)"),
        ("f(\r\n    a,\r\n    b,\r\n)", "a", "f(\r\n    b,\r\n)"),
    ],
)
def test_an_argument_goes_with_its_comma_and_blanks(text: str, source: str, wanted: str) -> None:
    assert argument(text, source) == wanted


@pytest.mark.parametrize(
    ("text", "source", "wanted"),
    [
        ("f(\n    a,  # why a\n    b,\n)", "a", "f(\n    # why a\n    b,\n)"),
        ("f(\n    a,\n    b,  # why b\n)", "b", "f(\n    a,\n    # why b\n)"),
        ("f(\n    a,\n    b  # why b\n)", "b", "f(\n    a,\n    # why b\n)"),
        ("f(\n    a,\n    # about b\n    b,\n)", "a", "f(\n    # about b\n    b,\n)"),
        ("f(\n    a,  # one\n    b,\n)", "b", "f(\n    a,  # one\n)"),
        ("f(a,  # one\n  b)", "b", "f(a,  # one\n  )"),
        ("f(a,  # one\n  b)", "a", "f(# one\n  b)"),
        ("f(a, b,  # both\n  c)", "b", "f(a,  # both\n  c)"),
        ("f(a  # why\n)", "a", "f(# why\n)"),
        ("f(  # head\n    a,\n)", "a", "f(  # head\n)"),
        ("f(a,\n    # tail\n)", "a", "f(\n    # tail\n)"),
    ],
)
def test_comments_stay_when_an_argument_goes(text: str, source: str, wanted: str) -> None:
    assert argument(text, source) == wanted


def test_a_generator_that_shares_the_brackets_of_the_call_is_left() -> None:
    text = "f(x for x, y in z)"
    assert argument(text, "(x for x, y in z)") == text


def element(text: str, source: str) -> str:
    program = Program(text)
    whole = next(node for node in ast.walk(program.tree) if isinstance(node, (ast.List, ast.Tuple, ast.Set)))
    found = next(part for part in whole.elts if ast.get_source_segment(text, part) == source)
    return after(text, edits.delete_list_element(program, whole, found))


@pytest.mark.parametrize(
    ("text", "source", "wanted"),
    [
        ("x = [a, b]", "b", "x = [a]"),
        ("x = [a]", "a", "x = []"),
        ("x = [\n    a,\n    b,\n]", "a", "x = [\n    b,\n]"),
        ("x = (a, b)", "b", "x = (a,)"),
        ("x = (a, b)", "a", "x = (b,)"),
        ("x = (a, b,)", "a", "x = (b,)"),
        ("x = (a, b, c)", "c", "x = (a, b)"),
        ("x = a, b", "a", "x = b,"),
        ("x = a, b", "b", "x = a,"),
        ("x = (a), b, (c)", "c", "x = (a), b"),
        ("x = (a), (b)", "b", "x = (a),"),
        ("x = {a, b}", "a", "x = {b}"),
        ("x = {a}", "a", "x = {a}"),
        ("x = (a,)", "a", "x = (a,)"),
    ],
)
def test_an_element_goes_and_the_kind_stays(text: str, source: str, wanted: str) -> None:
    assert element(text, source) == wanted


def changed(make: Callable[..., tuple[Edit, ...]], text: str, source: str, *more: str) -> str:
    program = Program(text)
    return after(text, make(program, program.the(source), *more))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a()\nb()\nc()\n", "a()\nc()\n"),
        ("a()\nb()\n", "a()\n"),
        ("a()\nb()", "a()"),
        ("b()\n", ""),
        ("a(); b(); c()\n", "a(); c()\n"),
        ("a(); b()\n", "a()\n"),
        ("a(); b();\n", "a();\n"),
        ("b(); a()\n", "a()\n"),
        ("b();\na()\n", "a()\n"),
        ("if x:\n    b()\n", "if x:\n    pass\n"),
        ("if x: b()\n", "if x: pass\n"),
        ("if x: a(); b()\n", "if x: a()\n"),
        ("if x: b(); a()\n", "if x: a()\n"),
        ("if x:\n\ta()\n\tb()\n", "if x:\n\ta()\n"),
        ("if x:\n    a()\nelse:\n    b()\n", "if x:\n    a()\nelse:\n    pass\n"),
        ("if x:\n    a()\n    b()  # why\n", "if x:\n    a()\n    # why\n"),
        ("if x:\n    b()  # why\n", "if x:\n    pass  # why\n"),
        ("a()\r\nb()\r\nc()\r\n", "a()\r\nc()\r\n"),
        ("try:\n    b()\nexcept E:\n    a()\n", "try:\n    pass\nexcept E:\n    a()\n"),
        ("match x:\n    case 1:\n        b()\n", "match x:\n    case 1:\n        pass\n"),
        ("a(); \\\nb()\n", "a(); \\\nb()\n"),
    ],
)
def test_a_statement_goes_with_its_line(text: str, wanted: str) -> None:
    program = Program(text)
    statement = next(
        node for node in ast.walk(program.tree) if isinstance(node, ast.Expr) and ast.unparse(node) == "b()"
    )
    assert after(text, edits.delete_statement(program, statement)) == wanted


def test_statements_of_several_lines_and_with_decorators_go_whole() -> None:
    text = "a()\n@one\n@two(\n    3)\ndef b():\n    return 1\nc()\n"
    program = Program(text)
    assert after(text, edits.delete_statement(program, program.tree.body[1])) == "a()\nc()\n"
    text = "x = 1 + \\\n    2\ny = '''\n# text\n'''\nz()\n"
    program = Program(text)
    assert after(text, edits.delete_statement(program, program.tree.body[0])) == "y = '''\n# text\n'''\nz()\n"
    assert after(text, edits.delete_statement(program, program.tree.body[1])) == "x = 1 + \\\n    2\nz()\n"


def test_a_block_with_comments_inside_is_not_taken_out() -> None:
    text = "a()\nif x:\n    # why\n    b()\n"
    program = Program(text)
    assert after(text, edits.delete_statement(program, program.tree.body[1])) == text


def test_an_elif_is_left() -> None:
    text = "if x:\n    a()\nelif y:\n    b()\n"
    program = Program(text)
    outer = program.tree.body[0]
    assert isinstance(outer, ast.If)
    assert edits.delete_statement(program, outer.orelse[0]) == ()
    assert edits.insert_before(program, outer.orelse[0], "c()") == ()


@pytest.mark.parametrize(
    ("text", "before", "behind"),
    [
        ("b()\n", "n()\nb()\n", "b()\nn()\n"),
        ("b()", "n()\nb()", "b()\nn()"),
        ("if x:\n\tb()  # why\n", "if x:\n\tn()\n\tb()  # why\n", "if x:\n\tb()  # why\n\tn()\n"),
        ("if x: b()\n", "if x: n(); b()\n", "if x: b(); n()\n"),
        ("b(); c()\n", "n()\nb(); c()\n", "b(); n(); c()\n"),
        ("a(); b()\n", "a(); n(); b()\n", "a(); b(); n()\n"),
        ("a(); b();\n", "a(); n(); b();\n", "a(); b(); n();\n"),
        ("b();\n", "n()\nb();\n", "b();\nn()\n"),
        ("a()\r\nb()\r\n", "a()\r\nn()\r\nb()\r\n", "a()\r\nb()\r\nn()\r\n"),
        ("\ufeffb()\n", "\ufeffn()\nb()\n", "\ufeffb()\nn()\n"),
    ],
)
def test_statements_are_put_before_and_behind(text: str, before: str, behind: str) -> None:
    program = Program(text.removeprefix("\ufeff"))
    statement = next(
        node for node in ast.walk(program.tree) if isinstance(node, ast.Expr) and ast.unparse(node) == "b()"
    )
    assert after(text, edits.insert_before(program, statement, "n()")) == before
    assert after(text, edits.insert_after(program, statement, "n()")) == behind


def test_what_is_put_behind_a_block_or_before_a_decorator_stands_outside() -> None:
    text = "for x in y:\n    a()\n    b()  # last\n@one\ndef f(): pass\n"
    program = Program(text)
    loop, function = program.tree.body
    assert after(text, edits.insert_after(program, loop, "n()")) == text.replace("# last\n", "# last\nn()\n")
    assert after(text, edits.insert_before(program, function, "n()")) == text.replace("@one", "n()\n@one")


def test_lines_of_a_put_text_are_indented_and_blocks_need_a_line() -> None:
    text = "if x:\n    b()\n"
    block = "with torch.no_grad():\n    n()\n"
    program = Program(text)
    inner = program.tree.body[0].body[0]  # type: ignore[attr-defined]
    assert after(text, edits.insert_before(program, inner, block)) == (
        "if x:\n    with torch.no_grad():\n        n()\n    b()\n"
    )
    text = "if x: b()\n"
    program = Program(text)
    inner = program.tree.body[0].body[0]  # type: ignore[attr-defined]
    assert edits.insert_before(program, inner, block) == () == edits.insert_after(program, inner, block)
    assert edits.insert_after(program, inner, "with x: n()") == ()


@pytest.mark.parametrize(
    ("text", "source", "before", "behind", "wanted"),
    [
        ("y = a + b", "a + b", "float(", ")", "y = float(a + b)"),
        ("y = a + b", "a + b", "", ".detach()", "y = (a + b).detach()"),
        ("y = a + b", "b", "", ".detach()", "y = a + b.detach()"),
        ("y = 1", "1", "", ".real", "y = (1).real"),
        ("y = a, b", "a, b", "f(", ")", "y = f((a, b))"),
        ("y = (a, b)", "(a, b)", "f(", ")", "y = f((a, b))"),
        ("y = await_(x)", "await_(x)", "", ".item()", "y = await_(x).item()"),
        ("y = not x", "not x", "", ".item()", "y = (not x).item()"),
        ("y = f(x for x in z)", "(x for x in z)", "list(", ")", "y = f(list((x for x in z)))"),
        ("y = 'ä' + b", "b", "str(", ")", "y = 'ä' + str(b)"),
    ],
)
def test_wrapping_keeps_what_binds(text: str, source: str, before: str, behind: str, wanted: str) -> None:
    assert changed(edits.wrap, text, source, before, behind) == wanted


@pytest.mark.parametrize(
    ("text", "source", "wanted"),
    [
        ("y = f(x, dim=1)", "x", "y = x"),
        ("y = f(input=x, dim=1)", "input=x", "y = x"),
        ("y = f(input=(a + b))", "input=(a + b)", "y = (a + b)"),
        ("y = f(a + b)", "a + b", "y = a + b"),
        ("y = f(a + b) * 2", "a + b", "y = (a + b) * 2"),
        ("y = f((a + b)) * 2", "a + b", "y = (a + b) * 2"),
        ("y = f(a + b).mean()", "a + b", "y = (a + b).mean()"),
        ("y = f(a.b(c)).mean()", "a.b(c)", "y = a.b(c).mean()"),
        ("y = f(1).mean()", "1", "y = (1).mean()"),
        ("y = g(f(a + b), c)", "a + b", "y = g(a + b, c)"),
        ("y = f(a +\n      b)", "a +\n      b", "y = (a +\n      b)"),
        ("y = f(\n    [1,\n     2],\n    dim=1,\n)", "[1,\n     2]", "y = [1,\n     2]"),
        ("y = f(\n    x,\n    dim=1,\n)\n", "x", "y = x\n"),
        ("y = f(x for x in z)", "(x for x in z)", "y = (x for x in z)"),
        ("y = f(lambda: 1)()", "lambda: 1", "y = (lambda: 1)()"),
        ("y = f(x)if x else z", "x", "y = x if x else z"),
        ("def g():\n    return(f)(x)", "x", "def g():\n    return x"),
        ("y = f(x := 3)", "x := 3", "y = (x := 3)"),
        ("y = f(*x)", "*x", "y = f(*x)"),
        ("y = f(**x)", "**x", "y = f(**x)"),
        ("y = f(\n    x,  # why\n)\n", "x", "y = f(\n    x,  # why\n)\n"),
        ("y = f'{f(x)}'", "x", "y = f'{f(x)}'"),
    ],
)
def test_a_call_gives_way_to_its_argument(text: str, source: str, wanted: str) -> None:
    program = Program(text)
    call = next(
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "f"
    )
    found = next(
        (part for part in (*call.args, *call.keywords) if ast.get_source_segment(text, part) == source),
        (*call.args, *call.keywords)[0],
    )
    assert after(text, edits.unwrap_call(program, call, found)) == wanted


def test_replacing_keeps_words_apart_and_the_brackets_of_the_call() -> None:
    assert changed(edits.replace, "y = f(x)if x else z", "f(x)", "x") == "y = x if x else z"
    assert changed(edits.replace, "y = f(x for x in z)", "(x for x in z)", "z") == "y = f(z)"
    assert changed(edits.replace, "é = 'ü' + f(x)", "f(x)", "g(x)") == "é = 'ü' + g(x)"


def test_nodes_of_another_file_give_no_edits() -> None:
    program = Program("f(a)")
    call = program.call("f")
    program.place = lambda node: Place("other.py", 1, 0, 1, 4)  # type: ignore[method-assign]
    assert edits.replace(program, call, "x") == () == edits.delete_argument(program, call, call.args[0])
    assert edits.delete_statement(program, program.tree.body[0]) == ()
    assert edits.wrap(program, call, "g(", ")") == () == edits.unwrap_call(program, call, call.args[0])
