"""From causes to changes of the program: what could be altered, and which alteration makes it learn."""

from netmend.callable_package import make_callable

make_callable(__name__)
