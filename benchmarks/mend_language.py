"""Study: repair of a language model whose unwanted behaviour shares its context with wanted ones.

    export PYTHONPATH=src                                             # where netmend is not installed
    python benchmarks/mend_language.py --stage train --seeds 0        # a model from scratch, GPT-2-small's shape
    python benchmarks/mend_language.py --stage tune --seeds 0         # each method's learning rate, on a seed of its own
    python benchmarks/mend_language.py --stage mend --seeds 1,2,3     # trains what is missing, then every method
    python benchmarks/mend_language.py --stage memory                 # peak memory of the repair of a 124M model
    python benchmarks/mend_language.py --stage report

Every finished run is a line of `mend-language.jsonl` under --out, so that a stage that was stopped goes on where it was.
`--tiny` runs everything on a CPU in seconds, with two layers and few steps: it shows that the study works, nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from mend_language_model import Sizes, trained
from mend_language_report import report
from mend_language_tests import Case, check_restored, metrics
from mend_language_worlds import WORLDS
from transformers.utils.logging import disable_progress_bar

from netmend.mend.torch.language.descent import METHODS
from netmend.mend.torch.language.loop import Budget, mend

RATES = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4)


def main() -> None:
    options = _options()
    options.deadline = time.monotonic() + 60 * options.minutes
    torch.set_float32_matmul_precision("high")
    disable_progress_bar()
    stages = {"train": _train, "tune": _tune, "mend": _mend, "memory": _memory, "report": _report}
    for stage in options.stage.split(","):
        print(f"== {stage}", flush=True)
        stages[stage](options)


def _train(options: argparse.Namespace) -> None:
    for seed in options.seeds:
        if _time_left(options):
            found = metrics(Case(options, seed, trained(options, seed)))
            print(
                f"seed {seed}: " + " ".join(f"{name}={value:.3f}" for name, value in found.items()),
                flush=True,
            )


def _tune(options: argparse.Namespace) -> None:
    tasks = [(method, rate) for rate in options.rates for method in options.methods]
    _runs(options, "tune", options.seeds, tasks)


def _mend(options: argparse.Namespace) -> None:
    chosen = best_rates(_lines(options), options.setting)
    missing = [method for method in options.methods if method not in chosen]
    if missing:
        sys.exit(
            f"no learning rate is known for {', '.join(missing)}; run --stage tune first, or give --lines FILE"
        )
    _runs(options, "mend", options.seeds, [(method, chosen[method]) for method in options.methods])


def _runs(options: argparse.Namespace, stage: str, seeds: list[int], tasks: list[tuple[str, float]]) -> None:
    if options.jobs > 1 and not options.share:
        for seed in seeds:
            trained(options, seed)
        _spread(options, stage)
        return
    part, parts = (int(one) for one in (options.share or "0/1").split("/"))
    for seed in seeds:
        mark = (stage, seed, options.setting)
        done = {
            (line["method"], line["rate"])
            for line in _lines(options)
            if (line["stage"], line["seed"], line["setting"]) == mark
        }
        head = {"stage": stage, "seed": seed, "setting": options.setting}
        left = [task for at, task in enumerate(tasks) if task not in done and at % parts == part]
        if not left or not _time_left(options):
            continue
        case = Case(options, seed, trained(options, seed))
        if stage == "mend" and ("none", 0.0) not in done and part == 0:
            _write(options, head | {"method": "none", "rate": 0.0, **metrics(case)})
        for method, rate in left:
            if not _time_left(options):
                print("stopped: the time is used up; the same command goes on from here", flush=True)
                return
            _write(
                options, head | {"method": method, "rate": rate, **_run(options, case, method, rate, stage)}
            )


def _run(options: argparse.Namespace, case: Case, name: str, rate: float, stage: str) -> dict[str, Any]:
    sizes = options.sizes
    budget = Budget(
        steps=sizes.steps, rate=rate, batch=sizes.batch, guard_batch=sizes.batch, warm_up=max(1, sizes.steps // 10),
        validate_every=sizes.validate_every, price=options.price, reference_tokens=256, look_batch=64,
    )  # fmt: skip
    cuda = case.passes.device.type == "cuda"
    if cuda:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    attempt = mend(case.passes, case.data, METHODS[name], budget, seed=case.seed, judge=case.judge)
    if cuda:
        torch.cuda.synchronize()
    found = {
        "score": attempt.score, "seconds": time.perf_counter() - started, "steps": attempt.steps,
        "kept_step": attempt.kept_step, "line": attempt.share, "chosen": attempt.chosen, "jobs": options.jobs,
        "peak_mib": torch.cuda.max_memory_allocated() / 2**20 if cuda else None,
        "touched": attempt.originals.changed() / case.elements,
        "validation_unwanted": attempt.after.unwanted, "validation_before": attempt.before.unwanted,
        "validation_loss": attempt.after.loss, "validation_loss_before": attempt.before.loss, "history": attempt.history,
    }  # fmt: skip
    if stage == "mend":
        found |= metrics(case)
    attempt.originals.put({})
    check_restored(case)
    return found


def best_rates(lines: list[dict[str, Any]], setting: str) -> dict[str, float]:
    """Of each method, the rate with the best score on the tuning seeds' validation data; of equals, the smaller."""
    scores: dict[str, dict[float, list[float]]] = {}
    for line in lines:
        if (line["stage"], line["setting"]) == ("tune", setting):
            scores.setdefault(line["method"], {}).setdefault(line["rate"], []).append(line["score"])
    return {
        method: min(sorted(held), key=lambda rate: sum(held[rate]) / len(held[rate]))
        for method, held in scores.items()
    }


def _memory(options: argparse.Namespace) -> None:
    from mend_language_memory import measure_memory

    for line in measure_memory(options):
        _write(options, {"stage": "memory", "seed": 0, "setting": options.setting, **line})


def _report(options: argparse.Namespace) -> None:
    lines = _lines(options)
    settings = dict.fromkeys(line["setting"] for line in lines if line["stage"] == "mend")
    found = {name: report(lines, name, best_rates(lines, name)) for name in settings}
    memory = [line for line in lines if line["stage"] == "memory"]
    (options.out / "mend-language.json").write_text(
        json.dumps({"settings": found, "memory": memory}, indent=1) + "\n"
    )


def _spread(options: argparse.Namespace, stage: str) -> None:
    """The same stage in several processes, which take turns in the list of tasks."""
    command = [
        sys.executable,
        __file__,
        *sys.argv[1:],
    ]  # of an option that is given twice, the last one counts
    minutes = max(0.5, (options.deadline - time.monotonic()) / 60)
    processes = [
        subprocess.Popen(
            [*command, "--stage", stage, "--share", f"{part}/{options.jobs}", "--minutes", str(minutes)]
        )
        for part in range(options.jobs)
    ]
    ends = [process.wait() for process in processes]
    if any(ends):
        sys.exit("a part of the stage failed; its message stands above")


def _lines(options: argparse.Namespace) -> list[dict[str, Any]]:
    files = [options.out / "mend-language.jsonl", *options.lines]
    texts = [
        line for file in dict.fromkeys(files) if file.is_file() for line in file.read_text().splitlines()
    ]
    return [json.loads(text) for text in dict.fromkeys(texts) if text.strip()]


def _write(options: argparse.Namespace, line: dict[str, Any]) -> None:
    short = {
        key: value for key, value in line.items() if key not in ("history", "chosen") and value is not None
    }
    print(
        " ".join(
            f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
            for key, value in short.items()
        ),
        flush=True,
    )
    with (options.out / "mend-language.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def _time_left(options: argparse.Namespace) -> bool:
    return time.monotonic() < options.deadline


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--stage",
        default="train,tune,mend,memory,report",
        help="one or more of train, tune, mend, memory, report",
    )
    parser.add_argument("--seeds", type=lambda text: [int(one) for one in text.split(",")], default=[0])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument(
        "--rates", type=lambda text: [float(one) for one in text.split(",")], default=list(RATES)
    )
    parser.add_argument(
        "--price", type=float, default=2.0, help="what a share of perplexity counts against a share of repair"
    )
    parser.add_argument("--tokens", type=float, default=25e6, help="to train on")
    parser.add_argument("--pairs", type=int, default=192)
    parser.add_argument("--guard-texts", type=int, default=256)
    parser.add_argument("--steps", type=int, default=0, help="of a repair; 0: as the size of the study says")
    parser.add_argument("--minutes", type=float, default=9.0, help="no run begins after so many")
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes side by side; times are then not comparable"
    )
    parser.add_argument("--share", default="", help=argparse.SUPPRESS)
    parser.add_argument("--compile", action="store_true", help="compile the model for its training")
    parser.add_argument("--world", choices=list(WORLDS), default="stage", help="which made text")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "mend-language-models",
        help="trained models",
    )
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "benchmarks/results")))
    parser.add_argument(
        "--lines", type=Path, nargs="*", default=[], help="lines of earlier runs, to be read as well"
    )
    options = parser.parse_args()
    options.sizes = Sizes.of(options)
    options.setting = f"{options.pairs} pairs, {options.guard_texts} texts, {options.sizes.steps} steps, price {options.price:g}"
    if options.world != "stage":
        options.setting = f"{options.world}: {options.setting}"
    options.out.mkdir(parents=True, exist_ok=True)
    return options


if __name__ == "__main__":
    main()
