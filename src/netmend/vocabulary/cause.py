"""The leaves of the fault taxonomy that netmend can name, with the published codes for the same faults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Leaf:
    """One kind of fault: stable code, a title for people, the codes other studies use."""

    code: str
    title: str
    aliases: tuple[str, ...] = ()


LEAVES: dict[str, Leaf] = {
    leaf.code: leaf
    for leaf in (
        Leaf("ARC-NET-WRONG", "part of the network is not connected to the output"),
        Leaf("ARC-STRUCT-SUBOPT", "the network is badly dimensioned", ("LAD", "LRM", "LCN")),
        Leaf("ARC-INIT-MODEL", "layers are not registered with the model"),
        Leaf("ARC-INIT-MULTI", "the model is created again during training"),
        Leaf("ARC-INIT-WEIGHT", "weights start at a bad value", ("WCI",)),
        Leaf("ARC-INIT-BIAS", "biases start at a bad value", ("BCI",)),
        Leaf("LYR-SOFTMAX-MISSING", "probabilities are expected, raw scores are given", ("ACH",)),
        Leaf("LYR-SOFTMAX-EXTRA", "softmax or sigmoid is applied twice", ("LAD", "ACH")),
        Leaf("LYR-NORM-MISSING", "a deep stack lacks normalisation", ("NRM",)),
        Leaf("LYR-DROPOUT-MISSING", "nothing keeps the network from overfitting", ("DRP",)),
        Leaf("LYR-DROPOUT-MODE", "dropout stays on in evaluation", ("DRP", "MOD")),
        Leaf("LYR-DROPOUT-RATE", "the dropout rate is wrong", ("RCD", "DRP")),
        Leaf("LYR-FLATTEN-MISSING", "a feature map reaches a linear layer without being flattened"),
        Leaf("LYR-FILTER", "a kernel does not suit the size of its input", ("LCF",)),
        Leaf("LYR-IN-SAMPLE", "a linear layer does not fit the flattened input"),
        Leaf("LYR-IN-SHAPE", "a layer's declared input differs from the data"),
        Leaf("LYR-OUT-SHAPE", "the output width does not fit the targets", ("LCN",)),
        Leaf("LYR-DIM-MISMATCH", "two adjacent layers disagree on width"),
        Leaf("LYR-UNITS", "a layer has too few or too many units", ("LCN",)),
        Leaf("LYR-BIAS-MISSING", "a layer that needs a bias has none", ("WRB",)),
        Leaf("ACT-HID-MISSING", "no non-linearity between layers", ("ARM", "ACH")),
        Leaf("ACT-HID-WRONG", "the hidden activation function does not suit", ("ACH",)),
        Leaf("ACT-OUT-MISSING", "the output activation that the loss needs is missing", ("ARM", "ACH")),
        Leaf("ACT-OUT-WRONG", "the output activation contradicts the task", ("ACH",)),
        Leaf("ACT-EXTRA", "an activation where the layer must stay linear", ("AAL", "ACH")),
        Leaf("ACT-DIM", "softmax runs over the wrong axis"),
        Leaf("TSR-SHAPE", "a tensor has the wrong shape", ("SHP",)),
        Leaf("TSR-SQUEEZE", "shapes broadcast silently in the loss", ("RED", "SHP")),
        Leaf("TSR-INDEX", "an index selects the wrong axis", ("SHP",)),
        Leaf("INP-LAYER-SHAPE", "a layer is given data of the wrong shape or layout", ("SHP",)),
        Leaf("INP-METHOD-SHAPE", "a function is given data of the wrong shape", ("SHP",)),
        Leaf("INP-MASK-MISSING", "padding counts as data"),
        Leaf("INP-TYPE", "an argument has the wrong type"),
        Leaf("INP-TENSOR-TYPE", "two tensors of different types meet"),
        Leaf("INP-FORMAT-RNN", "sequences are not in the layout the recurrent layer expects", ("SHP",)),
        Leaf("HYP-LR-HIGH", "learning rate too high", ("HLR",)),
        Leaf("HYP-LR-LOW", "learning rate too low", ("HLR",)),
        Leaf("HYP-LR-SCHED", "the schedule ruins the learning rate", ("SCH",)),
        Leaf("HYP-EPOCH-FEW", "training stops too early", ("HNE",)),
        Leaf("HYP-EPOCH-MANY", "training goes on too long", ("HNE",)),
        Leaf("HYP-BATCH-SMALL", "batch too small", ("HBS",)),
        Leaf("HYP-BATCH-LARGE", "batch too large", ("HBS",)),
        Leaf("HYP-BATCH-NONE", "no batching", ("HDB", "HBS")),
        Leaf("HYP-BATCH-IMPL", "batches are cut wrongly"),
        Leaf("LOS-SELECT", "the loss does not fit the task", ("LCH",)),
        Leaf("LOS-CALC", "the loss is computed wrongly", ("LCH", "RED", "SGN")),
        Leaf("LOS-GRAPH-CUT", "the gradient path to the weights is cut", ("FRZ",)),
        Leaf("LOS-REG-MISSING", "no regularisation against overfitting", ("RRW", "REG")),
        Leaf("LOS-REG-EXTRA", "regularisation far too strong", ("RAW",)),
        Leaf("OPT-SELECT", "the optimiser does not suit the problem", ("OCH",)),
        Leaf("OPT-EPS", "the optimiser's epsilon is off", ("PRC",)),
        Leaf("OPT-CLIP", "gradient clipping is wrong or missing", ("OCG", "CLP")),
        Leaf("OPT-PARAMS", "the optimiser does not hold the right parameters", ("OPL",)),
        Leaf("OPT-MOMENTUM", "momentum out of range"),
        Leaf("DAT-LITTLE", "too little training data", ("TRD",)),
        Leaf("DAT-LOWQ", "data of low quality", ("TAN",)),
        Leaf("DAT-LABEL", "labels are wrong", ("TCL", "LBL")),
        Leaf("DAT-IMBALANCE", "classes are unbalanced and one is never predicted", ("TUD", "IMB")),
        Leaf("DAT-FEAT-RANGE", "features carry no or hardly any variation"),
        Leaf("PRE-MISS-NORM", "inputs are not normalised", ("CPP",)),
        Leaf("PRE-MISS-SCALE", "inputs or targets are not scaled", ("CPP",)),
        Leaf("PRE-MISS-CLEAN", "invalid values in the data", ("CPP",)),
        Leaf("PRE-MISS-PAD", "samples of different length are not padded", ("CPP",)),
        Leaf("PRE-WRONG-STEP", "a preprocessing step is wrong", ("CPP",)),
        Leaf("PRE-TRAIN-TEST-SKEW", "training and evaluation data are prepared differently", ("CPP",)),
        Leaf("VAL-SPLIT", "training and evaluation data overlap", ("SPL",)),
        Leaf("VAL-METRIC", "the metric does not measure the task", ("MET",)),
        Leaf("TRN-MEM", "memory grows because graphs are kept"),
        Leaf("TRN-CKPT", "a checkpoint was not really loaded"),
        Leaf("TRN-AUG-EXTRA", "a transformation destroys the signal", ("AUG",)),
        Leaf("TRN-GRAD", "a custom gradient is wrong"),
        Leaf("LOOP-ZERO-GRAD", "gradients are not cleared", ("ZGR",)),
        Leaf("LOOP-BACKWARD", "backward() is missing", ("STP",)),
        Leaf("LOOP-STEP", "the optimiser's step is missing or misplaced", ("STP",)),
        Leaf("LOOP-MODE-EVAL", "evaluation runs in training mode", ("MOD",)),
        Leaf("LOOP-MODE-TRAIN", "training runs in evaluation mode", ("MOD",)),
        Leaf("LOOP-NO-GRAD", "gradients are switched on or off at the wrong place"),
        Leaf("LOOP-DETACH", "state is carried over without detach", ("FRZ",)),
        Leaf("LOOP-ACCUM", "gradient accumulation is wrong"),
        Leaf("LOOP-AMP", "mixed precision is misused", ("PRC",)),
        Leaf("LOOP-SCHED-ORDER", "the scheduler is stepped at the wrong place", ("SCH",)),
        Leaf("LOOP-WORKER-SEED", "workers draw the same random numbers", ("SED",)),
        Leaf("LOOP-FREEZE", "layers are frozen against intent", ("FRZ",)),
        Leaf("GPU-XFER-MISSING", "data or model is not on the device"),
        Leaf("GPU-PARALLEL", "replicas drift apart", ("DST",)),
        Leaf("TRN-MODEL-BIG", "the model does not fit into memory"),
        Leaf("API-USAGE", "an interface is used wrongly"),
        Leaf("API-SHUFFLE-POS", "the training data is not shuffled", ("SHF",)),
    )
}
