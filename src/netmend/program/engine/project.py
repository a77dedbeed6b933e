"""The files around the one that is checked: which of them an import means, read and parsed once."""

from __future__ import annotations

import ast
import io
import os
import sys
import tokenize

from netmend.program.engine.trees import Parsed, Trees

# Frameworks are known by name, never by reading their files, not even inside their own source tree.
_NEVER_FOLLOWED = frozenset(
    [
        "torch",
        "torchvision",
        "torchaudio",
        "torchtext",
        "keras",
        "tensorflow",
        "tf_keras",
        "numpy",
        "scipy",
        "sklearn",
        "pandas",
        "jax",
        "flax",
        "optax",
        "matplotlib",
        "lightning",
        "pytorch_lightning",
        "transformers",
        "accelerate",
        "datasets",
        "PIL",
        "cv2",
        "tqdm",
        "wandb",
        "gymnasium",
        "gym",
        "stable_baselines3",
    ]
)
# A larger file is generated code or a library's centre: following it costs more than it tells.
_MOST_BYTES = 400_000
_IMPORTED_KEPT = 8_000_000  # characters of imported files, of which some serve a whole code base
_MOST_TEXTS = 12  # imported files of a program that are searched for triggers
_MOST_INDICES = 400  # files
_CHECKED_KEPT = 3_000_000  # characters of files that were checked, which their neighbours may import


class Project:
    """Finds and parses project files; nothing is imported or executed."""

    def __init__(self) -> None:
        self._imported = Trees(_IMPORTED_KEPT)
        self._checked = Trees(_CHECKED_KEPT)
        self._roots: dict[str, tuple[str, ...]] = {}
        self._is_file: dict[str, bool] = {}
        # By importing file: where a project file was looked for in vain.
        self.missed: dict[str, set[str]] = {}
        self._found: dict[tuple[str, int, str], str | None] = {}
        self._texts: dict[str, tuple[str, list[str]] | None] = {}
        self._indices: dict[str, tuple[ast.Module, dict[str, list[ast.stmt]]]] = {}

    def index(self, path: str, tree: ast.Module) -> dict[str, list[ast.stmt]]:
        """The statements of a file's top level that define each name; "*" holds star imports."""
        known = self._indices.get(path)
        if known is None or known[0] is not tree:
            if len(self._indices) > _MOST_INDICES:
                self._indices.clear()
            known = (tree, _index(tree.body, {}))
            self._indices[path] = known
        return known[1]

    def find(self, module: str, level: int, file: str) -> str | None:
        """The project file behind `import module` (level 0) or `from ..module import` (level 2) in a file."""
        if not level and module.split(".", 1)[0] in _NEVER_FOLLOWED:
            return None
        folder = os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120 - called for every import: speed
        key = (module, level, folder)
        if key not in self._found:
            self._found[key] = self._find(module, level, folder)
        found = self._found[key]
        if found is None and (level or module.partition(".")[0] not in sys.stdlib_module_names):
            self.missed.setdefault(file, set()).add(os.path.join(folder, *module.split(".")) + ".py")  # noqa: PTH118
        return found

    def _find(self, module: str, level: int, folder: str) -> str | None:
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)  # noqa: PTH120
            roots: tuple[str, ...] = (folder,)
        else:
            roots = self._places(folder)
        parts = module.split(".") if module else []
        for root in roots:
            base = os.path.join(root, *parts)  # noqa: PTH118
            for path in (f"{base}.py", os.path.join(base, "__init__.py")):  # noqa: PTH118
                if self._exists(path):
                    return path
        return None

    def _places(self, folder: str) -> tuple[str, ...]:
        """Where absolute imports of a file begin: beside it, above its package, and in a `src` folder there."""
        known = self._roots.get(folder)
        if known is None:
            above = folder
            while self._exists(os.path.join(above, "__init__.py")):  # noqa: PTH118
                parent = os.path.dirname(above)  # noqa: PTH120
                if parent == above:
                    break
                above = parent
            parent = os.path.dirname(above)  # noqa: PTH120
            candidates = [folder, above]
            if parent != above and any(
                self._exists(os.path.join(parent, mark))  # noqa: PTH118
                for mark in ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "README.md")
            ):
                candidates += [parent, os.path.join(parent, "src")]  # noqa: PTH118
            known = tuple(dict.fromkeys(candidates))
            self._roots[folder] = known
        return known

    def _exists(self, path: str) -> bool:
        known = self._is_file.get(path)
        if known is None:
            known = os.path.isfile(path)  # noqa: PTH113
            self._is_file[path] = known
        return known

    def tree(self, path: str, text: str) -> ast.Module:
        """The tree of a file that is checked; parsed once when other files import it too. May raise what ast.parse raises."""
        known = self._imported.get(path) or self._checked.get(path)
        if known is not None and known[1] == text:
            return known[0]
        tree = ast.parse(text)
        if len(text) <= _MOST_BYTES:
            self._checked.keep(path, (tree, text))
        return tree

    def parse(self, path: str) -> Parsed | None:
        """Tree and text of a project file; None when it cannot be read, parsed, or is too large to follow."""
        if path in self._imported:
            return self._imported.get(path)
        parsed = self._checked.get(path) or _read(path)
        self._checked.drop(path)
        self._imported.keep(path, parsed)
        return parsed

    def imported(self, path: str) -> tuple[str, list[str]] | None:
        """The text of a project file and the project files that it imports; kept longer than its tree."""
        if path not in self._texts:
            parsed = self.parse(path)
            if len(self._texts) > _MOST_INDICES:
                self._texts.pop(next(iter(self._texts)))
            self._texts[path] = (
                (parsed[1], _imports(self, path, parsed[0].body)) if parsed is not None else None
            )
        else:
            self._texts[path] = self._texts.pop(path)
        return self._texts[path]


def imported_texts(project: Project, path: str, tree: ast.Module) -> dict[str, str]:
    """The texts of the project files that a program imports, and of those that they import, by path."""
    texts: dict[str, str] = {}
    seen = {path}
    waiting = [_imports(project, path, tree.body)]
    while waiting and len(texts) < _MOST_TEXTS:
        for found in waiting.pop(0):
            imported = project.imported(found) if found not in seen else None
            seen.add(found)
            if imported is not None:
                texts[found] = imported[0]
                waiting.append(imported[1])
    return texts


def _imports(project: Project, file: str, body: list[ast.stmt]) -> list[str]:
    found: list[str | None] = []
    for node in body:
        if isinstance(node, ast.Import):
            found.extend(project.find(alias.name, 0, file) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found.append(project.find(module, node.level, file) if module or node.level else None)
            found.extend(
                project.find(f"{module}.{alias.name}".strip("."), node.level, file)
                for alias in node.names
                if alias.name != "*" and (node.level or not module)
            )
        elif isinstance(node, ast.If | ast.Try):
            found.extend(_imports(project, file, [*node.body, *node.orelse]))
    return [path for path in found if path is not None]


def _read(path: str) -> Parsed | None:
    try:
        if os.path.getsize(path) > _MOST_BYTES:  # noqa: PTH202
            return None
        with open(path, "rb") as stream:  # noqa: PTH123
            raw = stream.read()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        text = raw.decode(encoding)
        return ast.parse(text), text
    except (OSError, SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return None


def _index(body: list[ast.stmt], found: dict[str, list[ast.stmt]]) -> dict[str, list[ast.stmt]]:
    for node in body:
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Import):
            names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            names = [node.target.id]
        elif isinstance(node, ast.If):
            _index([*node.orelse, *node.body], found)
        elif isinstance(node, ast.Try):
            _index([*node.body, *node.orelse], found)
        for name in names:
            found.setdefault(name, []).append(node)
    return found
