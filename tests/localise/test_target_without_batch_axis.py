"""A target that is one number: the index that took its batch axis is told, no reshape of the model's output."""

from __future__ import annotations

from pathlib import Path

from netmend.localise import diagnose
from netmend.vocabulary import RunFact, Site, Trace


def test_a_slice_keeps_the_axis(tmp_path: Path) -> None:
    lines = "for c in range(5):\n    output, hidden = decoder(inp[c], hidden)\n    loss += criterion(output, target[c])\n"
    (tmp_path / "train.py").write_text(lines, encoding="utf-8")
    text = "ValueError: Expected input batch_size (1) to match target batch_size (0)."
    run = RunFact(
        "one", "train.py", working_directory=str(tmp_path), status="failed", exception=text,
        exception_site=Site("train.py", 3),
    )  # fmt: skip
    (told,) = diagnose(Trace(facts={"run": {"one": run}})).faults
    assert told.cause == "TSR-SHAPE" and told.site is not None and told.site.line == 3
    assert told.remedy == "Keep the batch axis of the target: `target[c:c + 1]` instead of `target[c]`."
