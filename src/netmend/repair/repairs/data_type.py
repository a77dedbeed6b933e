"""R509."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.data.data_holders import kind_of, training_inputs
from netmend.changes.data.data_origins import Flow, flows
from netmend.changes.data.real_numbers import real_at_line
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import Site
from netmend.vocabulary.change import Change, FileEdits

_MAKERS = (
    "from_numpy",
    "tensor",
    "as_tensor",
    "Tensor",
    "FloatTensor",
    "LongTensor",
    "DoubleTensor",
    "IntTensor",
)
_WHOLE = re.compile(
    r"expected target dtype|scalar type Long but found|nll_loss|cross_entropy.*not implemented|"
    r"one of the following scalar types: Long|must be.*(?:Long|torch\.int64)"
)
_MET = re.compile(
    r"must have the same dtype|to have the same dtype|same data type|type \(.*\) should be the same|"
    r"scalar type (?:Float|Double|Half) but found|does not match weight dtype|mixed dtype|not implemented for '"
)
_TARGET = re.compile(
    r"Found dtype (?:Double|Long|Int|Byte|Short) but expected|can't be cast to the desired output"
)
_MEAN = re.compile(r"could not infer output dtype|only support floating point")
_OBJECTS = re.compile(r"numpy\.object_")
_NO_TENSOR = re.compile(r"must be Tensor, not (\w+\.)?(ndarray|list|Series|DataFrame)")
_BYTES = ("uint8", "ubyte", "byte", "imread")
_FLOATS = re.compile(r"float|double|half|to_tensor|ToTensor|normal|mean|rand")


_example = partial(
    example,
    begin="""
    torch.manual_seed(0)
    table = np.random.default_rng(0).normal(size=(16, 4))
    table[:, 3] = np.arange(16) % 2""",
    model="nn.Linear(3, 2)",
    loop="for step in range(2)",
    loss="nn.functional.cross_entropy(model(x), y)",
)


class DataType(
    Repair,
    code="R509",
    cures=("INP-TYPE", "INP-TENSOR-TYPE", "PRE-WRONG-DTYPE", "PRE-MISS-DTYPE", "PRE-WRONG-STEP"),
    knob="data type",
    explores=True,
):
    """Convert data to the type that the operation needs, where it is made.

    Inputs of layers become float32, class labels whole numbers (long), targets of other losses float32. Bytes are converted
    before anything is subtracted from them, because they cannot be negative.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        text = case.trace.run.exception or ""
        if not text:
            edits = _bytes_first(case)
            yield from self.change(case, "convert bytes before subtracting", edits)
            if case.cause == "PRE-WRONG-DTYPE" and not edits:
                for title, real in real_at_line(case):
                    yield from self.change(case, title, real)
            return
        if case.fault is None:
            return
        if _WHOLE.search(text) or ("not implemented for" in text and _at_loss(case, text)):
            for title, edits in _ways(case, _label(case, text), "long"):
                yield from self.change(case, title, edits)
        elif _TARGET.search(text):
            for title, edits in _ways(case, _label(case, text), "float"):
                yield from self.change(case, title, edits)
        elif _MET.search(text):
            for title, edits in _ways(case, _input(case), "float"):
                yield from self.change(case, title, edits)
        elif found := case.code.statement_at(case.trace.run.exception_site or case.site):
            yield from self.change(case, "convert first", _in_line(text, *found))

    EXAMPLES = {
        "labels as floats": _example(
            data="""
                x = torch.from_numpy(table[:, :3]).float()
                y = torch.⟨from_numpy(table[:, 3]) → from_numpy(table[:, 3]).long()⟩""",
            mark="loss = nn",
            component="loss",
            raises=True,
        ),
        "double precision meets single": _example(
            data="""
                x = torch.⟨from_numpy(table[:, :3]) → from_numpy(table[:, :3]).float()⟩
                y = torch.from_numpy(table[:, 3]).long()""",
            mark="loss = nn",
            raises=True,
        ),
        "a loss that takes no whole numbers": _example(
            data="""
                x = torch.from_numpy(table[:, :3]).float()
                y = torch.tensor(table[:, :2] > 0, dtype=torch.⟨long → float32⟩)""",
            loss="nn.functional.binary_cross_entropy_with_logits(model(x), y)",
            mark="loss = nn",
            raises=True,
        ),
        "bytes are subtracted from": _example(
            begin="",
            data="""
                torch.manual_seed(0)
                image = np.random.default_rng(0).integers(0, 255, (16, 3)).astype(np.uint8)
                x = torch.from_numpy(⟨image → image.astype(np.float32)⟩ - 128).float() / 64
                y = torch.arange(16) % 2""",
            cause="PRE-WRONG-DTYPE",
        ),
        "converted first": _example(
            begin="",
            data="""
                torch.manual_seed(0)
                image = np.random.default_rng(0).integers(0, 255, (16, 3)).astype(np.uint8)
                ⟨x = torch.from_numpy(image.astype(np.float32) - 128).float() / 64⟩
                y = torch.arange(16) % 2""",
            cause="PRE-WRONG-DTYPE",
        ),
        "whole numbers made of real ones": _example(
            data="""
                x = torch.from_numpy(table[:, :3].astype(⟨int → "float32"⟩)).float()
                y = torch.from_numpy(table[:, 3]).long()""",
            cause="PRE-WRONG-DTYPE",
        ),
    }


def _at_loss(case: Case, text: str) -> bool:
    return "nll" in text or "cross_entropy" in text or case.component == "loss"


def _ways(case: Case, given: tuple[File, ast.expr] | None, kind: str) -> Iterator[tuple[str, FileEdits]]:
    """The conversion where the data is made, then the one where it is used."""
    if given is None:
        return
    file, node = given
    at_origin: FileEdits = ()
    for flow in flows(case.code, file, node):
        edits = _at_origin(case, flow, kind)
        if not edits:
            at_origin = ()
            break
        at_origin = (*at_origin, *(edit for edit in edits if edit not in at_origin))
    if at_origin:
        yield f"convert to {kind} where the data is made", at_origin
    called = None if case.model is None else case.model.name.rpartition(".")[2]
    above = file.parent(node)
    if isinstance(above, ast.Call) and last_name(above.func) == called:
        # The program ended at its first call of the model; the others would end it next.
        places = [
            call.args[0]
            for call in file.calls(called)
            if call.args and not isinstance(call.args[0], ast.Starred)
        ]
    else:
        places = [node]
    in_use = tuple(edit for place in places for edit in wrap(file, place, "", f".{kind}()"))
    yield f"{file.source(node)}.{kind}()", in_use


def _at_origin(case: Case, flow: Flow, kind: str) -> FileEdits:
    """The nearest call outside of loops that makes a tensor: `torch.from_numpy(y)` → `torch.from_numpy(y).long()`.

    Other calls of the same kind that are given the same data, or data of the same function, are changed alike.
    """
    for step in flow:
        node, file = step.node, step.file
        if not isinstance(node, ast.Call) or last_name(node.func) not in _MAKERS:
            continue
        if file.loop(node) is not None:
            continue
        if step.path:
            continue
        alike = [other for other in file.calls(last_name(node.func)) if _is_alike(case, file, node, other)]
        return tuple(edit for call in (node, *alike) for edit in _converted(file, call, kind))
    return ()


def _is_alike(case: Case, file: File, one: ast.Call, other: ast.Call) -> bool:
    if one is other or not one.args or not other.args or ast.dump(one.func) != ast.dump(other.func):
        return False
    first, second = (flows(case.code, file, call.args[0]) for call in (one, other))
    return bool(_stages(first) & _stages(second)) and _columns(first) == _columns(second)


def _columns(ways: list[Flow]) -> set[str]:
    """The columns that are picked on the way: inputs and labels may stand in one table."""
    return {
        ast.dump(index)
        for flow in ways
        for step in flow
        if isinstance(step.node, ast.Subscript) and isinstance(step.node.slice, ast.Tuple)
        for index in step.node.slice.elts[1:]
    }


def _stages(ways: list[Flow]) -> set[tuple[int, str]]:
    """What tells data of one origin: the names that hold it, and the expressions by which functions hand it out."""
    return {
        (id(step.node), step.name)
        for flow in ways
        for step in flow
        if step.kind in ("bound", "returned") and not step.path
    }


def _converted(file: File, call: ast.Call, kind: str) -> FileEdits:
    dtype = next((k.value for k in call.keywords if k.arg == "dtype"), None)
    if dtype is not None:
        name, extra = spelled(file, "torch.long" if kind == "long" else "torch.float32")
        return (*replace(file, dtype, name), *extra)
    above = file.parent(call)
    grand = None if above is None else file.parent(above)
    converts = isinstance(above, ast.Attribute) and above.attr in ("float", "double", "long", "int")
    if converts and isinstance(grand, ast.Call):
        return replace(file, grand, f"{file.source(call)}.{kind}()")
    return wrap(file, call, "", f".{kind}()")


def _label(case: Case, text: str) -> tuple[File, ast.expr] | None:
    """The target that the loss was given; for an embedding the indices."""
    if "indices" in text or "embedding" in text:
        return _input(case)
    sites: list[Site | None] = [case.trace.run.exception_site]
    sites += [loss.called for loss in case.trace.losses]
    sites.append(case.site)
    for site in sites:
        found = case.code.statement_at(site)
        for call in found[0].calls(inside=found[1]) if found is not None else ():
            if found is not None and len(call.args) >= 2 and _is_loss(case, found[0], call):
                return found[0], call.args[1]
    return None


def _is_loss(case: Case, file: File, call: ast.Call) -> bool:
    """A call that takes the model's output, or something computed from it, and the target."""
    if any(loss.called is not None and loss.called.line == call.lineno for loss in case.trace.losses):
        return True
    name = last_name(call.func).lower()
    return any(word in name for word in ("loss", "entropy", "crit", "nll", "mse", "bce", "ce", "objective"))


def _input(case: Case) -> tuple[File, ast.expr] | None:
    model = case.model
    found = None if model is None else case.code.call_at(model.called)
    if found is None or not found[1].args or isinstance(found[1].args[0], ast.Starred):
        return None
    return found[0], found[1].args[0]


def _in_line(text: str, file: File, statement: ast.stmt) -> FileEdits:
    for call in file.calls(inside=statement):
        name = last_name(call.func)
        if (
            _MEAN.search(text)
            and name in ("mean", "std", "var", "softmax")
            and isinstance(call.func, ast.Attribute)
        ):
            data = call.args[0] if call.args and last_name(call.func.value) == "torch" else call.func.value
            return wrap(file, data, "", ".float()")
        if _OBJECTS.search(text) and name in _MAKERS and call.args:
            kind, extra = spelled(file, "numpy.float32")
            return (*wrap(file, call.args[0], "", f".astype({kind})"), *extra)
        if (refused := _NO_TENSOR.search(text)) and len(call.args) == 1:
            given = call.args[0]
            if isinstance(given, ast.Name | ast.Subscript):
                made, extra = spelled(file, "torch.tensor")
                kind, _ = spelled(file, "torch.float32")
                values = ".values" if refused[2] in ("Series", "DataFrame") else ""
                return (*wrap(file, given, f"{made}(", f"{values}, dtype={kind})"), *extra)
    return ()


def _bytes_first(case: Case) -> FileEdits:
    """`image - mean` of bytes, on the way of the inputs: the bytes become floats before."""
    for flow in training_inputs(case):
        for index, step in enumerate(flow):
            node = step.node
            if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
                continue
            if isinstance(node.right, ast.Constant) and isinstance(node.right.value, float):
                continue  # that makes floats of them
            if _is_bytes(flow[index + 1 :]):
                if kind_of(flow[index + 1 :]):
                    name, extra = spelled(step.file, "numpy.float32")
                    return (*wrap(step.file, node.left, "", f".astype({name})"), *extra)
                return wrap(step.file, node.left, "", ".float()")
    return ()


def _is_bytes(flow: Flow) -> bool:
    """Whether the last conversion on the way was one to bytes."""
    for step in flow:
        if isinstance(step.node, ast.BinOp) and isinstance(step.node.op, ast.Div):
            return False
        if isinstance(step.node, ast.Call):
            text = step.file.source(step.node.func).rpartition(".")[2]
            if isinstance(step.node.func, ast.Attribute):
                text += " " + " ".join(
                    step.file.source(part) for part in (*step.node.args, *step.node.keywords)
                )
            if any(word in text for word in _BYTES):
                return True
            if _FLOATS.search(text):
                return False
    return False
