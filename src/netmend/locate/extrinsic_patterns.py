"""What a report says when a library, the system or a service is at fault or has changed: one entry per kind of evidence.

Kinds follow Rodríguez-Pérez et al.'s rules for extrinsic bugs: the environment changed, a requirement changed outside
version control, or the fault sits in a third-party library. LIBRARY in an expression stands for names of libraries.
"""

from __future__ import annotations

from netmend.locate.extrinsic_pattern import pattern

CHANGES = (
    pattern(
        "a library changed", 2.0, "library",
        r"\b(?:new(?:er|est)?|latest|recent|current|nightly|upcoming) (?:(?:release|version|change|update|commit|build|master)s? (?:of|in|to|from) (?:the )?)?LIBRARY\b",
        r"\bLIBRARY(?:'s)? (?:new |latest |recent )?(?:VERSION )?(?:has |have |was |is |now )?(?:changed?s?|removed?s?|renamed?|deprecated?s?|dropped|introduced|broke|breaks|returns)\b",
        r"\brecent LIBRARY change", r"\bAPI changes? (?:in|of) (?:the )?LIBRARY\b", r"\bLIBRARY(?: VERSION)? (?:\([^)]*\) )?(?:has |have )?(?:some )?breaking\b", r"\brelease of LIBRARY\b",
        r"\b(?:removed|renamed|moved|changed|introduced|deprecated|added) (?:in|from|since|by|as of|starting) (?:the )?(?:latest |new |recent )?LIBRARY\b", r"\bchanges? in (?:the )?(?:latest )?LIBRARY (?:VERSION|release|api)",
        of_library=True,
    ),
    pattern(
        "a version does not fit", 1.5, "library",
        r"\b(?:with|on|in|under|for|to|using|and|of|than|from) (?:the )?(?:latest |newer |older |new |old )?LIBRARY ?(?:>=|<=|==|>|<)? ?VERSION", r"\bLIBRARY(?: version)? (?:in)?compatib\w+", r"\bcompatib\w+ (?:with|issues? with|problems? with) (?:the )?(?:latest )?LIBRARY",
        r"\bLIBRARY version (?:mismatch|conflict|requirement|issue|problem|error)", r"\b(?:upgrad\w+|updat\w+|downgrad\w+|pin\w*|bump\w*) (?:\w+ )?(?:to )?(?:the )?(?:latest )?LIBRARY\b", r"\bLIBRARY ?(?:>=|<=|==|>|<) ?\d",
        r"\brequires? (?:at least )?LIBRARY ?(?:>=|==|>)? ?VERSION",
        of_library=True,
    ),
    pattern("a version in the title", 2.0, "library", r"\bLIBRARY ?(?:>=|<=|==|>|<)? ?VERSION", r"\bversion (?:mismatch|requirement|conflict)", r"\bcompatib(?:le|ility)\b", title_only=True, of_library=True),
    pattern("a library in the title", 0.8, "library", r"\bLIBRARY\b", title_only=True, of_library=True),
    pattern(
        "words about versions", 1.2, "library",
        r"\bversion (?:mismatch|conflict|incompatib\w+)", r"\bbreaking changes?\b", r"\bdoes(?:n't| not) (?:work|exist) any ?more\b", r"\bno longer (?:has|have|exists?|supports?|works?|available|accepts?|supported)\b", r"\bdowngrad\w+", r"\b(?:un)?pin(?:ned|ning)? (?:that|the|to|it)\b",
        r"\bdependenc(?:y|ies) (?:conflict|issue|problem|version|update|chang|is|are|was|of)", r"\b(?:old|older|previous|earlier) versions? of\b", r"\bnot (?:yet )?compatible with\b", r"\bafter (?:upgrad\w+|updat\w+)\b",
    ),
    pattern(
        "another library is blamed", 1.5, "library",
        r"\bupstream\b", r"\bthird[- ]party\b", r"\b(?:bug|issue|problem|regression|limitation) (?:in|with|of|from) (?:the )?LIBRARY\b", r"\b(?:a|an) LIBRARY (?:bug|issue|problem|regression|limitation)\b", r"\bLIBRARY (?:does(?:n't| not)|can(?:'t|not)) (?:allow|support|accept|handle|have)\b",
        of_library=False,
    ),
    pattern("a link to another project", 0.7, "library", r"github\.com/(?P<repository>[\w.-]+/[\w.-]+)/(?:issues|pull|commit)/\w+|(?<![\w/])(?P<short>[\w.-]+/[\w.-]+)#\d+"),
    pattern("a call does not fit", 0.0, "library", r"got an unexpected keyword argument", r"missing \d+ required positional", r"takes (?:from )?\d+ .*positional arguments? but"),
    pattern(
        "an installation fails", 1.8, "installation",
        r"\bCould not find a version that satisfies", r"\berror: (?:command|subprocess)", r"\bFailed building wheel", r"\bsetup\.py (?:egg_info|bdist_wheel)\b", r"\bERROR: (?:Failed|Command errored|Cannot|Could not)", r"\bNo matching distribution",
        r"\binstall(?:ing|ation)? (?:\w+ )?(?:problem|error|fail\w*|issue|broken)", r"\b(?:can(?:'t|not)|fail(?:s|ed)?(?: to)?|unable to) (?:be )?(?:install|build|compile)\w*", r"\brequirements?\.txt\b", r"DistributionNotFound|VersionConflict",
    ),
    pattern("an operating system in the title", 2.2, "system", r"\bwindows\b", r"\bmac ?os(?: x)?\b", r"\bos ?x\b", r"\bwsl\b", r"\bcolab\b", r"\bwin ?10\b", r"\bpy(?:thon)? ?[23](?:\.\d+)?\b", r"\barm64\b|\bM1\b", title_only=True),
    pattern(
        "an operating system in the text", 1.5, "system",
        r"(?<!: )\b(?:on|under|for|in|using) (?:a |my |the )?(?:windows(?! and)|mac ?os(?: x)?|osx|wsl|centos|debian|alpine)\b", r"\b(?:windows|mac ?os|osx)[ -](?:only|specific|machines?|users?|path)", r"\bback-?slash(?:es)?\b", r"\b(?:works?|worked|fine|ok) (?:\w+ ){0,2}(?:on|under|with|in) (?:linux|ubuntu|mac\w*|windows|colab|python ?[23])",
    ),
    pattern("a path of Windows", 0.8, "system", r"\b[A-Za-z]:\\\w"),
    pattern(
        "the system refuses", 1.8, "system",
        r"\[WinError \d+\]", r"\[Errno -?(?!2\])\d+\]", r"\bPermissionError\b|\bPermission denied\b", r"\bConnection ?(?:refused|reset|Error)", r"\bcross-device", r"\bBroken pipe\b", r"\bAddress already in use", r"\bNo space left", r"\bToo many open files",
        r"\bread-only file system\b", r"\bUnicode(?:Decode|Encode)Error\b", r"\b'(?:charmap|cp125\d|gbk|ascii)' codec", r"\bSSL\w*Error\b|certificate verify failed", r"\bBus error\b|/dev/shm\b|\bshared memory\b",
    ),
    pattern("a failing system call", 0.6, "system", r"\[Errno -?\d+\]", r"\bHTTPError\b|\bstatus:? ?(?:code )?[45]\d\d\b", r"\bOSError\b|\bIOError\b", r"\bsubprocess\.CalledProcessError\b"),
    pattern("a deprecation", 0.7, "library", r"\b(?:Pending)?DeprecationWarning\b|\bFutureWarning\b", r"\b(?:is|are|was|been|will be|now) (?:now )?deprecated\b", r"\bdeprecated (?:and|in|since|default|api|function|method|argument)\b"),
    pattern("a version was installed", 1.3, "library", r"\b(?:install(?:ed|ing)?|switch(?:ed|ing)? to|mov(?:ed|ing) to|tried|try|run(?:ning)?|test(?:ed|ing)?) (?:\w+ ){0,2}LIBRARY ?(?:>=|==|>)? ?VERSION", r"\bLIBRARY (?:VERSION )?\(?(?:pre-?release|nightly|beta|rc\d)", of_library=True),
    pattern(
        "a crash in native code", 1.5, "library",
        r"\bseg(?:mentation)?[ -]?faults?\b", r"\bSIGSEGV\b", r"\bcore dumped\b", r"\bundefined symbol\b", r"\bGLIBC(?:XX)?_\d", r"\bDLL load failed", r"\bcannot open shared object", r"\bIllegal instruction\b", r"\bsymbol not found\b",
        r"\bcannot load backend\b|\bno display\b|\bheadless\b|\$DISPLAY\b", r"\bexpected '\w+_t' but got '(?:long|int)",
    ),
    pattern(
        "the device", 0.7, "device",
        r"\bCUDA driver\b", r"\bno kernel image\b", r"\bCUDNN_STATUS", r"\bNCCL (?:error|failure|version)", r"\bdriver version\b", r"\bCUDA (?:version|runtime) (?:mismatch|is)", r"\bcuda error\b", r"\bwithout (?:a )?(?:gpu|cuda)\b", r"\bcpu[- ]only\b", r"\bTPU\b|\bxla\b", r"\bMKL\b|\bMKLDNN\b|\boneDNN\b",
    ),
    pattern("a service", 0.2, "service", r"\bdocker(?:file|hub)?\b", r"\btravis\b", r"\bjenkins\b", r"\bgithub actions?\b", r"\bnightly\b", r"\bCI\b", r"\bkubernetes\b|\bk8s\b", r"\bflaky\b"),
    pattern("a download", 1.0, "service", r"\b(?:broken|dead|outdated) (?:link|url)s?\b", r"\b40[34]\b", r"\bURL (?:is|was|has|no longer)\b", r"\bdownload(?:ing|ed)? (?:\w+ ){0,3}(?:fail|error|broken|not)"),
)  # fmt: skip
