"""Where modules are looked for while source is checked: not in the folder that is being checked.

`python -m netmend` puts the working directory first, and a file there may be called `ast.py` or `select.py`: loading
it would execute it.
"""

from __future__ import annotations

import sys


def leave_out_working_directory() -> None:
    import os

    try:
        here = os.getcwd()  # noqa: PTH109 - before anything else is loaded
    except OSError:  # it has been removed
        here = ""
    sys.path[:] = [place for place in sys.path if place not in ("", here)]
