"""Models of sequences: does what they say depend on what they have to predict, and are the targets what comes next?"""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import Recorded, record

from netmend.localise import diagnose

PROGRAM = """
T, C, V = 24, 16, 30
text = torch.randint(1, V, (2000,))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(V, C)
        {layers}
        self.out = nn.Linear({width}, V)
    def forward(self, ids{more}):
        h = self.e(ids)
        {forward}
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
def batch():
    at = torch.randint(len(text) - T - 2, (9,))
    x = torch.stack([text[i : i + T] for i in at])
    y = torch.stack([text[i + {shift} : i + {shift} + T] for i in at])  # <- targets
    return x, y
for step in range(3):
    x, y = batch()
    {inputs}
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""
LOSS = "F.cross_entropy(net(x).reshape(-1, V), y.reshape(-1))"
ENCODER = "self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(C, 2, 32, batch_first=True), 1)"
MASK = "mask=nn.Transformer.generate_square_subsequent_mask(ids.shape[1])"
CAUSAL = f"return self.out(self.enc(h, {MASK}))"
BY_HAND = """scores = h @ h.transpose(1, 2)
        {mask}
        weights = scores.softmax(-1)  # <- here
        return self.out(weights @ h)"""
DECODER = "self.tr = nn.Transformer(C, 2, 1, 1, 32, batch_first=True)"


def done(folder: Path, forward: str, layers: str = "pass", **how: str) -> Recorded:
    given = {"more": "", "width": "C", "shift": "1", "inputs": "pass", "loss": LOSS, **how}
    return record(folder, PROGRAM.format(forward=forward, layers=layers, **given))


LEAKS = {
    "encoder": {"forward": "return self.out(self.enc(h))  # <- here", "layers": ENCODER, "change": "Pass `mask="},
    "by hand": {"forward": BY_HAND.format(mask="pass"), "change": "masked_fill("},
    "mask too weak": {"forward": BY_HAND.format(mask="scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, 1e-9)  # <- filled"), "change": "-inf", "mark": "filled"},
    "function": {"forward": "return self.out(F.scaled_dot_product_attention(h, h, h))  # <- here", "change": "is_causal=True"},
    "both directions": {"forward": "return self.out(self.rnn(h)[0])", "layers": "self.rnn = nn.GRU(C, C, batch_first=True, bidirectional=True)  # <- here", "width": "2 * C", "change": "bidirectional"},
    "convolution": {"forward": "return self.out(self.c(h.mT).mT)", "layers": "self.c = nn.Conv1d(C, C, 3, padding=1)  # <- here", "change": "F.pad(x, (2, 0))"},
    "time first": {"forward": "return self.out(self.enc(h))  # <- here", "layers": ENCODER.replace(", batch_first=True", ""), "inputs": "x, y = x.t(), y.t()", "change": "Pass `mask="},
    "decoder": {"forward": "return self.out(self.tr(self.e(source), h))  # <- here", "layers": DECODER, "more": ", source", "loss": LOSS.replace("net(x)", "net(x, source=x.flip(1))"), "change": "tgt_mask="},
    "mean over time": {"forward": "h = h - h.mean(1, keepdim=True)  # <- here\n        return self.out(h)", "change": "earlier positions only"},
}  # fmt: skip


@pytest.mark.parametrize("name", LEAKS)
def test_a_model_that_sees_what_it_predicts(tmp_path: Path, name: str) -> None:
    given = dict(LEAKS[name])
    change, mark = given.pop("change"), given.pop("mark", "here")
    recorded = done(tmp_path, **given)
    fault = diagnose(recorded.trace).faults[0]
    assert fault.cause == "TOK-CAUSAL-MISSING"
    assert recorded.at(mark, fault.site)
    assert change in fault.remedy


SHIFTS = {
    "not shifted": ("TOK-SHIFT-MISSING", "0"),
    "the wrong way": ("TOK-SHIFT-WRONG", "-1"),
    "twice": ("TOK-SHIFT-EXTRA", "2"),
}


@pytest.mark.parametrize("name", SHIFTS)
def test_targets_that_are_not_next(tmp_path: Path, name: str) -> None:
    code, shift = SHIFTS[name]
    at = "at = torch.randint(1, len(text) - T - 2, (9,))"
    program = PROGRAM.replace("at = torch.randint(len(text) - T - 2, (9,))", at)
    given = {"more": "", "width": "C", "inputs": "pass", "loss": LOSS, "shift": shift}
    recorded = record(tmp_path, program.format(forward=CAUSAL, layers=ENCODER, **given))
    fault = diagnose(recorded.trace).faults[0]
    assert fault.cause == code
    assert recorded.at("targets", fault.site)


@pytest.mark.parametrize("laid", ["x.t(), y.t()", "x, y"])
def test_targets_that_are_the_input_fit_along_both_axes(tmp_path: Path, laid: str) -> None:
    layers = "self.rnn = nn.LSTM(C, C)" if "t()" in laid else "self.rnn = nn.LSTM(C, C, batch_first=True)"
    how = {"layers": layers, "inputs": f"x, y = {laid}", "shift": "0"}
    recorded = done(tmp_path, forward="return self.out(self.rnn(h)[0])", **how)
    fault = diagnose(recorded.trace).faults[0]
    assert fault.cause == "TOK-SHIFT-MISSING"


LOADED = """
T, V = 24, 30
text = torch.randint(1, V, (2000,))
class Windows(torch.utils.data.Dataset):
    def __len__(self):
        return 400
    def __getitem__(self, i):
        window = text[i : i + T + 1]
        x = window[:-1]
        y = window[:-1]  # <- targets
        return x, y
class Endless:
    def __init__(self, windows):
        self.held_out = next(iter(torch.utils.data.DataLoader(windows, batch_size=50)))
        self.batches = iter(torch.utils.data.DataLoader(windows, batch_size=9, shuffle=True))
    def next(self):
        batch = next(self.batches)
        return batch
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.rnn, self.out = nn.Embedding(V, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, V)
    def forward(self, ids, targets=None):
        scores = self.out(self.rnn(self.e(ids))[0])
        return scores, F.cross_entropy(scores.reshape(-1, V), targets.reshape(-1))
net, loader = Net(), Endless(Windows())
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    batch = loader.next()
    batch = [part.clone() for part in batch]
    X, Y = batch
    answers = Y
    expected = answers
    wanted = expected
    next_ones = wanted
    scores, loss = net(X, next_ones)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_targets_are_followed_into_the_data_set_behind_an_attribute(tmp_path: Path) -> None:
    recorded = record(tmp_path, LOADED)
    fault = diagnose(recorded.trace).faults[0]
    assert fault.cause == "TOK-SHIFT-MISSING"
    assert recorded.at("targets", fault.site)


def test_targets_that_are_the_input_at_the_end_of_short_sequences(tmp_path: Path) -> None:
    late = {"layers": ENCODER, "shift": "0", "inputs": "x, y = x[:, :6], y[:, :6]; y[:, :3] = -100"}
    given = {"more": "", "width": "C", "loss": LOSS, **late}
    recorded = record(tmp_path, PROGRAM.replace("(9,)", "(40,)").format(forward=CAUSAL, **given))
    assert diagnose(recorded.trace).faults[0].cause == "TOK-SHIFT-MISSING"


HEALTHY = {
    "scored from the second position on": {"forward": CAUSAL, "layers": ENCODER, "loss": "F.cross_entropy(net(x)[:, 1:].reshape(-1, V), y[:, 1:].reshape(-1))"},
    "causal": {"forward": CAUSAL, "layers": ENCODER},
    "forwards": {"forward": "return self.out(self.rnn(h)[0])", "layers": "self.rnn = nn.LSTM(C, C, batch_first=True)"},
    "time first": {"forward": "return self.out(self.rnn(h)[0])", "layers": "self.rnn = nn.LSTM(C, C)", "inputs": "x, y = x.t(), y.t()"},
    "decoder": {"forward": f"return self.out(self.tr(self.e(source), h, tgt_{MASK}))", "layers": DECODER, "more": ", source", "loss": LOSS.replace("net(x)", "net(x, x.flip(1))")},
    "masked words": {"forward": "return self.out(self.enc(h))", "layers": ENCODER, "inputs": "y = x.masked_fill(torch.rand(x.shape) > 0.2, -100); x = x.masked_fill(y >= 0, 0)"},
    "denoising": {"forward": "return self.out(self.enc(h))", "layers": ENCODER, "inputs": "y = x; x = x.masked_fill(torch.rand(x.shape) < 0.2, 0)"},
    "tagger": {"forward": "return self.out(self.enc(h))", "layers": ENCODER, "inputs": "y = x % 7"},
    "autoencoder": {"forward": "return self.out(self.rnn(h)[1][0][:, None].expand(-1, T, -1))", "layers": "self.rnn = nn.GRU(C, C, batch_first=True)", "inputs": "y = x"},
    "autoencoder of columns": {"forward": "return self.out(self.rnn(h)[1][0][None].expand(T, -1, -1))", "layers": "self.rnn = nn.GRU(C, C)", "inputs": "x = x.t(); y = x"},
    "each token on its own": {"forward": "return self.out(torch.tanh(h))", "inputs": "y = x"},
    "shifted by the model": {"forward": f"return self.out(self.enc(F.pad(h, (0, 0, 1, 0))[:, :-1], {MASK}))", "layers": ENCODER, "inputs": "y = x"},
    "prefix": {"forward": "m = torch.ones(T, T, dtype=torch.bool).triu(1)[: h.shape[1], : h.shape[1]]; m[:8, :8] = False\n        return self.out(self.enc(h, mask=m))", "layers": ENCODER, "inputs": "y[:, :7] = -100"},
}  # fmt: skip


@pytest.mark.parametrize("name", HEALTHY)
def test_models_that_are_right(tmp_path: Path, name: str) -> None:
    recorded = done(tmp_path, **HEALTHY[name])
    assert not [fault for fault in diagnose(recorded.trace).faults if fault.cause.startswith("TOK-")]
    if name in ("causal", "forwards", "time first", "decoder", "prefix"):
        (probe,) = recorded.trace.probes("looking ahead")
        assert probe.values["offset"] == 1 and probe.values["ahead"] == 0 < probe.values["behind"]


MASKED = {
    "in a method": """def hide(ids):
    n = ids.shape[1]
    return torch.triu(torch.ones(n, n), diagonal=n) > 0  # <- mask""",
    "with the padding": """def hide(ids):
    n = ids.shape[1]
    later = torch.ones(n, n, dtype=torch.long).triu(n)  # <- mask
    return torch.where((ids == 0)[:, None, :], 1, later[None]) > 0""",
}


@pytest.mark.parametrize("mask", list(MASKED.values()), ids=list(MASKED))
def test_a_mask_that_hides_nothing_is_told_where_it_is_made(tmp_path: Path, mask: str) -> None:
    program = PROGRAM.replace("class Net", f"{mask}\nclass Net", 1)
    forward = BY_HAND.format(mask="scores = scores.masked_fill(hide(ids), float('-inf'))")
    given = {"more": "", "width": "C", "shift": "1", "inputs": "pass", "loss": LOSS}
    found = record(tmp_path, program.format(forward=forward, layers="pass", **given))
    (fault,) = [fault for fault in diagnose(found.trace).faults if fault.cause == "TOK-CAUSAL-MISSING"]
    assert found.at("mask", fault.site)
    assert "triu(1)" in fault.remedy


LEFT_OUT = {
    "the last": "F.cross_entropy(net(x)[:, :-1].reshape(-1, V), x[:, 1:].reshape(-1))",
    "the last, classes first": "F.cross_entropy(net(x)[:, :-1].transpose(1, 2), x[:, 1:])",
    "the last, with dropout": "F.cross_entropy(F.dropout(net(x), 0.0)[:, :-1].flatten(0, 1), x[:, 1:].flatten())",
}


@pytest.mark.parametrize("loss", list(LEFT_OUT.values()), ids=list(LEFT_OUT))
@pytest.mark.parametrize("causal", [False, True])
def test_a_loss_that_leaves_the_last_position_out(tmp_path: Path, loss: str, causal: bool) -> None:
    forward = CAUSAL if causal else "return self.out(self.enc(h))  # <- here"
    recorded = done(tmp_path, forward, ENCODER, loss=loss)
    (probe,) = recorded.trace.probes("looking ahead")
    assert probe.values["offset"] == 1
    faults = [fault for fault in diagnose(recorded.trace).faults if fault.cause.startswith("TOK")]
    assert [fault.cause for fault in faults] == ([] if causal else ["TOK-CAUSAL-MISSING"])
    assert causal or recorded.at("here", faults[0].site)


def test_scores_moved_instead_of_targets(tmp_path: Path) -> None:
    loss = "F.cross_entropy(net(x)[:, 1:].reshape(-1, V), x[:, 1:].reshape(-1))"
    (fault,) = [
        fault
        for fault in diagnose(done(tmp_path, CAUSAL, ENCODER, loss=loss).trace).faults
        if fault.cause.startswith("TOK")
    ]
    assert fault.cause == "TOK-SHIFT-MISSING"


def test_a_model_of_the_whole_text_that_leaves_its_first_answer_out(tmp_path: Path) -> None:
    loss = "F.cross_entropy(net(x)[:, 1:].reshape(-1, V), x[:, 1:].reshape(-1))"
    recorded = done(tmp_path, "return self.out(self.enc(h))", ENCODER, loss=loss)
    assert not [fault for fault in diagnose(recorded.trace).faults if fault.cause.startswith("TOK")]
