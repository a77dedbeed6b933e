"""Patterns that hint at a cause outside the code: of hardware, versions, data and the machine."""

from __future__ import annotations

import re
from dataclasses import dataclass

# One kind of evidence of an outer cause, and the names of libraries that expressions may hold as LIBRARY.

# libraries that deep-learning projects build on, as people write them
LIBRARIES = (
    "pytorch", "torch", "torchvision", "torchtext", "torchaudio", "tensorflow", "tensorflow-gpu", "tf", "tf2", "keras", "mxnet", "gluon", "jax", "flax", "chainer", "cupy", "theano", "numpy", "scipy", "pandas",
    "scikit-learn", "sklearn", "transformers", "huggingface", "tokenizers", "datasets", "tensorboard", "tensorboardx", "gym", "gymnasium", "pillow", "pil", "opencv", "cv2", "h5py", "protobuf", "spacy", "nltk", "dask",
    "redis", "hydra", "omegaconf", "wandb", "comet", "mlflow", "neptune", "visdom", "trains", "pyglet", "cython", "numba", "matplotlib", "seaborn", "plotly", "mmcv", "apex", "onnx", "onnxruntime", "boto", "boto3", "pyyaml",
    "ruamel", "pytest", "setuptools", "pip", "sacrebleu", "tqdm", "cuda", "cudnn", "nccl", "mpi", "openmpi", "python", "python3", "sphinx", "flask", "django", "elasticsearch", "smac", "hyperopt", "optuna", "xgboost", "lightgbm", "catboost",
    "horovod", "ray", "deepspeed", "dill", "cloudpickle", "pickle", "psutil", "requests", "click", "docker", "kubernetes", "ipython", "jupyter", "spark", "pyspark", "pyarrow", "arrow", "nibabel", "simpleitk", "librosa", "soundfile", "imgaug", "albumentations",
    "shapely", "pycocotools", "networkx", "sympy", "gensim", "fasttext", "allennlp", "fairseq", "pytorch-lightning", "lightning", "ignite", "catalyst", "pyro", "tensorflow-addons", "tensorflow-probability", "tfp", "addons", "mujoco", "conda", "bazel", "gcc", "cmake",
)  # fmt: skip
_LIBRARY = "(?:" + "|".join(sorted(map(re.escape, LIBRARIES), key=len, reverse=True)) + ")"
_VERSION = r"(?:version )?[=v]{0,3} ?\d+(?:\.\d+)+\w*"


@dataclass(frozen=True)
class Pattern:
    """A kind of evidence, the expression that finds it, and what outside the code to look at."""

    kind: str
    expression: re.Pattern[str]
    prior: float  # log-odds that it speaks of an outer cause, by judgement; training starts from their sum
    look_at: str  # library, system, python, device, service, installation
    title_only: bool = False
    of_library: bool = False  # counts only if the library it names is not the project itself


def pattern(
    kind: str,
    prior: float,
    look_at: str,
    *expressions: str,
    title_only: bool = False,
    of_library: bool = False,
) -> Pattern:
    text = "|".join(expressions).replace("LIBRARY", _LIBRARY).replace("VERSION", _VERSION)
    return Pattern(kind, re.compile(text, re.IGNORECASE), prior, look_at, title_only, of_library)


# What a report says when a library, the system or a service is at fault or has changed: one entry per kind of evidence.
#
# Kinds follow Rodríguez-Pérez et al.'s rules for extrinsic bugs: the environment changed, a requirement changed outside
# version control, or the fault sits in a third-party library. LIBRARY in an expression stands for names of libraries.

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


# What a report says when something outside triggers the failure: devices, platforms, other machines, what is missing there.

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
