"""An event file for TensorBoard: every column of every table as a scalar curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from netmend.errors import MissingExtra, UsageError
from netmend.export.as_parquet import printable
from netmend.vocabulary.trace import Trace

SUFFIX = ".netmend"  # of the files that we may replace; others in the directory are not ours


def export_tensorboard(trace: Trace, destination: Path, force: bool = False) -> list[Path]:
    """One event file in the log directory `destination`; curves are named kind/component/column."""
    try:
        # TensorBoard's own writer: torch.utils.tensorboard would pull torch into a core that works without it.
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as error:
        raise MissingExtra(
            "exporting to tensorboard needs tensorboard; install it: pip install 'netmend[export]'"
        ) from error
    earlier = earlier_files(destination, force)
    writer = EventFileWriter(str(destination), filename_suffix=SUFFIX)
    try:
        for tag, step, wall_time, value in points(trace):
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
            writer.add_event(Event(wall_time=wall_time, step=step, summary=summary))
    finally:
        writer.close()
    for path in earlier:
        path.unlink(missing_ok=True)
    return sorted(set(event_files(destination)) - set(earlier))


def event_files(directory: Path) -> list[Path]:
    return [path for path in directory.glob("events.out.tfevents.*") if path.name.endswith(SUFFIX)]


def earlier_files(directory: Path, force: bool) -> list[Path]:
    """Our files of an earlier export: TensorBoard would draw both on top of each other."""
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory} is a file; TensorBoard needs a directory to read from")
    found = event_files(directory) if directory.is_dir() else []
    if found and not force:
        raise UsageError(f"{found[0]} exists already; choose another directory or replace it with --force")
    return found


def points(trace: Trace) -> Iterator[tuple[str, int, float, float]]:
    """Tag, step, wall time and value of everything measured, curve by curve in the order of steps."""
    clock = wall_clock(trace)
    for table in trace.tables.values():
        for index, column in enumerate(table.columns):
            tag = printable("/".join(part for part in (table.kind, table.component, column) if part))
            values = table.values[:, index]
            for row in np.flatnonzero(~np.isnan(values)):
                step = int(table.steps[row])
                yield tag, step, clock(step), float(values[row])


def wall_clock(trace: Trace) -> Callable[[int], float]:
    """Step → seconds since the epoch, spread evenly over the run: enough for TensorBoard's relative axis."""
    run = trace.run
    last = max((int(table.steps[-1]) for table in trace.tables.values() if len(table)), default=0)
    seconds = run.seconds or ((run.ended or run.started) - run.started)
    return lambda step: run.started + seconds * step / max(last, 1)
