"""Samples that are trained on and evaluated on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import sampled, trace_of, with_facts
from netmend.diagnose.measures.batches import prints, training_samples
from netmend.unit import calibrated, convention
from netmend.vocabulary import BatchPrint, LoaderFact, ModelFact, Site, Symptom, Trace


def _with_samples(training: range, evaluation: range) -> Trace:
    return trace_of(*(sampled(step, training) for step in range(3)), sampled(3, evaluation, "evaluation"))


def _both() -> Trace:
    other = sampled(3, range(1000, 1100), "evaluation")
    return trace_of(other, onto=_with_samples(range(400), range(400)))


def _folds() -> Trace:
    """Three folds, a new model in each: what one is tested on, the others are trained on."""
    found: list[BatchPrint] = []
    for fold in range(3):
        test = range(100 * fold, 100 * fold + 100)
        rest = [value for value in range(300) if value not in test]
        name = f"model#{fold + 1}" if fold else "model"
        found += [sampled(10 * fold + step, rest, model=name) for step in range(3)]
        found.append(sampled(10 * fold + 5, test, "evaluation", name))
    return trace_of(*found)


def _distilled() -> Trace:
    """A teacher is trained, then answers the batches of a student; training batches are looked at more rarely."""
    return trace_of(
        *(sampled(step, range(400), model="teacher") for step in range(3)),
        *(sampled(step, range(64), model="student") for step in (10, 30)),
        sampled(20, range(100, 164), "evaluation", "teacher"),
        sampled(40, range(1000, 1100), "evaluation", "student"),
    )


def _by_chance() -> Trace:
    training = [sampled(step, range(400)) for step in range(3)]
    # Two samples are there twice.
    return trace_of(*training, sampled(3, (*range(360, 460), *range(450, 452)), "evaluation"))


def _looked_at_rarely() -> Trace:
    """Training accuracy of a program without loader, a third of whose batches were looked at."""
    training = [sampled(step, range(16 * step, 16 * step + 16)) for step in range(0, 39, 3)]
    return trace_of(*training, sampled(40, range(640), "evaluation"))


def _looked_at_again(loader: int = 1000) -> Trace:
    """After each epoch the last training batch, an incomplete one, is shown as a picture; a tenth of the training was looked at."""
    training = [sampled(step, range(128 * step, 128 * step + 128)) for step in range(40)]
    again = [
        sampled(step, (*range(step, step + 9), *range(100 * step, 100 * step + 87)), "evaluation")
        for step in (468, 936)
    ]
    train = LoaderFact("train", samples=60_000, batch_size=128, phase="training")
    test = LoaderFact("test", samples=loader, batch_size=96, phase="evaluation") if loader else None
    return trace_of(train, test, *training, *again)


def _half_seen() -> Trace:
    """All 400 samples that are trained on, in batches of 40: half were seen, by luck 25 of one batch and 15 of the next."""
    seen, others = range(0, 400, 2), range(1, 400, 2)
    batches = [
        [*seen[first : first + many], *others[second : second + 40 - many]]
        for pair in range(5)
        for first, second, many in ((40 * pair, 40 * pair, 25), (40 * pair + 25, 40 * pair + 15, 15))
    ]
    return trace_of(
        *(sampled(step, seen[40 * step : 40 * step + 40]) for step in range(5)),
        *(sampled(9, batch, "evaluation") for batch in batches),
    )


def _all_of_it() -> Trace:
    """A loss over the whole training part, of which 230 of 400 samples were seen, and then the test."""
    training = [sampled(step, range(230)) for step in range(3)]
    return trace_of(
        *training, sampled(3, range(400), "evaluation"), sampled(4, range(1000, 1100), "evaluation")
    )


def _few_values() -> Trace:
    """13 of 1,200 samples are there twice in the training part; 9 of 300 in the test part are equal to one."""
    training = [sampled(step, (*range(1187), *range(13))) for step in range(3)]
    return trace_of(*training, sampled(3, (*range(9), *range(2000, 2291)), "evaluation"))


def _windows(seen: int, length: int = 32) -> Trace:
    """Windows of a text whose most frequent token is every sixth; of each evaluation batch so many were trained on."""
    tokens: Any = {"model": "gpt", "feature_axis": "token", "features": ((1.0, 0.17, 0.1, 28.0),)}
    training = [sampled(step, range(16 * step, 16 * step + 16), **tokens) for step in range(40)]
    evaluation = [
        sampled(step, (*range(step, step + seen), *range(9000, 9016 - seen)), "evaluation", **tokens)
        for step in (100, 200)
    ]
    return trace_of(ModelFact("gpt", "GPT", input_shapes=((16, length),)), *training, *evaluation)


class TrainingEvaluationOverlap(Detector, code="D309", needs_fixed_data=True):
    """Samples on which the program is evaluated were trained on.

    The figures of the evaluation then say how well samples are remembered, not how well new ones are answered. Usual causes: slices that
    overlap, duplicates in the data, splitting after oversampling or augmentation.
    """

    share_limit = calibrated(
        0.03, "share of different evaluation samples seen in training; healthy programs show none"
    )
    least_samples = convention(8, "evaluation samples seen in training, at least")
    copies_limit = convention(
        0.02, "share of equal samples within the evaluation itself: inputs with few values repeat by chance"
    )
    inside_limit = convention(
        0.8, "share, of what was seen of the training data, from which a batch lies inside it"
    )
    whole_limit = convention(
        0.95, "share of what was seen of the training data that a batch of all of it holds"
    )
    deviations = convention(3.0, "by which a batch from the part trained on may hold fewer samples seen")
    few_limit = convention(0.1, "share below which copies within the training data tell what meets by chance")
    subset_limit = convention(
        0.6, "an evaluation of all training samples measures the training accuracy on purpose"
    )
    long_chance = convention(
        0.01, "long sequences of tokens: how many of those trained on a new one equals by chance, at most"
    )
    long_share = convention(
        0.25, "share of the evaluation that was trained on, where samples are windows of a text"
    )
    untouched_limit = convention(
        0.2, "share of evaluation batches without any: more of them belong to another part"
    )
    least_windows = convention(256, "different windows trained on: a text that goes on")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = self._overlap(trace)
        if found is None:
            return
        common, distinct, unsure, windows = found
        share = common / distinct
        if common < self.least_samples or share < self.share_limit:
            return
        message = f"{common} of {distinct} distinct evaluation samples checked were also trained on."
        detail = {"share": share, "unsure": unsure, "windows": windows}
        yield self.symptom(message, "", share, self.share_limit, detail)

    def _overlap(self, trace: Trace) -> tuple[int, int, bool, bool] | None:
        """Evaluation samples that were trained on, all that were looked at, whether that may be on purpose after all, and whether they are
        windows of a text that repeats itself.

        None when training samples are evaluated on purpose: a training accuracy beside a validation accuracy shows as batches that lie
        wholly inside the training data beside others that lie wholly outside; the training accuracy alone as one large set.
        """
        by_model = _trained_on(trace)
        samples = training_samples(trace) or 0
        # of each batch: share that was trained on, samples seen of its model's training data, its size, whether it holds all of these
        shares: list[tuple[float, int, int, bool]] = []
        copies = looked = trained = 0
        common: set[int] = set()
        evaluated: set[int] = set()
        batches = {batch.step: set(batch.hashes) for batch in prints(trace, "training")}
        for batch in prints(trace, "evaluation"):
            own, before = set(batch.hashes), by_model.get(batch.model, set())
            # A teacher or target network that sees the training batch itself evaluates nothing.
            if not before or any(own <= batches.get(batch.step + by, set()) for by in (-1, 0, 1)):
                continue
            if _teaches(trace, batch):
                continue
            if own and len(own) >= (1 - self.copies_limit) * len(batch.hashes):
                known = own & before
                holds_all = len(known) >= self.whole_limit * len(before)
                shares.append((len(known) / len(own), len(before), len(own), holds_all))
                copies += len(batch.hashes) - len(own)
                looked += len(batch.hashes) ** 2
                trained = max(trained, len(before))
                evaluated |= own
                common |= own & before
        if not evaluated:
            return None
        if not samples and len(common) >= self.inside_limit * trained:
            # the evaluation holds the training data, of which only a part was looked at
            samples = len(evaluated)
        total = max(trained, samples)
        inside, outside = [], []
        for held, seen, size, holds_all in shares:
            part = seen / max(seen, samples)
            outside.append(held < self.share_limit * part)
            by_luck = self.deviations * math.sqrt(part * (1 - part) / size)
            inside.append(not outside[-1] and (holds_all or held >= self.inside_limit * part - by_luck))
        mixed = [not (a or b) for a, b in zip(inside, outside, strict=True)]
        if any(inside) and any(outside) and not any(mixed):
            return None
        if self._is_repeated_text(trace, trained, [share for share, *_ in shares]):
            return len(common), len(evaluated), False, True
        # Inputs with few values meet by chance. Equal samples within evaluation batches tell how often: as with birthdays.
        by_chance = 3 * 2 * copies / looked * trained
        if any(batch.feature_axis == "token" for batch in prints(trace, "evaluation")):
            # few copies say little, and tokens repeat
            by_chance = max(by_chance, 2 * (copies + 3) / looked * trained)
        share = len(common) / len(evaluated)
        if share < self.few_limit:
            by_chance = max(by_chance, 3 * _copies_in_training(trace) * trained)
        if share < by_chance:
            return None
        whole = all(inside)
        if whole and _asked_of_training_batch(trace):
            return None
        apart = [
            loader.samples for loader in trace.loaders if loader.phase == "evaluation" and loader.samples
        ]
        smaller = any(size <= self.subset_limit * total for size in apart)  # an evaluation set of its own
        if whole and not smaller and _evaluated_at_once(trace, len(evaluated)) > self.subset_limit * total:
            return None
        return len(common), len(evaluated), whole and not smaller, False

    def _is_repeated_text(self, trace: Trace, trained: int, shares: list[float]) -> bool:
        """Long windows do not meet by chance: where many of nearly every batch were trained on, the text holds its parts twice.

        A program that looks at both parts has batches of either kind.
        """
        chances = [_chance(trace, batch) for batch in prints(trace, "evaluation")]
        return (
            trained >= self.least_windows
            and trained * max(chances) <= self.long_chance
            and sum(shares) >= self.long_share * len(shares)
            and sum(share == 0 for share in shares) <= self.untouched_limit * len(shares)
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = self._overlap(trace)
        return {} if found is None else {"share_limit": found[0] / found[1]}

    HEALTHY = {
        "apart": lambda: _with_samples(range(400), range(1000, 1100)),
        "training accuracy is measured on purpose": lambda: _with_samples(range(400), range(400)),
        "short sequences meet by chance": lambda: _by_chance(),
        "training accuracy, where few batches of the training were looked at": lambda: _looked_at_rarely(),
        "training and validation accuracy side by side": lambda: _both(),
        "a new model in every fold": lambda: _folds(),
        "a teacher that answers training batches": lambda: _distilled(),
        "a few windows of one text meet": lambda: _windows(seen=2),
        "the last training batch is looked at again": lambda: _looked_at_again(0),
        "training accuracy in batches, of which half the samples were seen": lambda: _half_seen(),
        "training loss over all of the part, before the test": lambda: _all_of_it(),
        "a table of few values": lambda: _few_values(),
        "short windows meet": lambda: _windows(seen=9, length=4),
    }
    FAULTY = {
        "slices overlap": lambda: _with_samples(range(400), range(350, 450)),
        "evaluation data of its own, some of it trained on": lambda: _looked_at_again(),
        "a text that repeats itself": lambda: _windows(seen=9),
    }


def _trained_on(trace: Trace) -> dict[str, set[int]]:
    """The samples that each model was trained on: in cross-validation every fold has a model of its own."""
    found: dict[str, set[int]] = {}
    for batch in prints(trace, "training"):
        found.setdefault(batch.model, set()).update(batch.hashes)
    return found


def _copies_in_training(trace: Trace) -> float:
    """How likely two samples of a training batch are equal."""
    pairs = sum(len(batch.hashes) ** 2 / 2 for batch in prints(trace, "training"))
    equal = sum(len(batch.hashes) - len(set(batch.hashes)) for batch in prints(trace, "training"))
    return equal / pairs if pairs else 0.0


def _chance(trace: Trace, batch: BatchPrint) -> float:
    """How likely two different sequences of tokens are equal; of other samples nothing is known.

    Tokens that follow one another depend on each other: each counts half.
    """
    model = trace.get(ModelFact, batch.model)
    shapes = [shape for shape in (model.input_shapes if model else ()) if len(shape) == 2]
    if batch.feature_axis != "token" or not batch.features or not shapes:
        return 1.0
    return float(batch.features[0][1] ** (max(shape[1] for shape in shapes) / 2))


def _teaches(trace: Trace, batch: BatchPrint) -> bool:
    """Whether the model's own training was over and another's came after it: then it may hand out targets or features."""
    last: dict[str, int] = {}
    for one in prints(trace, "training"):
        last[one.model] = max(one.step, last.get(one.model, 0))
    over = last.get(batch.model, batch.step)
    return batch.step > over and any(step > over for step in last.values())


def _asked_of_training_batch(trace: Trace) -> bool:
    """Whether each evaluation is one batch as the training loader gives them: the last one is looked at once more, for a picture."""
    loaders = [loader for loader in trace.loaders if loader.samples and loader.batch_size]
    if not loaders or any(loader.phase != "training" for loader in loaders):
        return False
    lengths = [
        (loader.samples, loader.batch_size) for loader in loaders if loader.samples and loader.batch_size
    ]
    sizes = {size for samples, size in lengths} | {samples % size for samples, size in lengths}
    passes = [
        count for table in trace.tables_of("evaluation") for count in table.known("batches")[1].tolist()
    ]
    return all(batch.size in sizes for batch in prints(trace, "evaluation")) and max(passes, default=1) <= 1


def _evaluated_at_once(trace: Trace, least: int) -> float:
    """Samples of the largest evaluation pass: what was fingerprinted may be a part of it."""
    sizes = [float(least)]
    for table in trace.tables_of("evaluation"):
        samples, batches = table.known("samples")[1], table.known("batches")[1]
        sizes.extend(samples[:1].tolist())
        largest = max((batch.size for batch in prints(trace, "evaluation")), default=0)
        sizes.extend((batches[:1] * largest).tolist())
    return max(sizes)


def _with_loaders(*parts: tuple[str, str]) -> Trace:
    return with_facts(
        *(
            LoaderFact(
                f"loader{index}",
                "MNIST",
                1000,
                64,
                phase=phase,
                part=part,
                created=Site("train.py", 9 + index),
            )
            for index, (phase, part) in enumerate(parts)
        )
    )


class TrainedOnTestPart(Detector, code="D321", needs_fixed_data=True):
    """The model is trained on data that says it is the test part.

    The data set was made with `train=False` or `split="test"`, and training steps are computed on it. Its score can then no longer be told
    from memory, and the larger training part is not used. Usual causes: a line copied without changing the argument, loaders exchanged.
    """

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        trained = [loader for loader in trace.loaders if loader.phase == "training"]
        # Where both parts are trained on, it is meant: adaptation to another set, a last fit on everything.
        if not trained or any(loader.part != "test" for loader in trained):
            return
        evaluated = [loader for loader in trace.loaders if loader.phase == "evaluation"]
        parts = {loader.part for loader in evaluated}
        beside = (
            ", and so is evaluation"
            if "test" in parts
            else ", and evaluation runs on the training part"
            if "train" in parts
            else ""
        )
        message = f"Training runs on the test part of {trained[0].dataset}{beside}."
        detail = {"evaluated": bool(evaluated)}
        yield self.symptom(message, trained[0].name, detail=detail, site=trained[0].created)

    HEALTHY = {
        "each part in its place": lambda: _with_loaders(("training", "train"), ("evaluation", "test")),
        "data that says nothing of parts": lambda: _with_loaders(("training", ""), ("evaluation", "test")),
        "both parts are trained on": lambda: _with_loaders(("training", "train"), ("training", "test")),
    }
    FAULTY = {
        "the test part twice": lambda: _with_loaders(("training", "test"), ("evaluation", "test")),
        "parts exchanged": lambda: _with_loaders(("training", "test"), ("evaluation", "train")),
        "no evaluation yet": lambda: _with_loaders(("training", "test")),
    }
