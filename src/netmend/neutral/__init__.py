"""Which other changes of a program do as well as a known fix: a breadth-first search, one change at a time."""

from netmend.callable_package import make_callable

make_callable(__name__)
