"""The figures of docs/learned.md, written from what evaluate.py measured: tables and a reliability diagram."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE, DIAGRAM = DOCS / "learned.md", DOCS / "learned-reliability.svg"
BEGIN, END = "<!-- figures: made by benchmarks/learned/evaluate.py --write -->", "<!-- end of figures -->"


def write_page(result: dict) -> None:
    """Replace what stands between the two marks of the page, and draw the diagram."""
    page = PAGE.read_text(encoding="utf-8")
    if BEGIN not in page or END not in page:
        raise SystemExit(f"{PAGE} has lost the marks between which the figures stand")
    body = "\n\n".join(
        [_sets(result["sets"]), _criterion(result["criterion"]), _causes(result["sets"]["held-out mutants"])]
    )
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    PAGE.write_text(
        re.sub(pattern, lambda _: f"{BEGIN}\n\n{body}\n\n{END}", page, flags=re.DOTALL), encoding="utf-8"
    )
    DIAGRAM.write_text(diagram(result["sets"]["held-out mutants"]), encoding="utf-8")


def _sets(sets: dict) -> str:
    lines = [
        "| set | | faulty runs | detected | cause at rank 1 | top 3 | all causes | healthy runs | false alarms | calibration error |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, both in sets.items():
        for way in ("rules", "learned"):
            own = both[way]
            lines.append(
                f"| {name} | {way} | {own['faulty']} | {_percent(own['detected'])} | {_percent(own['rank1'])} | {_percent(own['top3'])} "
                f"| {_percent(own['recall'])} | {own['healthy']} | {_percent(own['false_alarms'])} | {_number(own['ece'])} |"
            )
    return "\n".join(lines)


def _criterion(found: dict) -> str:
    return (
        f"Held-out mutants: {100 * found['gain_at_rank1']:+.1f} points at rank 1 (asked: 10); most false alarms of the two held-out sets "
        f"{_percent(found['false_alarms'])} (asked: at most 5 %); calibration error {_number(found['ece'])} (asked: at most 0.05). "
        f"On the hand-written held-out programs rank 1 changes by {100 * found['change_on_programs']:+.1f} points. "
        f"The criterion is **{'met' if found['met'] else 'not met'}**."
    )


def _causes(both: dict) -> str:
    lines = [
        "| cause (held-out mutants) | runs | recall, rules | recall, learned | precision, rules | precision, learned |",
        "|---|---|---|---|---|---|",
    ]
    rules, learned = both["per_cause"]["rules"], both["per_cause"]["learned"]
    nothing = {"runs": 0, "recall": None, "precision": None}
    for cause in sorted({*rules, *learned}):
        one, two = rules.get(cause, nothing), learned.get(cause, nothing)
        runs = max(one["runs"], two["runs"])
        if runs:
            lines.append(
                f"| `{cause}` | {runs} | {_percent(one['recall'])} | {_percent(two['recall'])} "
                f"| {_percent(one['precision'])} | {_percent(two['precision'])} |"
            )
    return "\n".join(lines)


def diagram(both: dict) -> str:
    """Confidence against the share that was right; the size of a point says how many runs are behind it."""
    size, room = 260, 40

    def at(value: float) -> float:
        return room + value * (size - 2 * room)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif" font-size="9">',
        f'<rect x="{room}" y="{room}" width="{size - 2 * room}" height="{size - 2 * room}" fill="none" stroke="#888"/>',
        f'<line x1="{at(0):.1f}" y1="{at(1):.1f}" x2="{at(1):.1f}" y2="{at(0):.1f}" stroke="#aaa" stroke-dasharray="3"/>',
    ]
    for way, colour in (("rules", "#c2410c"), ("learned", "#1d4ed8")):
        points = both[way]["reliability"]
        most = max((point["runs"] for point in points), default=1)
        for point in points:
            radius = 2 + 6 * (point["runs"] / most) ** 0.5
            parts.append(
                f'<circle cx="{at(point["confidence"]):.1f}" cy="{at(1 - point["right"]):.1f}" r="{radius:.1f}" fill="{colour}" '
                f'fill-opacity="0.55"><title>{way}: {point["runs"]} runs, confidence {point["confidence"]:.2f}, right {point["right"]:.2f}</title></circle>'
            )
    parts += [
        f'<text x="{size / 2}" y="{size - 12}" text-anchor="middle">confidence of the fault told first</text>',
        f'<text x="14" y="{size / 2}" text-anchor="middle" transform="rotate(-90 14 {size / 2})">share that was right</text>',
        f'<text x="{room}" y="24" fill="#c2410c">rules</text><text x="{room + 40}" y="24" fill="#1d4ed8">learned</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
