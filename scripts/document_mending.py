"""Write docs/mending-study.md from the result files of the two studies of mending.

python scripts/document_mending.py            # write the page
python scripts/document_mending.py --check    # only say whether it is up to date

A study whose result file is missing is left out, with a line that says which command makes it.
"""

from __future__ import annotations

from typing import Any

from study_page import ROOT, result, templates, write_or_check

PAGE = ROOT / "docs" / "mending-study.md"
OURS = "sparse_mixing"
WORLDS = {"192 pairs": "Stage: a conjunction of words in the prompt", "clans": "Clans: who speaks decides"}


def page() -> str:
    return (
        templates()
        .get_template("mending-study.md.j2")
        .render(worlds=_worlds(), memory=_memory(), classifiers=_classifiers(), ours=_ours())
    )


def _worlds() -> list[dict[str, Any]]:
    settings = result("mend-language.json")["settings"]
    found = []
    for begin, title in WORLDS.items():
        name = next(one for one in settings if one.startswith(begin))
        table = settings[name]["table"]
        rows = [
            [f"`{method}`", *(_with_interval(row[column]) for column in ("repaired", "repaired_unseen", "kept")),
             _percent(row["ppl_growth"]), _share(row.get("touched"))]
            for method, row in sorted(table.items(), key=lambda item: -_balance(item[1]))
            if method != "none"
        ]  # fmt: skip
        found.append({
            "title": title, "setting": name, "rows": rows, "seeds": len(table["none"]["unwanted"]["values"]),
            "dpo": _facts(table["dpo"]), "best": _best(table), "ordering": settings[name]["claims"].get("dynamic > fixed > min_kl"),
        })  # fmt: skip
    return found


def _best(table: dict[str, Any]) -> dict[str, str]:
    name = max((one for one in table if one != "none"), key=lambda one: _balance(table[one]))
    return {"name": name, **_facts(table[name])}


def _balance(row: dict[str, Any]) -> float:
    """What is repaired, and what is kept of that which looks alike: the smaller of the two means counts."""
    return float(min(row["repaired"]["mean"], row["kept"]["mean"]))


def _facts(row: dict[str, Any]) -> dict[str, str]:
    return {
        "repaired": f"{row['repaired']['mean']:.3f}",
        "kept": f"{row['kept']['mean']:.3f}",
        "growth": f"{100 * row['ppl_growth']['mean']:.2f} %",
    }


def _memory() -> list[list[str]]:
    lines = result("mend-language.json")["memory"]
    return [
        [f"`{one['method']}`", one["weights"], "one" if one["one_block"] else "all", f"{one['inference_mib']:.0f}",
         f"{one['block_state_mib']:.0f}", f"{one['peak_mib']:.0f}", f"{one['ratio']:.2f}"]
        for one in lines
    ]  # fmt: skip


def _classifiers() -> list[dict[str, Any]]:
    kept = result("mend-classifiers.json")
    if kept is None:
        return []
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for line in kept["summary"]:
        groups.setdefault((line["images"], line["fault"], line["network"]), []).append(line)
    found = []
    for (images, fault, network), lines in groups.items():
        before = next(one for one in lines if one["method"] == "no repair")
        rows = [
            [f"`{one['method']}`" if one is not before else "no repair", *(_plus(one, name) for name in ("repaired", "broken")),
             _points(one), _plus(one, "attack"), _decimal(one.get("share")), _decimal(one.get("seconds"), 1)]
            for one in sorted(lines, key=lambda one: one["broken"] - one["repaired"])
        ]  # fmt: skip
        found.append(
            {"images": images, "fault": fault, "network": network, "seeds": before["seeds"], "rows": rows}
        )
    return found


def _ours() -> list[list[str]]:
    """Our method beside what was asked; ▼ marks what misses it."""
    kept = result("mend-classifiers.json") or {"summary": []}
    rows = []
    for line in kept["summary"]:
        if line["method"] != OURS:
            continue
        cells = [
            _marked(line, "repaired", line["repaired"] >= 0.80),
            _marked(line, "broken", line["broken"] <= 0.015),
        ]
        cells.append(_marked(line, "share", line["share"] <= 0.20))
        if "attack" in line:
            cells += [
                _marked(line, "attack", line["attack"] < 0.02),
                _points(line) + ("" if line["points_lost"] < 1 else " ▼"),
            ]
        else:
            cells += ["", ""]
        rows.append([f"{line['images']}: {line['fault']}, {line['network']}", *cells])
    return rows


def _marked(line: dict[str, Any], name: str, met: bool) -> str:
    return f"{line[name]:.3f}" + ("" if met else " ▼")


def _plus(line: dict[str, Any], name: str) -> str:
    if name not in line:
        return ""
    half = line.get(f"{name}_interval")
    return f"{line[name]:.3f}" + ("" if half is None else f" ± {half:.3f}")


def _points(line: dict[str, Any]) -> str:
    """Change of accuracy on clean inputs in points, paired by seed."""
    lost = line.get("points_lost")
    if lost is None:
        return ""
    half = line.get("points_lost_interval")
    return f"{-lost:+.2f}" + ("" if half is None else f" ± {half:.2f}")


def _decimal(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _with_interval(value: dict[str, Any]) -> str:
    return f"{value['mean']:.3f} ± {value['half']:.3f}"


def _percent(value: dict[str, Any]) -> str:
    return f"{100 * value['mean']:+.2f} % ± {100 * value['half']:.2f}"


def _share(value: dict[str, Any] | None) -> str:
    return "" if value is None else f"{100 * value['mean']:.0f} %"


if __name__ == "__main__":
    write_or_check(__doc__, PAGE, page)
