"""Moved to `program.text`."""

from netmend.program.text.file import File as File
from netmend.program.text.sources import Code as Code
