"""Settings live in a JSON file next to this one."""

import json
from pathlib import Path
from types import SimpleNamespace


def load_config(**changes):
    settings = json.loads((Path(__file__).parent / "config.json").read_text())
    return SimpleNamespace(**{**settings, **changes})
