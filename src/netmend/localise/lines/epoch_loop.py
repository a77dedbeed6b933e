"""The loop over epochs: where it stands in the user's source, and where the number of its rounds is set."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.diagnose.measures.loop import usual_site
from netmend.program.counted_loops import training_rounds
from netmend.program.of_run import program_of
from netmend.program.settings import given_option, value_origin
from netmend.program.text.queries import last_name, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site, Trace


@dataclass(frozen=True)
class EpochLoop:
    """`for epoch in range(EPOCHS)`: the line of the loop and the place where the number comes from."""

    loop: Site
    count: Site
    given: str = ""  # the command line's option that set it: `--epochs 2`


def epoch_loop(sources: Sources, trace: Trace) -> EpochLoop | None:
    """The outermost counted loop around the training step, across the functions that lead to it."""
    step = usual_site(trace, "step") or usual_site(trace, "backward")
    rounds = training_rounds(program_of(sources), trace, step)
    if rounds is None:
        return None
    file, count = rounds.file.file, rounds.count
    given = given_option(sources, last_name(count)) if last_name(count) else ""
    return EpochLoop(site_of(file, rounds.loop), value_origin(sources, file, count), given)
