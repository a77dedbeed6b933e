"""All signals, in the order of the feature matrix. Trained models name the features that they use."""

from __future__ import annotations

from netmend.locate.parsing import WORD_FIELDS, Field
from netmend.locate.signals.history import (
    PRIORS,
    SPREADING,
    Age,
    Churn,
    Recency,
    ReportedOften,
    SimilarCommits,
    SimilarReports,
)
from netmend.locate.signals.paths import DefinedNames, FileName, FolderWords, TitleComponent
from netmend.locate.signals.reported import (
    Executed,
    ImportedByTrace,
    Innermost,
    ModuleMention,
    PathMention,
    Referenced,
    Tag,
    Trace,
    TraceShare,
)
from netmend.locate.signals.signal import Signal, Spreading
from netmend.locate.signals.texts import BestPassages, Lexical, Quoted

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
