"""From a trace to the symptoms in it."""

from netmend.callable_package import make_callable
from netmend.diagnose.run import examine

__all__ = ["examine"]

make_callable(__name__)
