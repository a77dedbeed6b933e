"""Places of a program that trains with Stable-Baselines3: the algorithm's constructor, its settings, the call of `learn`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from netmend.changes.case import Case
from netmend.program.source.bindings import binding_of
from netmend.program.source.naming import qualified
from netmend.program.source.numbers import number
from netmend.program.source.values import Faces, set_value
from netmend.program.source.writing import add_argument
from netmend.program.text.file import File
from netmend.program.text.queries import last_name
from netmend.program.text.sources import Code
from netmend.vocabulary.change import FileEdits


@dataclass(frozen=True)
class Algorithm:
    """One class of Stable-Baselines3 or its contrib package. `defaults` are those of its constructor."""

    name: str
    package: str
    defaults: dict[str, float] = field(default_factory=dict)

    @property
    def qualified(self) -> str:
        return f"{self.package}.{self.name}"


_SB3, _CONTRIB = "stable_baselines3", "sb3_contrib"
_ON_POLICY = {"gamma": 0.99, "ent_coef": 0.0, "vf_coef": 0.5, "max_grad_norm": 0.5, "gae_lambda": 0.95}

_DQN = {
    "gamma": 0.99, "buffer_size": 1_000_000, "learning_starts": 100, "train_freq": 4, "gradient_steps": 1, "target_update_interval": 10_000,
    "exploration_fraction": 0.1, "exploration_initial_eps": 1.0, "exploration_final_eps": 0.05,
}  # fmt: skip

_ACTOR_CRITIC = {
    "gamma": 0.99, "buffer_size": 1_000_000, "learning_starts": 100, "train_freq": 1, "gradient_steps": 1, "tau": 0.005,
}  # fmt: skip

ALGORITHMS: dict[str, Algorithm] = {
    each.name: each
    for each in (
        Algorithm("PPO", _SB3, {**_ON_POLICY, "learning_rate": 3e-4, "n_steps": 2048, "n_epochs": 10, "batch_size": 64}),
        Algorithm("A2C", _SB3, {**_ON_POLICY, "gae_lambda": 1.0, "learning_rate": 7e-4, "n_steps": 5}),
        Algorithm("DQN", _SB3, {**_DQN, "learning_rate": 1e-4, "batch_size": 32, "max_grad_norm": 10}),
        Algorithm("SAC", _SB3, {**_ACTOR_CRITIC, "learning_rate": 3e-4, "batch_size": 256}),
        Algorithm("TD3", _SB3, {**_ACTOR_CRITIC, "learning_rate": 1e-3, "batch_size": 256}),
        Algorithm("DDPG", _SB3, {**_ACTOR_CRITIC, "learning_rate": 1e-3, "batch_size": 256}),
        Algorithm("TQC", _CONTRIB, {**_ACTOR_CRITIC, "learning_rate": 3e-4, "batch_size": 256}),
        Algorithm(
            "QRDQN", _CONTRIB,
            {**_DQN, "learning_rate": 5e-5, "batch_size": 32, "exploration_fraction": 0.005, "exploration_final_eps": 0.01},
        ),
        Algorithm("TRPO", _CONTRIB, {"gamma": 0.99, "gae_lambda": 0.95, "learning_rate": 1e-3, "n_steps": 2048, "batch_size": 128}),
    )
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Setting:
    """A setting of the algorithm: its present value and how to give it another one."""

    name: str
    value: float
    file: File
    call: ast.Call
    given: ast.expr | None  # the expression that sets it; None where the default holds

    def put(self, case: Case, text: str) -> Faces | FileEdits:
        if self.given is not None:
            found = set_value(case.code, self.file, self.given, text, case.arguments)
            # a value from the command line is changed where it is used
            return found if found.edits else found.forced
        return add_argument(self.file, self.call, f"{self.name}={text}")


@dataclass(frozen=True, eq=False)
class Training:
    """The algorithm that a program makes, and where."""

    algorithm: Algorithm
    file: File
    call: ast.Call
    learn: tuple[File, ast.Call] | None

    def setting(self, case: Case, name: str) -> Setting | None:
        """A numeric setting by its name; None where the algorithm has none, or its value cannot be told."""
        default = self.algorithm.defaults.get(name)
        if default is None:
            return None
        for keyword in self.call.keywords:
            if keyword.arg == name:
                return self._given(case, name, keyword.value)
        if name == "learning_rate" and len(self.call.args) > 2:
            return self._given(case, name, self.call.args[2])
        if any(isinstance(each, ast.Starred) for each in self.call.args):
            return None
        for keyword in self.call.keywords:
            if keyword.arg is not None:
                continue
            entries = dictionary(self.file, keyword.value)
            if entries is None:
                return None  # it may come from there
            if name in entries:
                return self._given(case, name, entries[name])
        return Setting(name, default, self.file, self.call, None)

    def _given(self, case: Case, name: str, value: ast.expr) -> Setting | None:
        present = number(case.code, self.file, value, case.arguments)
        return None if present is None else Setting(name, float(present), self.file, self.call, value)

    def steps(self, case: Case) -> Setting | None:
        """`learn(total_timesteps=…)`."""
        if self.learn is None:
            return None
        file, call = self.learn
        value = case.sources.argument(call, "total_timesteps", 0)
        present = None if value is None else number(case.code, file, value, case.arguments)
        return None if present is None else Setting("total_timesteps", float(present), file, call, value)

    @property
    def environment(self) -> ast.expr | None:
        """What the algorithm is given to train in."""
        for keyword in self.call.keywords:
            if keyword.arg == "env":
                return keyword.value
        given = self.call.args
        return given[1] if len(given) > 1 and not isinstance(given[1], ast.Starred) else None


def training(case: Case) -> Training | None:
    """The first algorithm that the program makes, that learns where several are made."""
    found = list(_constructors(case.code))
    learns = list(_learning(case.code))
    for file, call, algorithm in found:
        for other, learn in learns:
            if other is file and _is_receiver(file, learn, call):
                return Training(algorithm, file, call, (file, learn))
    if not found:
        return None
    file, call, algorithm = found[0]
    return Training(algorithm, file, call, learns[0] if len(learns) == 1 and len(found) == 1 else None)


def _constructors(code: Code) -> Iterator[tuple[File, ast.Call, Algorithm]]:
    for file in code.files():
        for call in file.calls():
            name = qualified(file, call.func)
            algorithm = ALGORITHMS.get(name.rpartition(".")[2])
            if algorithm is not None and name.startswith(f"{algorithm.package}."):
                yield file, call, algorithm


def _learning(code: Code) -> Iterator[tuple[File, ast.Call]]:
    for file in code.files():
        for call in file.calls("learn"):
            if isinstance(call.func, ast.Attribute):
                yield file, call


def _is_receiver(file: File, learn: ast.Call, constructor: ast.Call) -> bool:
    """`PPO(…).learn(…)`, or `model = PPO(…)` and `model.learn(…)`."""
    assert isinstance(learn.func, ast.Attribute)
    receiver = learn.func.value
    if receiver is constructor:
        return True
    if isinstance(receiver, ast.Name):
        binding = binding_of(file, receiver)
        return binding is not None and binding.value is constructor
    if isinstance(receiver, ast.Attribute):  # self.model = PPO(…)
        statement = file.statement(constructor)
        return isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Attribute) and target.attr == receiver.attr for target in statement.targets
        )
    return False


def dictionary(file: File, value: ast.expr) -> dict[str, ast.expr] | None:
    """The entries of `{"gamma": 0.9}` or `dict(gamma=0.9)`, also by the name of one; None where they cannot all be told."""
    if isinstance(value, ast.Name):
        binding = binding_of(file, value)
        return None if binding is None or binding.path else dictionary(file, binding.value)
    if isinstance(value, ast.Dict):
        entries: dict[str, ast.expr] = {}
        for key, item in zip(value.keys, value.values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                return None
            entries[key.value] = item
        return entries
    if isinstance(value, ast.Call) and last_name(value.func) == "dict" and not value.args:
        if any(keyword.arg is None for keyword in value.keywords):
            return None
        return {str(keyword.arg): keyword.value for keyword in value.keywords}
    return None
