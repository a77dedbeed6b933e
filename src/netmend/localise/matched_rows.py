"""What only the files of a run can show: whether rows that are matched by place have one order, whether keys that are looked up are spelled alike."""

from __future__ import annotations

from netmend.diagnose.measures.preparation import prepared
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG
from netmend.localise.outcome import harm
from netmend.program.meaning.lookups import lookups
from netmend.program.meaning.row_pairs import sort_of, strangers, ways
from netmend.program.of_run import program_of
from netmend.vocabulary.finding import Finding

_APART = 0.5  # of the places at most agree where orders differ
_ALIKE = 0.98
_SPELLED = 0.02  # of the rows at least


def order_of_files(case: Case, finding: Finding) -> tuple[str, float]:
    """What the run saw of two orders that differ, as a sentence, and how much it says; nothing where they agree or were not seen."""
    known = list(prepared(case.trace, "places"))
    shares: dict[str, float] = {}
    for program in program_of(case.sources).programs(finding.file) if known else ():
        for meeting in strangers(program):
            node = sort_of(meeting) or meeting.node
            place = program.place(node)
            if place.line != finding.line or case.sources.path(place.file) != case.sources.path(finding.file):
                continue
            one, other = ways(meeting)
            for fact in known:
                for way in (f"{one}_{other}", f"{other}_{one}"):
                    if way in fact.seen:
                        what = f"{fact.seen['one']} and the column `{fact.seen['column']}` of {fact.seen['other']}"
                        shares[f"{fact.seen['rows']:,} rows: {what}"] = float(fact.seen[way])
    if not shares:
        return _numbered_files(case, finding)
    words, share = min(shares.items(), key=lambda item: item[1])
    if share < _APART and not any(other > _ALIKE for other in shares.values()):
        return (
            f"In the files of this run the same row stands at the same place in {share:.0%} of {words}.",
            PROVEN,
        )
    return "", 0.0


def _numbered_files(case: Case, finding: Finding) -> tuple[str, float]:
    """Files that count without leading zeros, beside rows without names, in a run that learned nothing."""
    counted = [fact for fact in prepared(case.trace, "places") if fact.seen.get("text_numbers", 1.0) < _APART]
    sorts = [
        meeting
        for program in (program_of(case.sources).programs(finding.file) if counted else ())
        for meeting in strangers(program)
        if set(ways(meeting)) == {"text", "read"}
        and (node := sort_of(meeting)) is not None
        and program.place(node).line == finding.line
    ]
    if not sorts or not harm(case):
        return "", 0.0
    fact = counted[0]
    return (
        f"The {fact.seen['rows']:,} files {fact.seen['one']} count without leading zeros, so that 10 comes before 2, and the network learned nothing.",
        STRONG,
    )


def spelling_of_keys(case: Case, finding: Finding) -> tuple[str, float]:
    """What the run saw of keys that are looked up and spelled apart, as a sentence, and how much it says."""
    known = list(prepared(case.trace, "keys"))
    for program in program_of(case.sources).programs(finding.file) if known else ():
        for lookup in lookups(program):
            place = program.place(lookup.node)
            if place.line != finding.line or case.sources.path(place.file) != case.sources.path(finding.file):
                continue
            for fact in known:
                asked, keys = fact.seen["places"]
                if {fact.seen["key"], asked} & lookup.asked and {fact.seen["column"], keys} & lookup.keys:
                    share, examples = fact.seen["alone_by_spelling"], ", ".join(fact.seen["spelled"][:2])
                    said = (
                        f"{share:.0%} of the rows of {fact.seen['one']} have a `{fact.seen['key']}` that {fact.seen['other']} spells otherwise "
                        f"({examples})."
                    )
                    return (said, PROVEN) if share >= _SPELLED else ("", 0.0)
    return "", 0.0
