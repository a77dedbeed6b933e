"""Figures of a run's page: a spike does not flatten the rest, nothing is shown twice, labels have room."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sample

from netmend.report.axes import Axis
from netmend.report.plots import WIDTH, line_chart
from netmend.report.run.curves import Curve, Line, cuts, has_spike
from netmend.report.run.page import run_page
from netmend.report.terminal import console
from netmend.vocabulary import FAULTY, HEALTHY, Diagnosis, Evidence, Fault, Table, Trace

STEPS = np.arange(60)


def spiky(low: float = 1.2) -> np.ndarray:
    """14.9 at first, 591,400 at step 10, then nearly still; a batch is answered perfectly now and then."""
    values = low + 0.01 * np.cos(STEPS)
    values[0], values[10], values[40] = 14.9, 591_400, 0.0
    return values


def exploded(values: np.ndarray) -> Trace:
    """The healthy run with another loss."""
    trace = sample.healthy()
    tables: dict[tuple[str, str], Table] = {}
    for key, table in trace.tables.items():
        if key[0] in ("step", "progress"):
            column = table.columns.index("loss")
            other = table.values.copy()
            other[:, column] = np.resize(values[20:], len(other))
            other[: len(values), column] = values[: len(other)]
            table = Table(table.kind, table.component, table.columns, table.steps, other)
        tables[key] = table
    return Trace(trace.facts, tables, trace.patterns, trace.events)


def fault(code: str, symptom: str, line: int, step: int) -> Fault:
    evidence = (Evidence("The loss jumped.", 2.0, symptom),)
    related = (sample.at(line + 1), sample.at(line + 2))
    words = ("A summary.", "A reason.", "A remedy.", "A doubt.")
    return Fault(code, 0.9, "net", sample.at(line), *words, evidence, related, step, title=f"fault {line}")


def diagnosis() -> Diagnosis:
    faults = (
        fault("HYP-LR-HIGH", "D501", 27, 30),  # the loss on the scale of the best constant prediction
        fault("EPOCH-FEW", "D211", 31, 40),  # the gradient's norm
        fault("TRN-ORDER", "D603", 52, 50),  # the loss itself
        fault("ACT-DEAD", "D104", 60, 60),  # silent units
    )
    return Diagnosis(FAULTY, faults)


def heights(drawing: str) -> list[float]:
    path = re.search(r'<path class="line c0" d="([^"]+)"', drawing)
    assert path is not None
    return [float(point.split()[1]) for point in re.split("[ML]", path[1]) if point]


def test_a_loss_that_touches_zero_still_gets_a_logarithmic_axis() -> None:
    line = Line("training", STEPS, spiky())
    assert has_spike([line])
    axis = Axis.over([line.values], log=True)
    assert axis is not None and axis.log and axis.low == pytest.approx(1.19, abs=0.01)
    assert axis.position(0.0) == 0.0 and axis.position(-1.0) is None
    curve = Curve("loss", (line,), log=True)
    assert list(cuts(curve, axis)) == ["0 is drawn on the lower edge"]
    drawn = str(line_chart(curve, log=True))
    assert "0 is drawn on the lower edge" in drawn
    # On a linear axis, to which a zero led, 14.9 lies on the ground with all the others.
    assert max(heights(drawn)) - heights(drawn)[0] > 20


@pytest.mark.parametrize(("sign", "word"), [(1, "highest 591,400"), (-1, "lowest -591,400")])
def test_values_of_both_signs_are_clipped_and_the_plot_says_so(sign: int, word: str) -> None:
    values = sign * np.where(STEPS == 10, 591_400.0, np.cos(STEPS))
    curve = Curve("loss", (Line("training", STEPS, values),), log=True)
    drawn = str(line_chart(curve, log=True))
    assert re.search(rf"clipped at -?[\d.]+; {word} at step 10<", drawn)
    assert max(heights(drawn)) - min(heights(drawn)) > 100
    spread = sorted(heights(drawn))[2:-2]
    assert spread[-1] - spread[0] > 30
    assert "clipped" not in str(line_chart(curve))


def test_a_zero_course_and_a_mere_fall_need_no_other_axis() -> None:
    assert not has_spike([Line("training", STEPS, np.zeros(60))])
    assert not has_spike([Line("training", STEPS, np.linspace(-3, -9, 60))])
    zeros = Axis.over([np.zeros(60)], log=True)
    assert zeros is not None and not zeros.log
    fall = Axis.over([np.linspace(3, -9, 60)], log=True)
    assert fall == Axis(-9.0, 3.0)


def test_the_terminal_names_the_axis_too() -> None:
    from io import StringIO

    from netmend.report.run.terminal_page import run_text

    def printed(values: np.ndarray) -> str:
        stream = StringIO()
        screen = console(stream)
        screen.width = 100
        screen.print(run_text(exploded(values)))
        return stream.getvalue()

    assert "loss, log scale, 0 is drawn on the lower edge" in printed(spiky())
    assert re.search(r"loss, clipped at [\d.]+; highest 591,399 at step 11", printed(spiky() - 1.2))


def test_a_figure_stands_once_and_is_referred_to() -> None:
    page = run_page(exploded(spiky()), diagnosis=diagnosis())
    assert re.findall(r'<figure id="figure-loss"', page) == ['<figure id="figure-loss"']
    captions = re.findall(r"<figcaption><b>([^<]+)</b>", page)
    assert len(captions) == len(set(captions)) and captions[:2] == ["loss", "gradient norm"]
    assert "relative loss" not in page  # the loss has the best constant prediction's line
    assert 'See also the figure with fault 1: <a href="#figure-loss">loss</a>.' in page
    assert "Shown with the faults above: " in page
    # Both faults that point at it have their mark, and the switch came with it.
    figure = page[page.index('id="figure-loss"') : page.index("</figure>")]
    assert figure.count('class="mark"') == 2 * 2 and 'for="figure-loss-log"' in figure
    for address in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{address}"' in page


def test_other_lines_of_a_fault_stand_apart_from_its_component() -> None:
    text = re.sub(r"<[^>]+>", "", run_page(exploded(spiky()), diagnosis=diagnosis()))
    assert "train.py:27 net · see also train.py:28, train.py:29" in text


def test_labels_of_large_values_have_room_on_a_phone() -> None:
    """A label's characters are at most 8.4 units wide where the page is 400 pixels; none may lie left of the picture."""
    curve = Curve("loss", (Line("training", STEPS, np.linspace(1, 591_400, 60)),))
    labels = re.findall(r'<text class="tick end" x="([\d.]+)" y="[\d.]+">([^<]+)<', str(line_chart(curve)))
    assert any(len(label) == 7 for _, label in labels)
    for x, label in labels:
        assert 0 <= float(x) - 8.3 * len(label) < float(x) < WIDTH


def test_a_healthy_run_says_so_in_the_words_of_the_terminal() -> None:
    page = run_page(sample.healthy(), diagnosis=Diagnosis(HEALTHY))
    assert '<h1 class="verdict healthy">No fault found</h1>' in page
