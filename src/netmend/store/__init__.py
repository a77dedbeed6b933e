"""The run store: a run is a directory with one SQLite file per rank. docs/format.md describes the file."""

from netmend.store.reader import read_trace
from netmend.store.runs import RunInfo, find_run, list_runs, new_run_id, recorded_ranks, runs_root
from netmend.store.thinning import Limits
from netmend.store.writer import RunWriter

__all__ = [
    "Limits",
    "RunInfo",
    "RunWriter",
    "find_run",
    "list_runs",
    "new_run_id",
    "read_trace",
    "recorded_ranks",
    "runs_root",
]
