"""The methods by name."""

from __future__ import annotations

from functools import partial

from netmend.errors import UsageError
from netmend.mend.torch.descent import Descent
from netmend.mend.torch.last_layer import LastLayer
from netmend.mend.torch.localisers.by_activity import FORMULAS, spectrum
from netmend.mend.torch.localisers.by_gradient import contrast, influence, sensitivity
from netmend.mend.torch.mixing import Mixing, SparseMixing
from netmend.mend.torch.running import Method
from netmend.mend.torch.searching import Evolution, NeuronScaling, WeightSearch, care, constricted
from netmend.mend.torch.units import NEURON, WEIGHT, top_share

BASELINE = "fine_tune_kl"
OURS = "sparse_mixing"
AUTO = (BASELINE, OURS, "mixing", "irepair_kl", "last_layer")  # what is tried where nobody names methods
CLIP = 0.5  # of the gradient's norm, as published for IRepair
LARGEST = partial(top_share, share=0.2)  # of all weights, where a method has to take some

IREPAIR = "IRepair: the layer with the largest gradient, chosen anew at every step"
CONTRAST = "the layer at which failing inputs pull most, compared with the guard; KL"
INFLUENCE = "I-Repair: weights that carry the failures more than the rest; KL"
SWARM = "Arachne's first version: a few weights, new values by a swarm"
SPARSE = "a fifth of the weights, found by a short dense repair; mixtures of inputs, KL, averaged weights"

_ALL: tuple[Method, ...] = (
    Descent("fine_tune", "all weights, nothing guarded", guarded=False),
    Descent(BASELINE, "all weights, KL to the old answers on the guard"),
    Descent("irepair", IREPAIR, sensitivity, refresh=1, guarded=False, clip=CLIP),
    Descent("irepair_kl", "IRepair with KL on the guard", sensitivity, refresh=1, clip=CLIP),
    Descent("contrast_kl", CONTRAST, contrast, refresh=1),
    *(
        Descent(
            f"spectrum_{formula}",
            f"neurons that are suspicious by {formula} (DeepFault); KL",
            partial(spectrum, formula=formula),
            NEURON,
            LARGEST,
        )
        for formula in FORMULAS
    ),
    Descent("influence", INFLUENCE, influence, WEIGHT, LARGEST),
    WeightSearch("arachne", "Arachne: a few weights, new values by differential evolution", Evolution()),
    WeightSearch("arachne_pso", SWARM, constricted(), 1.0),
    NeuronScaling("care", "CARE: factors for the neurons with the largest causal effect, by a swarm", care()),
    SparseMixing(OURS, SPARSE, Mixing()),
    SparseMixing("mixing", "all weights; mixtures of inputs, KL, averaged weights", Mixing(), share=1.0),
    LastLayer("last_layer", "last layer: failing inputs led to their class, the guard's scores moved least"),
    LastLayer(
        "last_layer_exact", "PRDNN: smallest change of the last layer, by a linear program", exact=True
    ),
)
METHODS: dict[str, Method] = {one.name: one for one in _ALL}


def method(name: str) -> Method:
    """The method of that name."""
    if name not in METHODS:
        raise UsageError(f"there is no method called {name!r}; choose among {', '.join(METHODS)}")
    return METHODS[name]
