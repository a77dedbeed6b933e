"""What a report says when something outside triggers the failure: devices, platforms, other machines, what is missing there."""

from __future__ import annotations

from netmend.locate.extrinsic_pattern import pattern

_WORKS = r"(?:works?|worked|working|runs?|ran|fine|ok|okay|passes|succeeds)"
_NOT = r"(?:fails?|failed|breaks?|broken|crash\w*|hangs?|hung|stuck|happens?|occurs?|errors?|raises?|does(?:n't| not) work|not work\w*|slow\w*)"
TRIGGERS = (
    pattern(
        "a device in the title", 1.2, "device",
        r"\b(?:multi|single|two|several|multiple|second|other)?[- ]?gpus?\b", r"\bcuda\w*\b", r"\btpus?\b", r"\bxla\b", r"\bnccl\b", r"\bcudnn\b", r"\bddp\w*\b", r"\bdata ?parallel\b", r"\bfp16\b|\bamp\b|\bapex\b", r"\bmulti-?node\b",
        title_only=True,
    ),
    pattern(
        "several or other devices", 1.0, "device",
        r"\b(?:multi|multiple|several|many|two|four|eight|[2-9]|16)[- ]?gpus?\b", r"\bmulti-?(?:gpu|node|machine|tpu)\b", r"\bcuda:[1-9]", r"\bgpus? ?= ?(?:[2-9]|-1|\[)", r"\b(?:distributed_backend|accelerator|strategy) ?= ?['\"](?:ddp|dp|tpu|horovod)", r"\btpu_cores\b|\btpus?\b",
        r"\b(?:on|in|with|under) (?:ddp|dp|data ?parallel|distributed (?:mode|training|data))\b", r"\bDistributedDataParallel\b|\bDataParallel\b", r"\b(?:other|second|different|another|wrong|non-default) (?:gpu|device)s?\b",
        r"\bExpected all tensors to be on the same device\b|\bexpected device\b|\barguments are located on different GPUs\b|\bbut (?:found|got) (?:at least )?(?:two devices|.{0,20}cuda)",
    ),
    pattern(
        "only on one kind of device", 1.2, "device",
        rf"\b{_WORKS} (?:\w+ ){{0,3}}(?:on|in|with|for|using) (?:the |a |my |single |one )?(?:cpu|gpu|1 gpu|cuda)s?\b", rf"\b{_NOT} (?:\w+ ){{0,3}}(?:on|in|with|for|using) (?:the |a |my |multiple |several )?(?:cpu|gpu|cuda|tpu)s?\b",
        r"\b(?:only|when) (?:\w+ ){0,2}(?:on|using|with) (?:the |a )?(?:gpu|cpu|cuda|tpu)s?\b", r"\b(?:cpu|gpu)[- ]only\b", r"\bno (?:gpus?|cuda)\b|\bwithout (?:a |any )?(?:gpus?|cuda)\b", r"\bdevice-side assert\b|\bmap_location\b|\bTorch not compiled with CUDA\b",
    ),
    pattern(
        "memory or size of the machine", 1.0, "device",
        r"\bout of memory\b|\bOOM\b", r"\bMemoryError\b|\bbad_alloc\b|\bCannot allocate memory\b|\bResourceExhausted\w*", r"\bgets? killed\b|\bKilled\b|\bSIGKILL\b", r"\b(?:many|more|number of|\d{2,}) (?:cpu )?cores\b", r"\bdisk (?:space|is full|quota)\b", r"\bulimit\b",
    ),
    pattern(
        "a platform in the title", 1.5, "service",
        r"\b(?:colab\w*|kaggle|jupyter\w*|databricks|sagemaker|heroku|lambda|azure|aws|ec2|gcp|gcs|gke|eks|s3|kubernetes|k8s|slurm|hpc|spark|yarn|hdfs|docker\w*|travis|jenkins|appveyor|circleci|raspberry|jetson|nginx|minio|helm|ingress|postgres\w*|mysql|redis|mongo\w*)\b",
        r"\bCI\b|\bflaky\b|\bnightly\b", title_only=True,
    ),
    pattern(
        "a platform in the text", 0.7, "service",
        r"\b(?:on|in|to|from|with|using|inside|via|under) (?:a |an |the |my |google |aws |amazon |azure |hosted )?(?:colab\w*|kaggle|jupyter\w*|notebooks?|databricks|sagemaker|heroku|lambda|azure|aws|ec2|gcp|gcs|gke|eks|s3|kubernetes|k8s|slurm|hpc|spark|yarn|hdfs|docker|container|vm|travis|jenkins|circleci|raspberry|jetson|nginx|minio|helm|postgres\w*|mysql|pycharm|spyder|ipython|tmux|cron|sudo)\b",
    ),
    pattern("another architecture", 1.8, "system", r"\barm(?:v\d\w*|64|hf)?\b", r"\baarch64\b", r"\bs390x?\b", r"\bppc64\w*\b|\bpower ?[89]\b", r"\b32[- ]bit\b", r"\b(?:big|little)[- ]endian\b", r"\bapple (?:silicon|m\d)\b"),
    pattern(
        "a version of Python", 1.2, "python",
        r"\b(?:in|on|with|under|using|for|only|requires?|needs?|to|from|of) (?:the |a )?py(?:thon)? ?-?(?:2|3)(?:\.\d+)*\b", r"\bpython ?(?:<|>|<=|>=|==) ?\d", r"\bpy(?:27|3\d+)\b", r"\bpython ?(?:2|3|2\.7|3\.\d+) (?:only|support|compat\w*|incompat\w*|users?|works?|fails?|syntax|does)", r"\bpython2\b",
    ),
    pattern(
        "it works elsewhere", 1.5, "system",
        rf"\b{_WORKS} (?:\w+ ){{0,3}}(?:on|in) (?:my|another|other|a different|one|some|the other|our|local)(?: \w+)? ?(?:machines?|laptops?|computers?|servers?|desktops?|pc|clusters?|environments?|systems?|mac\w*|box)",
        r"\b(?:can(?:'t|not| not)|could ?n(?:'t|ot)|unable to|not able to|do(?:n't| not)) reproduce (?:\w+ ){0,3}(?:locally|on my|on our|on a|elsewhere)", r"\bonly (?:happens?|occurs?|fails?|appears?|an issue|a problem|affects?|seen|reproducible) (?:\w+ )?(?:on|in|with|for|under)\b",
        r"\bon (?:my|another|other|some|certain|a different|new|old) (?:machines?|computers?|laptops?|servers?|systems?|environments?|setups?)\b", r"\blocally\b.{0,60}\bbut\b|\bbut\b.{0,60}\blocally\b",
    ),
    pattern(
        "something is not installed", 1.2, "installation",
        r"\b(?:is|are|was|be|being) not (?:yet |pre-?)?installed\b", r"\b(?:isn't|aren't|wasn't|not) (?:pre-?)?installed\b", r"\bwithout (?:having )?(?:\w+ )?(?:installed|installing)\b", r"\b(?:missing|undeclared|optional|unmet|hidden) (?:\w+ )?(?:dependenc(?:y|ies)|requirements?)\b", r"\bnot (?:listed )?in (?:the )?requirements\b", r"\bNo module named\b",
    ),
    pattern(
        "the network", 1.0, "service",
        r"\b(?:no|without|internet|disabled) (?:internet|network|connection)\b|\binternet access\b", r"\boffline\b", r"\bproxy\b|\bproxies\b|\bfirewall\b", r"\bDNS\b|\bname resolution\b|\bunreachable\b", r"\b(?:Read|Connect\w*)Timeout\w*|\btimed? ?out\b", r"\bssh\b", r"\bendpoints?\b.{0,40}\b(?:fail|error|global|region)",
    ),
    pattern("texts of other systems", 1.0, "system", r"\bCRLF\b|\bline[- ]endings?\b|\\r\\n", r"\blocale\b|\bLC_ALL\b", r"\b(?:encoding|codec) (?:error|issue|problem)s?\b|\bnon-?ascii\b", r"\btime ?zones?\b", r"\bcase[- ](?:in)?sensitive\b.{0,40}\b(?:file|path|system)"),
    pattern("it is gone", 1.5, "service", r"\bshut ?down\b.{0,40}\b(?:server|service)|\b(?:server|service|site|website|page|url|link|host|dataset|model)s? (?:\w+ ){0,3}(?:shut ?down|gone|dead|moved|removed|unavailable|not accessible|inaccessible|broken|outdated|expired|changed)\b", r"\bno longer (?:hosted|maintained|accessible|available|exists?)\b", r"\b(?:outdated|dead|broken|old|wrong) (?:download )?(?:links?|urls?)\b", r"\b404\b"),
    pattern("a security notice", 2.0, "library", r"\bCVE-\d", r"\bsecurity (?:risk|vulnerabilit\w+|advisory|issue)\b", r"\bdependabot\b"),
    pattern("another program", 0.7, "library", r"\b(?:does(?:n't| not)|not|can(?:'t|not)) (?:\w+ )?(?:work|compatible|play|usable|used|support\w*) (?:\w+ )?with\b", r"\bincompatib\w+", r"\bintegration with\b"),
)  # fmt: skip
