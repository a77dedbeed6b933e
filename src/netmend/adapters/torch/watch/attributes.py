"""Where a layer was created, for models built before netmend started: the assignment in its parent's source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from torch import nn

from netmend.vocabulary import Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.models import Model
    from netmend.adapters.torch.watch.session import TorchSession


def attribute_site(session: TorchSession, model: Model, module: nn.Module) -> Site | None:
    """The line `self.name = …` in the class of the module's parent, if that class is the user's."""
    root = model.reference()
    if root is None or module is root:
        return None
    for parent in root.modules():
        for name, child in parent.named_children():
            if child is module:
                return _assignment(type(parent), name, session)
    return None


def _assignment(owner: Any, attribute: str, session: TorchSession) -> Site | None:
    found = _assignments(owner).get(attribute)
    return found if found is not None and session.sites.is_user_file(found.file) else None


@lru_cache(maxsize=512)
def _assignments(owner: Any) -> dict[str, Site]:
    try:
        file = inspect.getsourcefile(owner)
        lines, first = inspect.getsourcelines(owner)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return {}
    offset, indent = first - 1, len(lines[0]) - len(lines[0].lstrip())
    found: dict[str, Site] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if (
                isinstance(target, ast.Attribute)
                and isinstance(target.value, ast.Name)
                and target.value.id == "self"
            ):
                value = node.value
                start, end = value.lineno + offset, (value.end_lineno or value.lineno) + offset
                columns = value.col_offset + indent, (value.end_col_offset or 0) + indent
                place = Site(file or "", start, columns[0], end, columns[1], owner.__name__)
                found.setdefault(target.attr, place)
    return found
