"""What is read from the source of a hand-written agent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netmend.diagnose.examples.agents import a_world, acted
from netmend.localise import diagnose
from netmend.localise.lines.acting_source import kept, standstill, step_call
from netmend.localise.lines.agent_lines import copied_again, learning_guard, lowered_likelihood
from netmend.localise.lines.bootstrap_source import bootstraps
from netmend.program.text.sources import Sources
from netmend.vocabulary import ModelFact, OptimizerFact, RunFact, Site, Trace

HEAD = "s, _ = env.reset()\nfor t in range(9):\n    s2, r, term, trunc, _ = env.step(act(s))\n"


def _read(tmp_path, body, head=HEAD):
    (tmp_path / "agent.py").write_text(head + body, encoding="utf-8")
    sources = Sources(str(tmp_path), "agent.py")
    step = step_call(sources, a_world(stepped=Site("agent.py", 3)))
    assert step is not None
    trace = Trace(facts={"model": {name: ModelFact(name, "Linear") for name in ("q", "self.target")}})
    return sources, step, trace


@pytest.mark.parametrize(
    ("target", "masked"),
    [
        ("y = r + gamma * q(s2).max()", False),
        ("y = r + 0.9 * self.target(s2).max(1)[0]", False),
        ("best = q(s2).max()\n    y = r + gamma * best", False),
        ("y = r + gamma * q(s2).max() * (1 - d)", True),
        ("y = r + gamma * (1 - d) * q(s2).max()", True),
        ("y = r + gamma * q(s2).max() * alive", True),
        ("y = r + gamma * torch.where(d, 0, q(s2).max())", True),
        ("v = 0 if term else q(s2)\n    y = r + gamma * v", True),
        ("y = r if term else r + gamma * q(s2).max()", True),
        ("v = q(s2).max()\n    v[d] = 0\n    y = r + gamma * v", True),
        ("if term:\n        y = r\n    else:\n        y = r + gamma * q(s2).max()", True),
    ],
)
def test_targets_with_and_without_a_mask(tmp_path, target, masked):
    sources, step, trace = _read(tmp_path, f"    {target}\n")
    assert [found.masked for found in bootstraps(sources, trace, step)] == [masked]


@pytest.mark.parametrize(
    ("learn", "states"),
    [
        ("best = self.target(s).max(1)[0]\n    goal = r + 0.9 * best * (1 - d)", "s"),
        ("goal = r + 0.9 * self.target(s).max(1)[0] * (1 - d)", "s"),
        ("goal = r + 0.9 * self.target(s2).max(1)[0] * (1 - d)", ""),
        ("goal = r + 0.9 * self.target(s2).gather(1, q(s2).argmax(1)) * (1 - d)", ""),
        ("s = s2\n    goal = r + 0.9 * self.target(s).max(1)[0] * (1 - d)", ""),
        ("goal = policy + 0.5 * q(s).pow(2)", ""),
    ],
)
def test_targets_about_the_states_of_the_prediction(tmp_path, learn, states):
    body = f"def learn(batch):\n    s, a, r, s2, d = batch\n    chosen = q(s).gather(1, a)\n    {learn}\n"
    sources, step, trace = _read(tmp_path, body, head=HEAD + "    learn(draw())\n")
    assert [found.states for found in bootstraps(sources, trace, step)] == [states]


@pytest.mark.parametrize(
    ("loss", "line"),
    [
        ("return (logp * weights).mean()", 3),
        ("return -(logp * weights).mean()", 0),
        ("gain = (logp * weights).mean()\n    return -gain", 0),
        ("weights = -weights\n    return (logp * weights).mean()", 0),
        ("return (alpha * logp - q).mean()", 0),
        ("return (logp * costs).mean()", 0),
        ("return (q - logp * weights).mean()", 0),
    ],
)
def test_likelihoods_that_are_made_small(tmp_path, loss, line):
    text = f"def compute(obs, act, weights):\n    logp = policy(obs).log_prob(act)\n    {loss}\n"
    (tmp_path / "agent.py").write_text(text, encoding="utf-8")
    site = lowered_likelihood(Sources(str(tmp_path), "agent.py"), "agent.py")
    assert (site.line if site is not None else 0) == line


def test_a_loss_that_is_turned_where_it_is_used(tmp_path):
    text = "def gain(obs, act, R):\n    return (policy(obs).log_prob(act) * R).mean()\n(-gain(a, b, c)).backward()\n"
    (tmp_path / "agent.py").write_text(text, encoding="utf-8")
    assert lowered_likelihood(Sources(str(tmp_path), "agent.py"), "agent.py") is None


def test_sums_of_rewards_are_no_such_targets(tmp_path):
    sources, step, trace = _read(tmp_path, "    total = r + gamma * total\n    loss = a + 0.5 * b\n")
    assert bootstraps(sources, trace, step) == []


@pytest.mark.parametrize(
    ("body", "joined", "alone"),
    [
        ("    d = term or trunc\n    buf.append((s, r, d))\n", True, False),
        ("    d = term or trunc\n    buf.append((s, r, term))\n    if d:\n        break\n", False, True),
        ("    d = np.logical_or(term, trunc)\n    while not d:\n        pass\n", False, False),
    ],
)
def test_which_flag_is_kept(tmp_path, body, joined, alone):
    _, step, _ = _read(tmp_path, body)
    assert set(step.combined) == {"d"}
    assert (kept(step, {"d"}), kept(step, {"term"})) == (joined, alone)


def test_a_buffer_that_is_smaller_than_what_is_waited_for(tmp_path):
    text = "from collections import deque\nSIZE = 50\nWARM = 500\nbuf = deque(maxlen=SIZE)\n"
    text += "def learn():\n    if len(buf) < WARM:\n        return\n    loss.backward()\n"
    (tmp_path / "agent.py").write_text(text, encoding="utf-8")
    guard = learning_guard(Sources(str(tmp_path), "agent.py"), "agent.py")
    assert guard is not None
    assert (guard.number.line, guard.value, guard.buffer_size) == (3, 500, 50)
    assert guard.buffer is not None and guard.buffer.line == 2


def test_the_causes_need_an_environment():
    """The same facts of a supervised program accuse nothing of reinforcement learning."""
    run = RunFact("example", "train.py", steps=400)
    optimizer = OptimizerFact("optimizer", "Adam", (), Site("train.py", 8), Site("train.py", 50))
    trace = Trace(facts={"run": {"example": run}, "optimizer": {"optimizer": optimizer}})
    told = [*diagnose(trace).faults, *diagnose(trace).suspects]
    assert not [fault.cause for fault in told if fault.cause.startswith("RL-")]
    assert diagnose(acted()).faults == ()


def test_terms_of_an_objective_are_no_such_target(tmp_path):
    body = "    value = (returns - q(s)).pow(2).sum()\n    loss = actor + 0.5 * value\n    loss.backward()\n"
    sources, step, trace = _read(tmp_path, body)
    assert bootstraps(sources, trace, step) == []


OLD = "s = env.reset()\nwhile True:\n    a = act(s)\n    s2, r, done, _ = env.step(a)\n{}"


def _old(tmp_path, body, line=4, **more):
    for name, text in {"agent.py": OLD.format(body), **more}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Sources(str(tmp_path), "agent.py"), a_world(stepped=Site("agent.py", line))


def test_a_step_of_four_values(tmp_path):
    step = step_call(*_old(tmp_path, "    d = done\n"))
    assert step is not None
    assert (step.observation, step.reward, step.terminated, step.truncated) == ("s2", "r", "done", "")
    assert step.flags == {"done"}


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ("", 4),
        ("\ndef evaluate(env):\n    s, r, d, _ = env.step(best(s))\n", 4),
        ("\ndef gather(env):\n    s, r, d, _ = env.step(best(s))\n", 0),
    ],
)
def test_a_step_through_a_class_around_the_environment(tmp_path, more, line):
    around = "class Old:\n    def step(self, action):\n        o, r, term, trunc, i = self.inner.step(action)\n        return o, r, term or trunc, i\n"
    sources, _ = _old(tmp_path, more, **{"around.py": around})
    text = (tmp_path / "agent.py").read_text(encoding="utf-8")
    (tmp_path / "agent.py").write_text(text + "import around\n", encoding="utf-8")
    step = step_call(sources, a_world(stepped=Site(str(tmp_path / "around.py"), 3)))
    assert (0 if step is None else step.site.line) == line


@pytest.mark.parametrize(
    ("body", "kept", "moved"),
    [
        ("    buf.push(s, a, r, s, done)\n    s = s2\n", 5, 0),
        ("    buf.append((tensor([s]), a, r / 100, tensor([s]), 1 - done))\n    s = s2\n", 5, 0),
        ("    s = s2\n    buf.push(Step(s, a, r, s2, done))\n", 6, 5),
        ("    s = torch.tensor(s2)\n    buf.append([s, a, r, s2.copy(), done])\n", 6, 5),
        ("    buf.push(s, a, r, s2, done)\n    s = s2\n", 0, 0),
        ("    buf.push(last, a, r, s, s)\n    last = s\n    s = s2\n    r = 0\n", 5, 0),
        ("    old = s\n    s = s2\n    buf.push(old, a, r, s2, done)\n", 0, 0),
        ("    buf.push(s, a, r)\n    s = s2\n", 0, 0),
        ("    log.append((s, s))\n    s = s2\n", 0, 0),
        ("    s = s2\nwhile True:\n    a = act(s)\n    buf.push(s, a, r, s2, done)\n", 0, 0),
        ("    if done:\n        s = s2\n    buf.push(s, a, r, s2, done)\n", 0, 0),
    ],
)
def test_steps_that_are_kept_with_one_state_only(tmp_path, body, kept, moved):
    found = standstill(step_call(*_old(tmp_path, body)))
    assert (found.site.line if found is not None else 0) == kept
    assert (found.advanced.line if found is not None and found.advanced is not None else 0) == moved


def _told(tmp_path, text, line, *facts):
    (tmp_path / "agent.py").write_text(text, encoding="utf-8")
    trace = acted(a_world(stepped=Site(str(tmp_path / "agent.py"), line)), *facts, returns=[10.0, 11.0] * 30)
    run = replace(trace.run, working_directory=str(tmp_path), script=str(tmp_path / "agent.py"))
    trace = Trace(facts={**trace.facts, "run": {run.name: run}}, tables=trace.tables)
    return [(fault.cause, fault.site.line) for fault in diagnose(trace).faults if fault.site is not None]


@pytest.mark.parametrize(
    ("renewed", "told"),
    [
        ("s = torch.tensor([s])", [("RL-STEP-MISSING", 5)]),
        ("s = torch.tensor([s2])", []),
        ("s = s + s2 - s", []),
    ],
)
def test_a_state_that_only_changes_its_form_stands_still(tmp_path, renewed, told):
    text = f"s = env.reset()\nwhile True:\n    {renewed}\n    a = draw(s)\n    s2, r, done, _ = env.step(a)\n"
    assert _told(tmp_path, text, 5) == told


ACT = (
    "def act(s):\n    {}\ns = env.reset()\nwhile True:\n    s2, r, done, _ = env.step(act(s))\n    s = s2\n{}"
)


@pytest.mark.parametrize(
    ("act", "more", "told"),
    [
        ("return q(s).argmax()", "", [("RL-EXP-MISSING", 2)]),
        ("return q(s).argmax() if True else random.randrange(2)", "", [("RL-EXP-MISSING", 2)]),
        ("return q(s).argmax() if random.random() > eps else random.randrange(2)", "", []),
        (
            "return q(s).argmax()",
            "class Noisy(nn.Module):\n    def forward(self, x):\n        return x @ (self.w + self.s * torch.randn(4, 2))\n",
            [],
        ),
    ],
)
def test_an_agent_that_never_tries(tmp_path, act, more, told):
    assert _told(tmp_path, ACT.format(act, more), 5) == told


COPY = "def sync(a, b):\n    a.load_state_dict(b.state_dict())\n"


@pytest.mark.parametrize(
    ("body", "again"),
    [
        (COPY + "sync(target, q)\nfor t in range(9):\n    learn()\n", False),
        (COPY + "for t in range(9):\n    if t % 1000 == 0:\n        sync(target, q)\n", True),
        (COPY + "def learn():\n    sync(target, q)\nfor t in range(9):\n    learn()\n", True),
        (COPY + "hooks.append(sync)\n", True),
        (COPY + "sync(target, q)\ndef follow(t, q):\n    for a, b in zip(t.parameters(), q.parameters()):\n        a.data.copy_(b.data)\n", False),
        ("for a, b in zip(t.parameters(), q.parameters()):\n    a.data.copy_(b.data)\n", False),
        ("class Agent:\n    def on_step(self):\n        self.target.load_state_dict(self.q.state_dict())\n", True),
    ],
)  # fmt: skip
def test_whether_weights_are_copied_again(tmp_path, body, again):
    (tmp_path / "agent.py").write_text(body, encoding="utf-8")
    assert copied_again(Sources(str(tmp_path), "agent.py"), "agent.py") is again
