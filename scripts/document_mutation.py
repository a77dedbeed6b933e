"""Write docs/mutation-study.md from the result files of the studies of mutation testing.

python scripts/document_mutation.py            # write the page
python scripts/document_mutation.py --check    # only say whether it is up to date

A study whose result file is missing is left out, with a line that says which command makes it.
"""

from __future__ import annotations

from typing import Any

from study_page import ROOT, result, templates, write_or_check

PAGE = ROOT / "docs" / "mutation-study.md"
AGENTS = ("cartpole-ppo", "cartpole-dqn", "lunarlander-ppo")
GENERATORS = ("replay", "weak", "strong", "edge")


def page() -> str:
    statistics, equals = result("mutation-statistics.json"), result("rl-statistics.json")
    return (
        templates()
        .get_template("mutation-study.md.j2")
        .render(
            programs=_programs(result("mutation-study.json") or {}),
            statistics=statistics,
            saving=[_saving(name, row) for name, row in statistics["saving"].items()],
            equals=equals,
            rules=[_rule(name, equals) for name in equals["most_killed_of_equals"]],
            agents=[_agent(name) for name in AGENTS],
            bugs=_bugs(result("rl-bugs.json") or {}),
        )
    )


def _programs(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "operators": len(row["operators"]),
            "applicable": row["operators_applicable"],
            "weights": len(row["weight_operators"]),
            "mutants": row["mutants"],
            "standings": ", ".join(f"{count} {standing}" for standing, count in row["standings"].items()),
            "trainings": row["trainings"],
            "sets": [
                [each["name"], str(each["inputs"]), _spread(row["scores_by_repetition"][each["name"]]),
                 f"{each['killed']} of {each['killable']}", _number(each["sensitivity"]), "; ".join(each["additions"][:2])]
                for each in row["sets"]
            ],
            "repetitions": row["repetitions"],
            "stability": _number(row["stability"], 3),
            "of_clear": _number(row.get("stability_of_clear"), 3),
            "share_clear": _number(row.get("clear")),
            "again": row.get("again"),
            "compared": row["verdicts_compared"],
        }
        for name, row in sorted(found.items())
    ]  # fmt: skip


def _spread(scores: list[float | None]) -> str:
    """The first repetition's score, and the range of all."""
    known = [score for score in scores if score is not None]
    if not known:
        return ""
    return f"{known[0]:.2f}" if len(known) == 1 else f"{known[0]:.2f} ({min(known):.2f}–{max(known):.2f})"


def _saving(name: str, row: dict[str, float]) -> list[str]:
    return [
        name,
        f"{row['pairs']:.1f}",
        f"{row['killed of the worse ones']:.3f}",
        f"{row['most killed of equals']:.3f}",
    ]


def _rule(name: str, equals: dict[str, Any]) -> list[str]:
    worse = (_number(row[name]) for row in equals["worse"].values())
    return [name, _number(equals["most_killed_of_equals"][name], 3), *worse]


def _agent(name: str) -> dict[str, Any]:
    found = result(f"rl-{name}.json")
    if found is None:
        return {"name": name, "found": None}
    published = found["published"]["rows"]
    rows = [
        [f"{each['code']} {each['title']}", each["published"] or "", str(len(each["tried"])), each["verdict"],
         *(_number(each["kill_rates"].get(generator)) for generator in GENERATORS), _number(each["sensitivity"]), _number(published.get(each["published"], {}).get("sensitivity"))]
        for each in found["operators"]
    ]  # fmt: skip
    return {
        "name": name,
        "found": found,
        "rows": rows,
        "published": _number(published.get("mean", {}).get("sensitivity")),
        "minutes": found["cpu_seconds"] / 60,
    }


def _bugs(found: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, study in sorted(found.items()):
        (bug,) = study["operators"]
        revealing = bug["revealing"][0]["words"] if bug["revealing"] else ""
        marks = (
            "revealed" if bug["killed"].get(generator) else _number(bug["kill_rates"].get(generator))
            for generator in GENERATORS
        )
        rows.append(
            [name.replace("_", " "), f"{study['algorithm']}, {study['environment']}", *marks, revealing]
        )
    return rows


def _number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}"


if __name__ == "__main__":
    write_or_check(__doc__, PAGE, page)
