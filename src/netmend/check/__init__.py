"""Depth 0: mistakes that the text of a training program shows. Nothing of it is imported or executed."""

from netmend.callable_package import make_callable

make_callable(__name__)
