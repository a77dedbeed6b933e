"""What only the files of a run can show: whether rows that are matched by place have one order, whether keys that are looked up are spelled alike."""

from __future__ import annotations

from netmend.diagnose.measures.preparation import prepared
from netmend.localise.case import Case
from netmend.program.meaning.lookups import lookups
from netmend.program.meaning.row_pairs import sort_of, strangers, ways
from netmend.program.of_run import program_of
from netmend.vocabulary.finding import Finding

_APART = 0.5  # of the places at most agree where orders differ
_ALIKE = 0.98
_SPELLED = 0.02  # of the rows at least


def order_of_files(case: Case, finding: Finding) -> tuple[str, bool]:
    """What the run saw of the two orders, as a sentence, and whether they agree; ("", True) where it saw neither."""
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
        return "", True
    words, share = min(shares.items(), key=lambda item: item[1])
    if share < _APART and not any(other > _ALIKE for other in shares.values()):
        return (
            f"In the files of this run the same row stands at the same place in {share:.0%} of {words}.",
            False,
        )
    return f"In the files of this run both come in one order ({words}).", True


def spelling_of_keys(case: Case, finding: Finding) -> tuple[str, bool]:
    """What the run saw of the keys that are looked up, as a sentence, and whether it is in order."""
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
                    return said, bool(share < _SPELLED)
    return "", True
