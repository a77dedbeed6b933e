"""Moved to `program.text`."""

from netmend.program.text.queries import Function as Function
from netmend.program.text.queries import last_name as last_name
from netmend.program.text.queries import own_nodes as own_nodes
from netmend.program.text.queries import site_of as site_of
from netmend.program.text.sources import Sources as Sources
