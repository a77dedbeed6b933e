"""All signals, in the order of the feature matrix. Trained models name the features that they use."""

from __future__ import annotations

from netmend.locate.facts import WORD_FIELDS, Field
from netmend.locate.signals.changes import Age, Churn, Recency
from netmend.locate.signals.earlier import ReportedOften, SimilarReports
from netmend.locate.signals.executed import Executed
from netmend.locate.signals.folders import FolderWords
from netmend.locate.signals.lexical import Lexical
from netmend.locate.signals.mentions import ModuleMention, PathMention, Tag
from netmend.locate.signals.name_parts import FileName, TitleComponent
from netmend.locate.signals.names import DefinedNames
from netmend.locate.signals.neighbours import SPREADING
from netmend.locate.signals.passages import BestPassages
from netmend.locate.signals.priors import PRIORS
from netmend.locate.signals.quotes import Quoted
from netmend.locate.signals.referenced import Referenced
from netmend.locate.signals.signal import Signal, Spreading
from netmend.locate.signals.similar_commits import SimilarCommits
from netmend.locate.signals.trace import ImportedByTrace, Innermost, Trace, TraceShare

SIGNALS: tuple[Signal, ...] = (
    *(
        Lexical(field, part)
        for field in (*WORD_FIELDS, Field.BASENAME)
        for part in ("title", "prose", "code")
    ),
    *(Lexical(field, "all") for field in (*WORD_FIELDS, Field.BASENAME, Field.SUBJECTS, Field.IMPORTED)),
    Lexical(Field.BODY, "all", by_length=0.75, raw=True, variant="_raw"),
    Lexical(Field.BODY, "all", by_length=0.3, variant="_long"),  # long files are held back less
    BestPassages("all"),
    BestPassages("title"),
    BestPassages("code"),
    BestPassages("all", most=3),
    FolderWords("title"),
    FolderWords("all"),
    FolderWords("title", depth=3),
    Trace(),
    TraceShare(),
    Innermost(),
    ImportedByTrace(),
    PathMention(),
    ModuleMention(),
    Tag(),
    FileName("all"),
    FileName("title"),
    TitleComponent(),
    *(
        DefinedNames(field, part)
        for field in (Field.NAMES, Field.CLASS_NAMES)
        for part in ("all", "title", "called")
    ),
    Quoted("message", Field.SHINGLES, "messages"),
    Quoted("quoted_text", Field.SHINGLES, "text"),
    Quoted("quoted_code", Field.LINES, "lines"),
    Recency(30.0),
    Recency(365.0),
    Recency(180.0, only_fixes=True),
    Age("new", 90.0, first=True),
    Age("touched", 30.0, first=False),
    Churn(),
    SimilarCommits("all"),
    SimilarCommits("all", best=True),
    SimilarCommits("title"),
    SimilarCommits("all", messages=True),
    SimilarCommits("title", messages=True),
    Referenced(),
    SimilarReports(),
    SimilarReports(best=True),
    ReportedOften(),
    ReportedOften(days=60.0),
    Executed(),
    *PRIORS,
)

__all__ = ["SIGNALS", "SPREADING", "Signal", "Spreading"]
