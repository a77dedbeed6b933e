"""Trees of LightGBM as the text that netmend ranks by, which needs no LightGBM to be read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netmend.locate.fusion import FORMAT


def export(booster: Any, names: Sequence[str], file: Path, about: Mapping[str, object]) -> None:
    """Write the model; one line a tree, so that versions can be compared."""
    trees = [plain_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
    head = {"format": FORMAT, "about": dict(about), "features": list(names), "fixed": 0.0}
    lines = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in trees)
    file.write_text(f'{json.dumps(head)[:-1]}, "trees": [\n{lines}\n]}}\n', encoding="utf-8")


def plain_tree(root: Mapping[str, Any]) -> dict[str, list[float]]:
    """A tree as lists: node by node its feature, threshold and children; a child of -1 - k is leaf k."""
    nodes: dict[str, list[float]] = {"feature": [], "threshold": [], "left": [], "right": [], "value": []}

    def visit(node: Mapping[str, Any]) -> int:
        if "split_feature" not in node:
            nodes["value"].append(float(f"{node['leaf_value']:.7g}"))
            return -len(nodes["value"])
        if node["decision_type"] != "<=":
            raise ValueError(f"a split of kind {node['decision_type']!r}; only <= can be written")
        number = len(nodes["feature"])
        nodes["feature"].append(int(node["split_feature"]))
        nodes["threshold"].append(float(node["threshold"]))
        nodes["left"].append(0)
        nodes["right"].append(0)
        nodes["left"][number] = visit(node["left_child"])
        nodes["right"][number] = visit(node["right_child"])
        return number

    visit(root)
    return nodes
