"""Layers, activations and outputs of the network in the source."""
