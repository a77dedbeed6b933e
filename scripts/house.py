"""How large the house is and how well its walls hold: files, lines, logic and frame per folder; repeated knowledge; folders that import each other.

    python scripts/house.py [FOLDER]        # a checkout; default: this one

Logic is what is left of a file without imports, docstrings, comments, blank lines and the examples of units. A table of framework facts is a module-level tuple,
set, list or dictionary in which at least two names of losses, activations, layers, optimisers, norms or operations stand.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MOST_LINES = 400
LONG_STRING = 4  # lines; programs that stand in strings
EXAMPLES = {"GOOD", "BAD", "HEALTHY", "FAULTY", "EXAMPLES", "CURED", "FIXED", "NEAR_MISSES"}
WALKS = {"walk", "iter_child_nodes"}
OWN_SYNTAX = ("program",)  # where a walk over syntax is at home
OWN_FACTS = ("library",)
PROGRAMS = ("demo",)  # written as users write
FRAMEWORK = frozenset(
    [
        "cross_entropy",
        "mse_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "nll_loss",
        "l1_loss",
        "kl_div",
        "CrossEntropyLoss",
        "MSELoss",
        "BCELoss",
        "BCEWithLogitsLoss",
        "NLLLoss",
        "L1Loss",
        "SmoothL1Loss",
        "HuberLoss",
        "relu",
        "sigmoid",
        "tanh",
        "softmax",
        "log_softmax",
        "gelu",
        "leaky_relu",
        "ReLU",
        "Sigmoid",
        "Tanh",
        "Softmax",
        "LogSoftmax",
        "GELU",
        "LeakyReLU",
        "Linear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "LSTM",
        "GRU",
        "RNN",
        "Embedding",
        "Dropout",
        "Flatten",
        "linear",
        "conv2d",
        "dropout",
        "SGD",
        "Adam",
        "AdamW",
        "RMSprop",
        "Adagrad",
        "Adadelta",
        "sgd",
        "adam",
        "adamw",
        "rmsprop",
        "BatchNorm1d",
        "BatchNorm2d",
        "LayerNorm",
        "GroupNorm",
        "batch_norm",
        "layer_norm",
        "contiguous",
        "clone",
        "detach",
        "float",
        "cuda",
        "cpu",
        "to",
        "view",
        "reshape",
        "squeeze",
        "unsqueeze",
        "flatten",
        "permute",
        "transpose",
        "argmax",
        "DataLoader",
        "TensorDataset",
        "MNIST",
        "CIFAR10",
    ]
)


@dataclass
class Module:
    """One file of the package."""

    path: Path
    name: str  # relative to src/netmend
    lines: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    tables: int = 0  # of framework facts
    walks: int = 0
    imports: set[str] = field(default_factory=set)  # top folders of netmend

    @property
    def top(self) -> str:
        return self.name.split("/")[0] if "/" in self.name else "(root)"

    def lies_in(self, folders: tuple[str, ...]) -> bool:
        return any(self.name.startswith(f"{folder}/") for folder in folders)


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]) / "src/netmend"
    modules = [read(path, root) for path in sorted(root.rglob("*.py"))]
    folders: defaultdict[str, list[Module]] = defaultdict(list)
    for module in modules:
        folders[module.top].append(module)
    print(f"{'folder':14}{'files':>7}{'lines':>9}{'logic':>8}{'frame':>8}{'examples':>10}")
    rows = sorted(folders.items(), key=lambda item: -sum(module.lines for module in item[1]))
    for name, members in [*rows, ("all", modules)]:
        kinds = sum((module.kinds for module in members), Counter[str]())
        frame = kinds["import"] + kinds["blank"]
        lines = sum(module.lines for module in members)
        print(f"{name:14}{len(members):7}{lines:9,}{kinds['logic']:8,}{frame:8,}{kinds['example']:10,}")
    ours = [module for module in modules if not module.lies_in(PROGRAMS)]
    print(
        f"\ntables of framework facts outside library/  {sum(m.tables for m in ours if not m.lies_in(OWN_FACTS)):5}"
    )
    print(
        f"walks over syntax outside program/          {sum(m.walks for m in ours if not m.lies_in(OWN_SYNTAX)):5}"
    )
    pairs = list(mutual(folders))
    print(f"pairs of folders that import each other     {len(pairs):5}  {', '.join(pairs)}")
    long = [f"{module.name} {module.lines}" for module in modules if module.lines > MOST_LINES]
    print(f"modules past {MOST_LINES} lines                      {len(long):5}  {', '.join(long)}")


def read(path: Path, root: Path) -> Module:
    module = Module(path, path.relative_to(root).as_posix())
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    kinds = list(kinds_of_lines(text, tree))
    module.lines, module.kinds = len(kinds), Counter(kinds)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="ast"), attr=name)) if name in WALKS:
                module.walks += 1
            case ast.ImportFrom(module=str(source)) if source.startswith("netmend."):
                module.imports.add(source.split(".")[1])
    module.tables = sum(is_framework_table(node) for node in tree.body)
    return module


def kinds_of_lines(text: str, tree: ast.Module) -> list[str]:
    """Of each line what it is: logic, import, text, example or blank."""
    lines = text.splitlines()
    kinds = ["logic" if line.strip() else "blank" for line in lines]

    def mark(node: ast.stmt | ast.expr, kind: str, *, blanks: bool = True) -> None:
        for number in range(node.lineno - 1, node.end_lineno or node.lineno):
            if blanks or kinds[number] != "blank":
                kinds[number] = kind

    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and lines[token.start[0] - 1].lstrip().startswith("#"):
            kinds[token.start[0] - 1] = "text"
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                mark(node, "import", blanks=False)
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if node.body:
                first = node.body[0]
                if (
                    isinstance(first, ast.Expr)
                    and isinstance(first.value, ast.Constant)
                    and isinstance(first.value.value, str)
                ):
                    mark(first, "text")
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if (
                name in EXAMPLES
            ):
                mark(node, "example")
            case ast.Constant(value=str()) | ast.JoinedStr() if (
                node.end_lineno or 0
            ) - node.lineno + 1 >= LONG_STRING:
                if "text" not in kinds[node.lineno - 1 : node.end_lineno]:
                    mark(node, "example")
    return kinds


def is_framework_table(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.Call) and value.args:  # frozenset({…})
        value = value.args[0]
    if not isinstance(value, ast.Tuple | ast.Dict | ast.Set | ast.List):
        return False
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    if isinstance(target, ast.Name) and target.id in EXAMPLES:
        return False
    words = {
        each.value.split(".")[-1]
        for each in ast.walk(value)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }
    return len(words) > 2 and len(words & FRAMEWORK) > 1


def mutual(folders: dict[str, list[Module]]) -> Iterator[str]:
    imports = {
        name: {top for module in members for top in module.imports} for name, members in folders.items()
    }
    for name in sorted(imports):
        for other in sorted(imports[name]):
            if name < other and name in imports.get(other, ()):
                yield f"{name} ↔ {other}"


if __name__ == "__main__":
    main()
