"""Mutation: seeding known faults into a training program by small edits of its source."""

from netmend.callable_package import make_callable

make_callable(__name__)
