"""What a run says against a finding of the source: it measured the very thing and found it in order, or never got to the line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

import numpy as np

from netmend.diagnose.measures.batches import features, prints
from netmend.diagnose.measures.loop import calls
from netmend.diagnose.measures.preparation import prepared
from netmend.localise.case import Case
from netmend.program.text.queries import last_name
from netmend.vocabulary import LEAVES, LossFact, OperandFact, PreparationFact, Site
from netmend.vocabulary.finding import Finding

ENOUGH_STEPS = 30  # from which measuring says more than reading
_ENOUGH_CALLS = 3  # of one line that works
# ratio of spreads, and a quarter of a spread between means: no difference that preparation makes
_ALIKE = 1.25
_HARDLY = 0.2  # of the way from what is usual to certainty
_ENOUGH_SAMPLES = 20  # of an evaluation that would have been met again, were it drawn from the training data


def refuted(case: Case, finding: Finding) -> str:
    """Why a finding does not hold for this run, as a sentence; empty where the run says nothing against it."""
    if stopped_at(case, finding):
        return ""
    measure = _MEASURES.get(finding.code)
    said = measure(case, finding) if measure is not None else ""
    if not said and LEAVES[finding.cause].measured and case.trace.run.steps >= ENOUGH_STEPS:
        said = "The run was checked for exactly this and is fine."
    return said or _never_reached(case, finding)


def stopped_at(case: Case, finding: Finding) -> bool:
    """Did the program end with an exception at the finding's line?"""
    run = case.trace.run
    last = max(finding.line, finding.end_line)
    return (
        run.status == "failed"
        and run.exception_site is not None
        and _within(case, run.exception_site, finding.file, finding.line, last)
    )


def _never_reached(case: Case, finding: Finding) -> str:
    """A call that the run would have seen and did not, though it saw others like it."""
    call = _call_at(case, finding)
    name = last_name(call.func) if call is not None else ""
    if not name or case.trace.run.steps < ENOUGH_STEPS:
        return ""
    sites = _sites(case, name)
    if not sites or any(_at(case, site, finding) for site in sites):
        return ""
    return f"The run never got to this {name}()."


def _sites(case: Case, name: str) -> list[Site]:
    """Where the run saw calls of one kind; none for kinds that it does not see wherever they stand."""
    if name in ("backward", "step"):
        found = [known.site for _, known in calls(case.trace, name)]
    elif name == "DataLoader" and case.trace.run.status == "finished":
        found = [loader.created for loader in case.trace.loaders if loader.iterated is not None]
        if None in found:
            return []
    else:
        found = [loss.called for loss in case.trace.losses if loss.criterion == name]
    return [site for site in found if site is not None]


def _call_at(case: Case, finding: Finding) -> ast.Call | None:
    place = Site(finding.file, finding.line, finding.column, finding.end_line, finding.end_column)
    return case.sources.call_at(place)


def _backward_works(case: Case, finding: Finding) -> str:
    times = sum(
        pattern.steps * call.times
        for pattern, call in calls(case.trace, "backward")
        if call.site is not None and _at(case, call.site, finding)
    )
    return f"backward() worked there, {times} times." if times >= _ENOUGH_CALLS else ""


def _everything_learns(case: Case, finding: Finding) -> str:
    """Every parameter that an optimiser holds had a gradient."""
    held = [fact for fact in case.trace.parameters if fact.trainable and fact.optimizer is not None]
    if not held or any(
        group.unknown_parameters for optimizer in case.trace.optimizers for group in optimizer.groups
    ):
        return ""
    for fact in held:
        _, size = case.trace.series("gradient", fact.tied_to or fact.name, "rms")
        if not (size > 0).any():
            return ""
    return "Every parameter in the optimiser had a gradient."


def _evaluated_in_mode(column: str, words: str) -> Callable[[Case, Finding], str]:
    def measure(case: Case, finding: Finding) -> str:
        values = [value for table in case.trace.tables_of("evaluation") for value in table.known(column)[1]]
        return f"{words} in all {len(values)} evaluations." if values and not any(values) else ""

    return measure


def _scores_reach_loss(case: Case, finding: Finding) -> str:
    for given in _predictions(case, finding):
        if given.minimum is not None and given.minimum < 0 and not given.log_normalised_axes:
            return f"The loss gets values from {given.minimum:.3g} upwards: these are not probabilities."
    return ""


def _same_shape(case: Case, finding: Finding) -> str:
    for loss in _losses(case, finding):
        shapes = {operand.shape for operand in loss.operands if operand.role in ("prediction", "target")}
        if len(loss.operands) >= 2 and len(shapes) == 1:
            return f"Prediction and target have the same shape there, {shapes.pop()}."
    return ""


def _prepared_alike(case: Case, finding: Finding) -> str:
    trained, tested = features(case.trace, "training"), features(case.trace, "evaluation")
    if trained is None or tested is None or len(trained.mean) != len(tested.mean):
        return ""
    varied = (trained.std > 0) & (tested.std > 0)
    if not varied.any():
        return ""
    shift = float(np.median(np.abs(trained.mean - tested.mean)[varied] / trained.std[varied]))
    ratio = float(np.exp(np.median(np.abs(np.log(tested.std[varied] / trained.std[varied])))))
    alike = shift < _ALIKE - 1 and ratio < _ALIKE
    return "Inputs have the same mean and spread in training and evaluation." if alike else ""


def _nothing_in_both(case: Case, finding: Finding) -> str:
    trained = {value for batch in prints(case.trace, "training") for value in batch.hashes}
    tested = {value for batch in prints(case.trace, "evaluation") for value in batch.hashes}
    sizes = [loader.samples for loader in case.trace.loaders if loader.phase == "training" and loader.samples]
    seen = min(1.0, len(trained) / max(sizes)) if sizes else 0.0
    if trained & tested or len(tested) * seen < _ENOUGH_SAMPLES:
        return ""
    return f"None of {len(tested)} evaluation samples checked was trained on."


def _in_one_batch(case: Case, finding: Finding) -> str:
    """An order that does not matter: the loaders made there hand out everything at once."""
    made = [
        loader
        for loader in case.trace.loaders
        if loader.created is not None and _at(case, loader.created, finding)
    ]
    whole = [
        loader
        for loader in made
        if loader.samples and loader.batch_size and loader.samples <= loader.batch_size
    ]
    return "All samples come in one batch." if made and whole == made else ""


def _stayed_finite(case: Case, finding: Finding) -> str:
    """Logarithms, roots and quotients that would have become infinite."""
    _, losses = case.trace.loss
    if len(losses) < ENOUGH_STEPS or not np.isfinite(losses).all() or case.has("D110"):
        return ""
    return f"All {len(losses)} recorded losses are finite."


def _nothing_raised(case: Case, finding: Finding) -> str:
    """Mistakes that raise an exception where they are made."""
    done = case.trace.run.status == "finished" and case.trace.run.steps >= ENOUGH_STEPS
    return "The program finished without the exception this would raise." if done else ""


def _folders_by_number(case: Case, finding: Finding) -> str:
    """Names of folders that sort as words as they sort as numbers, or are no numbers."""
    if any("numbered" in fact.seen for fact in case.trace.all(PreparationFact)):
        return ""
    return "No folder that was listed holds names whose order as words is another than as numbers."


def _same_indicators(case: Case, finding: Finding) -> str:
    """Indicator columns that came out the same for both parts."""
    made = [fact for fact in case.trace.all(PreparationFact) if "indicators" in fact.seen]
    own = [fact for fact in made if fact.site is not None and _at(case, fact.site, finding)]
    sets = {one for fact in own for one in fact.seen["indicators"]}
    others = [fact for fact in made if sets & set(fact.seen["indicators"])]
    twice = sum(fact.calls for fact in others) > 1
    return "The indicator columns of both parts were the same." if len(sets) == 1 and twice else ""


def _answers_vary(case: Case, finding: Finding) -> str:
    """Rows of one person answer as differently as any two."""
    for fact in prepared(case.trace, "split"):
        named = fact.seen.get("identity")
        if not named or f"`{named}`" not in finding.message or not fact.seen["rows_tested"]:
            continue
        if not fact.seen["in_both"]:
            return f"No `{named}` was in both parts."
        gain = fact.seen["same_answer"] - fact.seen["same_answer_usual"]
        if gain < _HARDLY * (1 - fact.seen["same_answer_usual"]):
            return f"Two rows of one `{named}` have the same target hardly more often than any two rows."
    return ""


# What the run measures of each rule.
_MEASURES: dict[str, Callable[[Case, Finding], str]] = {
    "S113": _evaluated_in_mode("training_mode", "The model was in evaluation mode"),
    "S114": _evaluated_in_mode("grad_enabled", "Gradients were off"),
    "S121": _backward_works,
    "S222": _everything_learns,
    "S201": _scores_reach_loss,
    "S204": _scores_reach_loss,
    "S205": _scores_reach_loss,
    "S216": _same_shape,
    "S507": _prepared_alike,
    "S531": _prepared_alike,
    "S501": _in_one_batch,
    "S511": _nothing_in_both,
    "S521": _nothing_in_both,
    "S524": _nothing_in_both,
    "S525": _nothing_in_both,
    "S943": _answers_vary,
    "S225": _stayed_finite,
    "S227": _stayed_finite,
    "S308": _nothing_raised,
    "S309": _nothing_raised,
    "S310": _nothing_raised,
    "S330": _nothing_raised,
    "S930": _same_indicators,
    "S934": _folders_by_number,
    "S717": _nothing_raised,
    "S722": _nothing_raised,
}


def _losses(case: Case, finding: Finding) -> Iterable[LossFact]:
    return (loss for loss in case.trace.losses if loss.called is not None and _at(case, loss.called, finding))


def _predictions(case: Case, finding: Finding) -> Iterable[OperandFact]:
    return (loss.prediction for loss in _losses(case, finding) if loss.prediction is not None)


def _at(case: Case, site: Site, finding: Finding) -> bool:
    """Is a place of the run the finding's, or one that takes part in it?"""
    if _within(case, site, finding.file, finding.line, max(finding.line, finding.end_line)):
        return True
    return any(_within(case, site, place.file, place.line, place.line) for place in finding.related)


def _within(case: Case, site: Site, file: str, first: int, last: int) -> bool:
    return (
        case.sources.path(site.file) == case.sources.path(file)
        and site.line <= last
        and first <= (site.end_line or site.line)
    )
