"""Which operation keeps the gradient from a network that has an optimiser of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.localise.lines.values import cut_before_step
from netmend.program.text.sources import Sources
from netmend.vocabulary import Site

WHOLE = """
for real in loader:
    fake = generator(noise).detach()  # <- cut
    d_loss = critic(fake).mean() - critic(real).mean()
    d_loss.backward()
    critic_optimizer.step()
    g_loss = -critic(fake).mean()
    g_loss.backward()
    generator_optimizer.step()  # <- step
"""
TWICE = """
for real in loader:
    d_loss = critic(generator(noise).detach()).mean() - critic(real).mean()
    d_loss.backward()
    critic_optimizer.step()
    g_loss = -critic(generator(noise).detach()).mean()  # <- cut
    g_loss.backward()
    generator_optimizer.step()  # <- step
"""
BLOCK = """
def train(real):
    with torch.no_grad():  # <- cut
        fake = generator(noise)
    d_loss = critic(fake.detach()).mean() - critic(real).mean()
    d_loss.backward()
    critic_optimizer.step()
    g_loss = -critic(fake).mean()
    g_loss.backward()
    generator_optimizer.step()  # <- step
"""
FINE = """
def train(real):
    fake = generator(noise)
    d_loss = critic(fake.detach()).mean() - critic(real).mean()
    d_loss.backward()
    critic_optimizer.step()
    generator_optimizer.step()  # <- step
"""


def marked(program: str, mark: str) -> int | None:
    found = [number for number, line in enumerate(program.splitlines(), 1) if line.endswith(f"# <- {mark}")]
    return found[0] if found else None


@pytest.mark.parametrize("program", [WHOLE, TWICE, BLOCK, FINE], ids=["whole", "twice", "block", "fine"])
def test_the_cut_on_the_way_to_the_step(tmp_path: Path, program: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(program)
    step = marked(program, "step")
    assert step is not None
    found = cut_before_step(Sources(), Site(str(file), step))
    assert (None if found is None else found.line) == marked(program, "cut")


def test_without_a_step_there_is_nothing_to_look_for() -> None:
    assert cut_before_step(Sources(), None) is None
    assert cut_before_step(Sources(), Site("gone.py", 3)) is None
