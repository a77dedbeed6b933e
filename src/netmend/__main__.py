"""`python -m netmend` is the command `netmend`."""

import sys

if sys.argv[1:2] == ["check"] and not getattr(sys.flags, "safe_path", False):
    # With -m the working directory comes first: a user's own typing.py would be imported, and checking executes nothing.
    sys.path[:1] = []

from netmend.cli import main

main()
