"""Mending trained models: sparse, invertible patches of weights, and what finds and judges them."""

from netmend.callable_package import make_callable

make_callable(__name__)
