"""What an environment object says about itself: its id, its wrappers, its spaces, the program's own methods in it."""

from __future__ import annotations

from typing import Any

from netmend.observe.sites import Sites
from netmend.vocabulary import Site

_MOST_WRAPPERS = 32
_METHODS = ("step", "reset", "reward", "observation", "action")


def chain_of(environment: Any) -> list[Any]:
    """The outermost wrapper first."""
    found = [environment]
    while len(found) < _MOST_WRAPPERS:
        inner = vars(found[-1]).get("env") if hasattr(found[-1], "__dict__") else None
        if inner is None or any(inner is known for known in found):
            break
        found.append(inner)
    return found


def is_vector(environment: Any) -> bool:
    """Whether it steps several lanes at once. Not by `hasattr`: wrappers of Gymnasium before 1.0 pass the question on, and warn."""
    return any("num_envs" in vars(link) or hasattr(type(link), "num_envs") for link in chain_of(environment))


def kind_of(environment: Any) -> str:
    """The registered id, else the innermost class."""
    inner = chain_of(environment)[-1]
    spec = getattr(inner, "spec", None)
    name = getattr(spec, "id", None)
    return str(name) if name else type(inner).__name__


def about(environment: Any, sites: Sites, created: Site | None, stepped: Site | None) -> dict[str, Any]:
    """The fields of a WorldFact that do not change."""
    chain = chain_of(environment)
    inner = chain[-1]
    spec = getattr(inner, "spec", None)
    limit = getattr(spec, "max_episode_steps", None)
    if limit is None:
        limit = next((v for link in chain if (v := vars(link).get("_max_episode_steps"))), None)
    space = getattr(inner, "single_action_space", None) or getattr(inner, "action_space", None)
    count = getattr(space, "n", None)
    return {
        "kind": kind_of(environment),
        "chain": tuple(type(link).__name__ for link in chain),
        "own": tuple(_own_methods(chain, sites)),
        "created": created,
        "stepped": stepped,
        "time_limit": int(limit) if isinstance(limit, int) else None,
        "actions": int(count) if count is not None and getattr(space, "shape", None) == () else 0,
    }


def _own_methods(chain: list[Any], sites: Sites) -> list[Site]:
    """Where the program's own wrappers and environments define what changes rewards, observations and ends."""
    found: dict[str, Site] = {}
    for link in chain:
        for kind in type(link).__mro__:
            for name in _METHODS:
                method = vars(kind).get(name)
                code = getattr(getattr(method, "original", method), "__code__", None)
                if code is not None and sites.is_user_file(code.co_filename):
                    title = f"{kind.__name__}.{name}"
                    found.setdefault(title, Site(code.co_filename, code.co_firstlineno, function=title))
    return list(found.values())
