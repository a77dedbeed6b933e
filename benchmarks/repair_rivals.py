"""Searches without diagnosis, over the same changes: random, TPE (Optuna), and AutoTrainer's ordered solutions.

The changes are all that any repair offers for the program, whatever was told of it. Budget, early stopping, proof and scoring are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import optuna

from netmend.repair.problem import Problem
from netmend.repair.propose import everything
from netmend.repair.result import Result
from netmend.repair.version import Version
from netmend.trials.runner import Runner
from netmend.trials.trial import Outcome, Target
from netmend.verify.verify import verify
from netmend.vocabulary import ModuleFact, Trace
from netmend.vocabulary.change import Change

_LEAVE = -1
_MOST_AT_ONCE = 3  # changes that random search and TPE combine; with more, hardly any program runs

optuna.logging.set_verbosity(optuna.logging.WARNING)


def blind(sampler: Callable[[], optuna.samplers.BaseSampler]) -> Callable[..., Result]:
    """Optuna asks for up to three knobs and their values; the best version is handed to the proof."""

    def method(folder: Path, script: str, executor) -> Result:
        problem = _problem(folder, script, executor)
        best, version = problem.baseline, problem.original
        trace = problem.trace(best)
        knobs: dict[str, list[Change]] = {}
        for change in everything(trace, problem.sources(trace)) if trace is not None else ():
            knobs.setdefault(change.knob, []).append(change)
        names = sorted(knobs)
        study = optuna.create_study(direction="maximize", sampler=sampler())
        tries = 0
        while names and problem.affordable >= 1 and tries < 400:
            asked = []
            while len(asked) < executor.jobs and tries < 400:
                tries += 1
                trial = study.ask()
                chosen = {}
                for place in range(_MOST_AT_ONCE):
                    name = trial.suggest_categorical(f"knob {place}", [_LEAVE, *range(len(names))])
                    if name != _LEAVE:
                        options = knobs[names[name]]
                        index = trial.suggest_int(f"value {place} of {names[name]}", 0, len(options) - 1)
                        chosen[names[name]] = options[index]
                made = _made(problem, problem.baseline, list(chosen.values()))
                if made is None:
                    study.tell(trial, -2.0)
                else:
                    asked.append((trial, made))
            outcomes = problem.run([made for _, made in asked], against=problem.baseline)
            for (trial, made), outcome in zip(asked, outcomes, strict=True):
                gain = problem.gain(problem.baseline, outcome)
                study.tell(trial, gain if np.isfinite(gain) else -2.0)
                if problem.gain(best, outcome) > 0:
                    best, version = outcome, made
        return _result(problem, version, best)

    return method


def autotrainer(folder: Path, script: str, executor) -> Result:
    """Symptoms by AutoTrainer's thresholds, its solutions in its default order; the first that removes the symptom stays."""
    problem = _problem(folder, script, executor)
    best, version = problem.baseline, problem.original
    trace = problem.trace(best)
    offered = everything(trace, problem.sources(trace)) if trace is not None else []
    for symptom in _symptoms(trace) if trace is not None else ():
        for change in _solutions(symptom, offered):
            if problem.affordable < 1:
                break
            made = _made(problem, problem.baseline, [change])
            if made is None:
                continue
            outcome = problem.run([made])[0]
            if problem.gain(best, outcome) > 0:
                best, version = outcome, made
            after = problem.trace(outcome)
            if outcome.ran and after is not None and symptom not in set(_symptoms(after)):
                break
    return _result(problem, version, best)


# Repairs that do what a solution of AutoTrainer does, in its "balance" order. Gaussian noise, early stopping and ReduceLROnPlateau have no counterpart.
_ORDER = {
    "vanish": ("R301", "R306"),
    "explode": ("R301", "R405", "R306"),
    "dying": ("R301", "R306", "R303"),
    "oscillating": ("R402", "R401", "R408", "R403", "R303"),
    "slow": ("R402", "R401", "R303"),
    "output": ("R202", "R201", "R203", "R204"),
    "data": ("R502", "R503"),
}


def _solutions(symptom: str, offered: list[Change]) -> Iterator[Change]:
    for code in _ORDER[symptom]:
        yield from [change for change in offered if change.repair == code][:3]


def _symptoms(trace: Trace) -> list[str]:
    """Published thresholds: beta_1 1e-3, beta_2 1e-4, beta_3 70, gamma 0.7, zeta 0.03, eta 0.2, delta 0.01, omega 10."""
    found = []
    weights = [p for p in trace.parameters if len(p.shape) > 1]
    norms = {p.name: trace.series("gradient", p.name, "rms")[1] * np.sqrt(np.prod(p.shape)) for p in weights}
    firsts = [norms[p.name] for p in weights if len(norms[p.name])]
    if len(firsts) > 1:
        count = min(len(firsts[0]), len(firsts[-1]))
        first, last = firsts[0][:count], firsts[-1][:count]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = first / last
        if np.nanmedian(ratio) < 1e-3 and np.nanmedian(first) < 1e-4:
            found.append("vanish")
        if np.isnan(ratio).any() or np.nanmax(ratio, initial=0) > 70:
            found.append("explode")
    zero = [trace.series("gradient", p.name, "zero_share")[1] for p in weights]
    shares = [float(np.mean(z[-5:])) for z in zero if len(z)]
    if shares and np.mean(shares) >= 0.7:
        found.append("dying")
    _, metric = max(
        (trace.series("progress", t.component, "metric") for t in trace.tables_of("progress")),
        key=lambda x: len(x[0]),
        default=((), np.empty(0)),
    )
    late = metric[int(0.3 * len(metric)) :]
    if len(late) > 4:
        swings = np.abs(np.diff(late)) >= 0.03
        if swings.mean() >= 0.2:
            found.append("oscillating")
        if np.max(np.abs(np.diff(metric))) < 0.01 or (metric[-1] - metric[0]) < 0.01:
            found.append("slow")
    inputs = [trace.series("input", m.name, "maximum")[1] for m in trace.models]
    if any(len(x) and np.nanmax(np.abs(x)) > 10 for x in inputs):
        found.append("data")
    last_layer = [m for m in trace.all(ModuleFact) if m.leaf and m.activation]
    if trace.losses and (last_layer or trace.tasks):
        found.append("output")
    return found


def _problem(folder: Path, script: str, executor) -> Problem:
    target = Target(script, (), False, str(folder))
    problem = Problem(Runner(target, folder / ".netmend" / "trials", executor))
    problem.start()
    return problem


def _made(problem: Problem, base: Outcome, changes: list[Change]) -> Version | None:
    edits = tuple(edit for change in changes for edit in change.edits)
    if not edits:
        return None
    whole = Change(
        changes[0].repair, changes[0].cause, ", ".join(c.title for c in changes), edits, knob="blind"
    )
    return problem.original.extended(whole, base.root, problem.runner.target.directory)


def _result(problem: Problem, version: Version, best: Outcome) -> Result:
    target = problem.runner.target
    verification, before, after = verify(problem, version) if version.parts else (None, [], [])
    return Result(
        target.script, target.directory, (), version, problem.objective, problem.baseline, best, None, (),
        verification, problem.spent, problem.runner.used.seconds, "20 trainings", before=tuple(before), after=tuple(after),
    )  # fmt: skip


RIVALS = {
    "random": blind(lambda: optuna.samplers.RandomSampler(seed=0)),
    "tpe": blind(
        lambda: optuna.samplers.TPESampler(
            seed=0, multivariate=True, group=True, warn_independent_sampling=False
        )
    ),
    "autotrainer": autotrainer,
}
