"""Mending trained models: sparse, invertible patches of weights, and what finds and judges them."""
