"""Mutants of trained models: weights, neurons and layers changed for the length of a `with` block, without training again."""

from netmend.adapters.torch.weight_mutants.mutant import MUTANTS, WeightMutant

__all__ = ["MUTANTS", "WeightMutant"]
