"""Synthetic traces as a recorder would write them: healthy, GAN, empty, failed with nan, and a very large one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from netmend.vocabulary import (
    COLUMNS,
    BatchPrint,
    Call,
    EnvironmentFact,
    Event,
    Fact,
    FunctionFact,
    GroupFact,
    LoaderFact,
    LossFact,
    ModelFact,
    ModuleFact,
    OperandFact,
    OptimizerFact,
    ParameterFact,
    Pattern,
    RunFact,
    SchedulerFact,
    Site,
    Statistics,
    Table,
    TargetFact,
    TaskFact,
    Trace,
)
from netmend.vocabulary.facts import KIND_OF_FACT

HOME = "/srv/project"
LOSS = "cross_entropy@train.py:52"
ENVIRONMENT = EnvironmentFact(
    python="3.11.7",
    framework="torch 2.13.0",
    numpy="2.3.1",
    platform="Linux x86_64",
    device="cpu",
    default_dtype="torch.float32",
    threads=8,
)


def at(line: int, file: str = f"{HOME}/train.py") -> Site:
    return Site(file, line)


def make_trace(
    facts: Iterable[Fact],
    tables: Iterable[Table] = (),
    patterns: tuple[Pattern, ...] = (),
    events: tuple[Event, ...] = (),
    batches: tuple[BatchPrint, ...] = (),
) -> Trace:
    kinds: dict[str, dict[str, Fact]] = {}
    for fact in facts:
        kinds.setdefault(KIND_OF_FACT[type(fact)], {})[fact.name] = fact
    return Trace(kinds, {(table.kind, table.component): table for table in tables}, patterns, events, batches)


def table(kind: str, component: str, steps: np.ndarray, **columns: np.ndarray | float) -> Table:
    """A table with the named columns filled and the others not measured."""
    values = np.full((len(steps), len(COLUMNS[kind])), np.nan)
    for name, column in columns.items():
        values[:, COLUMNS[kind].index(name)] = column
    return Table(kind, component, COLUMNS[kind], np.asarray(steps, dtype=np.int64), values)


def decay(steps: np.ndarray, start: float, end: float, noise: float, seed: int) -> np.ndarray:
    """A falling curve with multiplicative noise, as losses have."""
    rate = 4.0 / max(1, int(steps[-1]))
    curve = end + (start - end) * np.exp(-rate * steps)
    return curve * np.exp(noise * np.random.default_rng(seed).standard_normal(len(steps)))


def run_fact(**changes: object) -> RunFact:
    values: dict[str, object] = {
        "name": "20260726-140312-train",
        "script": "train.py",
        "arguments": ("--epochs", "3"),
        "working_directory": HOME,
        "started": 1_785_000_000.0,
        "ended": 1_785_000_043.0,
        "status": "finished",
        "exit_code": 0,
        "steps": 1200,
        "seconds": 42.3,
        "own_seconds": 0.25,
        "overhead": 0.006,
        "steady_overhead": 0.006,
        "full_steps": 60,
        "light_steps": 840,
        "netmend_version": "0.1.0",
    }
    return RunFact(**{**values, **changes})  # type: ignore[arg-type]


def linear_layers(model: str, sizes: list[int], optimizer: str, order: int = 0, line: int = 12) -> list[Fact]:
    """Linear layers with ReLU between them, as facts."""
    facts: list[Fact] = []
    for index, (wide, out) in enumerate(pairwise(sizes)):
        name = f"{model}.fc{index + 1}"
        facts.append(
            ModuleFact(
                name,
                "Linear",
                model,
                "torch.nn.modules.linear.Linear",
                {"in_features": wide, "out_features": out},
                order=order,
                calls=1,
                input_shapes=((64, wide),),
                output_shapes=((64, out),),
                output_dtype="torch.float32",
                created=at(line + index),
                called=at(line + 10 + index),
            )
        )
        order += 1
        for suffix, dimensions in (("weight", (out, wide)), ("bias", (out,))):
            facts.append(
                ParameterFact(
                    f"{name}.{suffix}",
                    name,
                    dimensions,
                    "torch.float32",
                    "cpu",
                    True,
                    optimizer,
                    0,
                    Statistics(0.0, 0.05, 0.05, -0.1, 0.1, 0.0, 0),
                    0.0,
                )
            )
        if index < len(sizes) - 2:
            site = at(line + 10 + index)
            name = f"relu@train.py:{site.line}"
            facts.append(
                FunctionFact(
                    name,
                    "relu",
                    "activation",
                    model,
                    model,
                    f"{model}.fc{index + 1}",
                    {},
                    order,
                    (64, out),
                    site,
                )
            )
            order += 1
    return facts


def layer_tables(facts: list[Fact], steps: np.ndarray, seed: int = 0) -> list[Table]:
    """Activation, gradient, weight and update tables for all layers and parameters among the facts."""
    random = np.random.default_rng(seed)
    tables = []
    for depth, fact in enumerate(facts):
        noise = np.exp(0.2 * random.standard_normal(len(steps)))
        if isinstance(fact, ModuleFact) and fact.leaf:
            tables.append(
                table(
                    "activation",
                    fact.name,
                    steps,
                    mean=0.0,
                    std=0.8,
                    rms=0.9 * noise,
                    zero_share=0.0,
                    silent_share=0.0,
                )
            )
        elif isinstance(fact, FunctionFact):
            silent = np.clip(0.02 * depth * noise, 0, 1)
            tables.append(
                table(
                    "activation",
                    fact.name,
                    steps,
                    mean=0.3,
                    rms=0.5 * noise,
                    zero_share=0.48,
                    silent_share=silent,
                )
            )
        elif isinstance(fact, ParameterFact):
            size = 3e-3 * 0.8**depth
            tables.append(
                table("gradient", fact.name, steps, rms=size * noise, mean=0.0, zero_share=0.01, nonfinite=0)
            )
            tables.append(table("weight", fact.name, steps, rms=0.05, mean=0.0, nonfinite=0))
            tables.append(table("update", fact.name, steps, rms=5e-5, ratio=1.2e-3 * noise, maximum=1e-3))
    return tables


def loop(model: str = "model", optimizer: str = "optimizer", loss: str = LOSS) -> tuple[Call, ...]:
    return (
        Call("batch", "loader", "", at(48)),
        Call("zero_grad", optimizer, "", at(49)),
        Call("forward", model, "train, grad", at(50)),
        Call("loss", loss, "", at(52)),
        Call("backward", loss, "", at(53)),
        Call("step", optimizer, "", at(54)),
    )


def program_facts() -> list[Fact]:
    """Facts of a five-layer classifier of digits, without its layers."""
    groups = (
        GroupFact(
            {"lr": 0.001, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}, ("model.fc1.weight",)
        ),
    )
    prediction = OperandFact(
        "prediction", (64, 10), "torch.float32", True, -0.4, 0.5, 0.01, 0.2, False, False
    )
    target = OperandFact("target", (64,), "torch.int64", False, 0, 9, 4.4, 2.9, True, None, 10)
    modules = tuple(f"model.fc{index}" for index in range(1, 6))
    return [
        ENVIRONMENT,
        ModelFact(
            "model", "MLP", modules, 575_050, 575_050, "cpu", "torch.float32", created=at(30), called=at(50)
        ),
        OptimizerFact("optimizer", "AdamW", groups, at(33), at(54)),
        SchedulerFact("scheduler", "StepLR", "optimizer", {"step_size": 400, "gamma": 0.5}, at(34), at(60)),
        LossFact(
            LOSS,
            "cross_entropy",
            "function",
            {"label_smoothing": 0.0},
            (prediction, target),
            (),
            None,
            at(52),
            at(53),
        ),
        TaskFact(LOSS, "classification", 10, ("targets are whole numbers 0…9",)),
        TargetFact(LOSS, 3840, {str(index): 380 + index for index in range(10)}, constant_loss=2.3026),
        LoaderFact("loader", "Digits", 50_000, 64, True, "RandomSampler", phase="training", created=at(40)),
        LoaderFact(
            "held_out", "Digits", 10_000, 256, False, "SequentialSampler", phase="evaluation", created=at(41)
        ),
    ]


def healthy(**changes: object) -> Trace:
    """A five-layer classifier that learns, 1,200 steps, evaluated every 400."""
    layers = linear_layers("model", [784, 512, 256, 128, 64, 10], "optimizer")
    steps = np.arange(1, 1201)
    sampled = np.arange(1, 1201, 20)
    loss = decay(steps, 2.31, 0.08, 0.15, 1)
    passes = np.array([400, 800, 1200])
    tables = [
        table(
            "step",
            "optimizer",
            steps,
            loss=loss,
            backwards=1,
            seconds=0.03,
            gradient_norm=decay(steps, 1.2, 0.3, 0.3, 2),
        ),
        table("rate", "optimizer[0]", np.array([1, 401, 801]), rate=np.array([1e-3, 5e-4, 2.5e-4])),
        table(
            "progress",
            LOSS,
            sampled,
            loss=loss[::20],
            constant_loss=2.3,
            metric=1 - decay(sampled, 0.8, 0.02, 0.04, 3),
        ),
        table(
            "evaluation",
            "cross_entropy@train.py:70",
            passes,
            loss=np.array([0.4, 0.21, 0.16]),
            metric=np.array([0.88, 0.94, 0.953]),
            samples=10_000,
            batches=40,
            training_mode=0,
            grad_enabled=0,
        ),
        *layer_tables(layers, sampled),
    ]
    evaluated = (
        Call("eval", "model", "", at(66)),
        Call("forward", "model", "eval, no_grad", at(69), 40),
        *loop(),
    )
    patterns = (
        Pattern(evaluated, ((401, 401), (801, 801))),
        Pattern(loop(), ((1, 400), (402, 800), (802, 1200))),
    )
    batches = (BatchPrint(1, "training", 64, "model"),)
    return make_trace([run_fact(**changes), *program_facts(), *layers], tables, patterns, (), batches)


def gan() -> Trace:
    """Two models, two optimisers, two objectives; parts that could not be seen."""
    generator = linear_layers("generator", [64, 256, 784], "optimizer_g", line=10)
    critic = linear_layers("discriminator", [784, 256, 1], "optimizer_d", line=80)
    facts: list[Fact] = [
        run_fact(
            script="gan.py", steps=2000, missing=("generator is compiled: its activations were not seen.",)
        ),
        ENVIRONMENT,
        ModelFact("generator", "Generator", (), 218_384, 218_384, compiled=True, created=at(31)),
        ModelFact("discriminator", "Discriminator", (), 201_217, 201_217, created=at(32)),
        *(
            OptimizerFact(
                f"optimizer_{letter}", "Adam", (GroupFact({"lr": 2e-4, "betas": (0.5, 0.999)}),), at(line)
            )
            for letter, line in (("g", 34), ("d", 35))
        ),
        *(
            LossFact(
                f"binary_cross_entropy@gan.py:{line}", "binary_cross_entropy", "function", called=at(line)
            )
            for line in (44, 51)
        ),
        *(TaskFact(f"binary_cross_entropy@gan.py:{line}", "binary", 2) for line in (44, 51)),
        *generator,
        *critic,
    ]
    odd, even = np.arange(1, 2001, 2), np.arange(2, 2001, 2)
    tables = [
        table(
            "step",
            "optimizer_d",
            odd,
            loss=decay(odd, 1.39, 0.6, 0.2, 1),
            gradient_norm=decay(odd, 2, 0.5, 0.3, 5),
        ),
        table(
            "step",
            "optimizer_g",
            even,
            loss=decay(even, 0.7, 2.1, 0.2, 2),
            gradient_norm=decay(even, 1, 0.9, 0.3, 6),
        ),
        *layer_tables(generator + critic, np.arange(1, 2001, 50)),
    ]
    patterns = (
        Pattern(loop("discriminator", "optimizer_d"), tuple((step, step) for step in range(1, 2001, 2))),
        Pattern(loop("generator", "optimizer_g"), tuple((step, step) for step in range(2, 2001, 2))),
    )
    return make_trace(facts, tables, patterns, (), (BatchPrint(1, "training", 128),))


def empty() -> Trace:
    """A script that ran through without training anything."""
    return make_trace(
        [run_fact(steps=0, seconds=0.0, overhead=None, full_steps=0, light_steps=0), ENVIRONMENT]
    )


def failed() -> Trace:
    """The healthy program until a logarithm of zero at step 412 turns everything to nan."""
    trace = healthy(
        status="failed",
        exit_code=1,
        steps=413,
        exception="ValueError: loss is nan\nsecond line of the message",
        exception_site=at(56),
    )
    cut = {
        key: Table(
            old.kind, old.component, old.columns, old.steps[old.steps <= 413], old.values[old.steps <= 413]
        )
        for key, old in trace.tables.items()
    }
    steps = cut["step", "optimizer"].values.copy()
    steps[-2:, 0] = np.nan
    cut["step", "optimizer"] = Table(
        "step", "optimizer", COLUMNS["step"], cut["step", "optimizer"].steps, steps
    )
    event = Event(
        412,
        "nonfinite",
        "log of 0 gave -inf in the forward pass; its inputs were finite.",
        "model.fc5",
        at(27),
        {"operation": "log"},
    )
    later = Event(413, "note", "The weights of model.fc1 are not finite any more.", "model.fc1")
    return make_trace(
        [fact for kind in trace.facts.values() for fact in kind.values()],
        cut.values(),
        (Pattern(loop(), ((1, 413),)),),
        (event, later),
        trace.batches,
    )


def large(layers: int = 100, steps: int = 10_000) -> Trace:
    """Many layers, many steps: what a report must thin out. A spike and a dip hide in the loss."""
    facts = linear_layers("model", [256] * (layers + 1), "optimizer")
    every = np.arange(1, steps + 1)
    loss = decay(every, 2.3, 0.1, 0.1, 1)
    loss[7776] = 55.5
    loss[3332] = 0.0021
    tables = [
        table("step", "optimizer", every, loss=loss, gradient_norm=decay(every, 1.2, 0.3, 0.3, 2)),
        table(
            "progress", LOSS, every, loss=loss, constant_loss=2.3, metric=1 - decay(every, 0.8, 0.02, 0.04, 3)
        ),
        *layer_tables(facts, every),
    ]
    patterns = (Pattern(loop(), ((1, steps),)),)
    return make_trace([run_fact(steps=steps), *program_facts(), *facts], tables, patterns)
