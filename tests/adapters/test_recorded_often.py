"""Forward passes by the thousand within one step: most are left alone, the update is seen all the same."""

from __future__ import annotations

from recording import record

from netmend.observe.recorder import Recorder

ACTING = """\
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
hooks = []
for step in range(4):
    for _ in range(200):
        model(torch.ones(4))
    hooks.append(len(nn.modules.module._global_forward_hooks))
    optimizer.zero_grad()
    loss = F.cross_entropy(model(torch.ones(16, 4)), torch.zeros(16, dtype=torch.long))
    loss.backward()
    optimizer.step()
"""


def _forwards(recorded) -> list[int]:
    return [
        sum(call.times for call in pattern.calls if call.what == "forward")
        for pattern in recorded.trace.patterns
        if any(call.what == "step" for call in pattern.calls)
    ]


def test_what_comes_too_often_is_left_alone_and_the_update_is_seen(monkeypatch, tmp_path):
    monkeypatch.setattr(Recorder, "affordable", lambda self: False)
    recorded = record(tmp_path, ACTING)
    assert recorded.variables["hooks"] == [0, 0, 0, 0]  # taken off while the agent acts
    assert all(count <= 40 for count in _forwards(recorded))
    for pattern in recorded.trace.patterns:
        called = [call.what for call in pattern.calls]
        if "step" in called:
            assert called[-5:] == ["zero_grad", "forward", "loss", "backward", "step"]
    assert recorded.trace.table("update", "model.0.weight") is not None
    assert recorded.trace.table("activation", "model.0") is not None


def test_as_long_as_it_can_be_afforded_all_are_looked_at(monkeypatch, tmp_path):
    monkeypatch.setattr(Recorder, "affordable", lambda self: True)
    assert max(_forwards(record(tmp_path, ACTING))) > 200
