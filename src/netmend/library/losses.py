"""The losses of PyTorch: what each is given, what it does to it, and what the targets are. Every other list of losses is a selection from these."""

from __future__ import annotations

from dataclasses import dataclass

SCORES, LOG_PROBABILITIES, PROBABILITIES, VALUES, PAIRS = (
    "scores",
    "log probabilities",
    "probabilities",
    "values",
    "pairs",
)
CLASS, YES_NO, REAL, SHARES, SIDE = "class", "yes or no", "real", "shares", "side"


@dataclass(frozen=True)
class Loss:
    """One loss, under the name of its function."""

    name: str  # "cross_entropy"
    layer: str  # "CrossEntropyLoss"
    wants: str  # what it is given as prediction
    target: str  # class: an index; yes or no; real; shares: a distribution; side: -1 or 1
    normalises: str = ""  # the function that it applies itself
    distance: bool = (
        False  # how far prediction and target are apart, number by number, the same in both directions
    )
    weights: tuple[str, ...] = ()  # options that hold a tensor of weights
    options: tuple[str, ...] = ("reduction",)

    @property
    def short(self) -> str:
        """`bce_logits`: the name without what all share."""
        return _SHORT.get(self.name, self.name.removesuffix("_loss"))


_SHORT = {"binary_cross_entropy": "bce", "binary_cross_entropy_with_logits": "bce_logits"}
_CLASS_OPTIONS = ("weight", "ignore_index", "reduction")

LOSSES = (
    Loss("cross_entropy", "CrossEntropyLoss", SCORES, CLASS, "softmax", weights=("weight",), options=(*_CLASS_OPTIONS, "label_smoothing")),
    Loss("nll_loss", "NLLLoss", LOG_PROBABILITIES, CLASS, weights=("weight",), options=_CLASS_OPTIONS),
    Loss("mse_loss", "MSELoss", VALUES, REAL, distance=True),
    Loss("l1_loss", "L1Loss", VALUES, REAL, distance=True),
    Loss("smooth_l1_loss", "SmoothL1Loss", VALUES, REAL, distance=True),
    Loss("huber_loss", "HuberLoss", VALUES, REAL, distance=True),
    Loss("binary_cross_entropy", "BCELoss", PROBABILITIES, YES_NO, weights=("weight",), options=("weight", "reduction")),
    Loss(
        *("binary_cross_entropy_with_logits", "BCEWithLogitsLoss", SCORES, YES_NO, "sigmoid"),
        weights=("weight", "pos_weight"), options=("weight", "reduction", "pos_weight"),
    ),
    Loss("kl_div", "KLDivLoss", LOG_PROBABILITIES, SHARES),
    Loss("poisson_nll_loss", "PoissonNLLLoss", VALUES, REAL),
    Loss("gaussian_nll_loss", "GaussianNLLLoss", VALUES, REAL),
    Loss("hinge_embedding_loss", "HingeEmbeddingLoss", VALUES, SIDE),
    Loss("margin_ranking_loss", "MarginRankingLoss", PAIRS, SIDE),
    Loss("multi_margin_loss", "MultiMarginLoss", SCORES, CLASS),
    Loss("multilabel_margin_loss", "MultiLabelMarginLoss", SCORES, YES_NO),
    Loss("multilabel_soft_margin_loss", "MultiLabelSoftMarginLoss", SCORES, YES_NO, "sigmoid"),
    Loss("soft_margin_loss", "SoftMarginLoss", SCORES, SIDE),
    Loss("cosine_embedding_loss", "CosineEmbeddingLoss", PAIRS, SIDE),
    Loss("triplet_margin_loss", "TripletMarginLoss", PAIRS, SIDE),
    Loss("triplet_margin_with_distance_loss", "TripletMarginWithDistanceLoss", PAIRS, SIDE),
    Loss("ctc_loss", "CTCLoss", LOG_PROBABILITIES, CLASS),
)  # fmt: skip

LOSS = {loss.name: loss for loss in LOSSES}
LOSS_CLASSES = {loss.name: loss.layer for loss in LOSSES}
LOSS_FUNCTIONS = {loss.layer: loss.name for loss in LOSSES}


# Selections that are asked for in many places.
DISTANCES = tuple(loss.name for loss in LOSSES if loss.distance)
BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")  # yes or no, each answer by itself
CROSS_ENTROPIES = ("cross_entropy", "nll_loss")  # one class of several
LIKELIHOODS = (*CROSS_ENTROPIES, *BINARY)  # of classes, whatever they are given
OF_YES_NO = (*BINARY, "multilabel_soft_margin_loss")
OF_CLASS_INDEX = (*CROSS_ENTROPIES, "multi_margin_loss")
NEVER_NEGATIVE = (*LIKELIHOODS, *DISTANCES)
ON_SCORES = {
    "nll_loss": "cross_entropy",
    "binary_cross_entropy": "binary_cross_entropy_with_logits",
}  # the sister that normalises itself
