"""The commands that judge: run, diagnose, explain, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from command_server import Ended, netmend

from netmend import diagnose

FAULTY = """\
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(200):
    i = torch.randint(0, 256, (32,))
    loss = nn.functional.cross_entropy(model(x[i]), y[i])
    loss.backward()
    optimizer.step()
print("done")
"""
HEALTHY = FAULTY.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()").replace(
    "range(200)", "range(400)"
)
SITE = {
    "type": ["object", "null"],
    "required": ["file", "line", "column", "end_line", "end_column"],
    "properties": {"file": {"type": "string"}, "line": {"type": "integer", "minimum": 1}},
}
FAULT = {
    "type": "object",
    "required": [
        "rank", "code", "aliases", "confidence", "component", "site", "summary", "evidence", "symptoms", "remedy",
    ],
    "properties": {
        "rank": {"type": "integer", "minimum": 1},
        "code": {"type": "string", "pattern": "^[A-Z]+(-[A-Z]+)+$"},
        "aliases": {"type": "array", "items": {"type": "string"}},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "component": {"type": "string"},
        "site": SITE,
        "related": {"type": "array", "items": SITE},
        "summary": {"type": "string", "minLength": 10},
        "remedy": {"type": "string", "minLength": 10},
        "symptoms": {"type": "array", "items": {"type": "string", "pattern": "^D[0-9]{3}$"}},
        "evidence": {"type": "array", "items": {"type": "object", "required": ["message", "weight"]}},
    },
}  # fmt: skip
CONTRACT = {
    "type": "object",
    "required": ["schema", "verdict", "faults", "advice", "run"],
    "properties": {
        "schema": {"const": 1},
        "verdict": {"enum": ["healthy", "faulty", "undecided", "crashed"]},
        "faults": {"type": "array", "items": FAULT},
        "suspects": {"type": "array", "items": FAULT},
        "advice": {"type": "array"},
        "run": {
            "type": "object",
            "required": ["steps", "overhead", "metric"],
            "properties": {"steps": {"type": "integer"}, "overhead": {"type": ["number", "null"]}},
        },
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("project")
    (made / "train.py").write_text(FAULTY, encoding="utf-8")
    (made / "good.py").write_text(HEALTHY, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def faulty(folder: Path) -> Ended:
    return netmend(folder, "run", "--json", "faulty.json", "--html", "faulty.html", "train.py")


def test_run_tells_the_fault_and_keeps_the_programs_own_exit_code(
    faulty: Ended,
) -> None:
    assert faulty.returncode == 0
    assert faulty.stdout == "done\n"
    assert "1 fault found" in faulty.stderr
    assert "LOOP-ZERO-GRAD" in faulty.stderr and "train.py:12" in faulty.stderr
    assert "▸ 12 │     loss.backward()" in faulty.stderr
    assert "optimizer.zero_grad()" in faulty.stderr
    assert max(map(len, faulty.stderr.splitlines())) <= 100


def test_the_json_keeps_its_contract(folder: Path, faulty: Ended) -> None:
    data = json.loads((folder / "faulty.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, CONTRACT)
    assert data["verdict"] == "faulty"
    first = data["faults"][0]
    assert (first["rank"], first["code"], first["aliases"]) == (1, "LOOP-ZERO-GRAD", ["ZGR"])
    assert (first["site"]["file"], first["site"]["line"]) == ("train.py", 12)
    assert data["run"]["steps"] == 200


def test_the_page_shows_the_fault(folder: Path, faulty: Ended) -> None:
    page = (folder / "faulty.html").read_text(encoding="utf-8")
    assert "1 fault found" in page and "<mark>loss.backward()</mark>" in page
    assert (
        "http://" not in page.replace("http://www.w3.org", "")
        and "https://" not in page
        and "<script" not in page
    )


def test_diagnose_again_in_every_format(folder: Path, faulty: Ended) -> None:
    text = netmend(folder, "diagnose", "last")
    assert text.returncode == 1 and "LOOP-ZERO-GRAD" in text.stdout
    data = netmend(folder, "diagnose", "last", "--format", "json")
    jsonschema.validate(json.loads(data.stdout), CONTRACT)
    sarif = json.loads(netmend(folder, "diagnose", "--format", "sarif").stdout)
    (result,) = sarif["runs"][0]["results"]
    assert sarif["version"] == "2.1.0" and result["ruleId"] == "LOOP-ZERO-GRAD"
    where = result["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]["startLine"]) == ("train.py", 12)
    github = netmend(folder, "diagnose", "--format", "github").stdout
    assert github.startswith("::error file=train.py,line=12,title=netmend LOOP-ZERO-GRAD")


def test_a_healthy_program_is_left_in_peace(folder: Path) -> None:
    ended = netmend(folder, "run", "--json", "good.json", "--exit-on-fault", "good.py")
    assert ended.returncode == 0
    data = json.loads((folder / "good.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, CONTRACT)
    assert (data["verdict"], data["faults"]) == ("healthy", [])
    assert "No fault found" in ended.stderr


VIEW = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv1d(3, 8, 3), nn.Linear(8, 2)

    def forward(self, x):
        return self.head(torch.relu(self.conv(x.view(len(x), 3, 20))).mean(dim=2))


torch.manual_seed(0)
x, y = torch.randn(256, 20, 3), torch.randint(0, 2, (256,))
x[torch.arange(256), :, y] += torch.sin(torch.arange(20.0))
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(80):
    i = torch.randint(0, 256, (32,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x[i]), y[i]).backward()
    optimizer.step()
"""


def test_experiments_on_the_first_batch_are_made_while_a_user_watches(folder: Path) -> None:
    """The process that tells faults while a long run goes on waits in a thread; that is no reason to leave them out."""
    (folder / "view.py").write_text(VIEW, encoding="utf-8")
    ended = netmend(folder, "run", "--json", "view.json", "view.py")
    assert ended.returncode == 0
    (fault, *_) = json.loads((folder / "view.json").read_text(encoding="utf-8"))["faults"]
    assert (fault["code"], fault["site"]["line"]) == ("TSR-SHAPE", 11)


def test_exit_on_fault(folder: Path) -> None:
    assert netmend(folder, "run", "-q", "--exit-on-fault", "train.py").returncode == 1


def test_training_is_interrupted_when_asked(folder: Path) -> None:
    (folder / "long.py").write_text(FAULTY.replace("range(200)", "range(1_000_000)"), encoding="utf-8")
    command = ("run", "--stop-on", "fault", "--json", "long.json", "long.py")
    ended = netmend(folder, *command, NETMEND_LIVE_AFTER="1")
    assert ended.returncode != 0 and "done" not in ended.stdout
    assert "netmend  Gradients are not cleared at long.py:12 (LOOP-ZERO-GRAD" in ended.stderr
    data = json.loads((folder / "long.json").read_text(encoding="utf-8"))
    assert data["run"]["status"] == "stopped" and data["faults"][0]["code"] == "LOOP-ZERO-GRAD"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ("diagnose", "last", "--format", "xml"),
            "--format must be one of text, json, sarif, github, got 'xml'",
        ),
        (("diagnose", "no-such-run"), "no-such-run"),
        (("explain", "HYP-LR-HIHG"), "did you mean HYP-LR-HIGH?"),
        (("run", "--stop-on", "error", "train.py"), "--stop-on can only be fault, got 'error'"),
        (("run", "--json", "missing/x.json", "train.py"), "does not exist; create it first"),
        (("run", "--json", ".", "train.py"), "that is a directory"),
    ],
)
def test_bad_input_gets_a_clear_line(folder: Path, arguments: tuple[str, ...], complaint: str) -> None:
    ended = netmend(folder, *arguments)
    assert ended.returncode == 2
    assert complaint in ended.stderr and len(ended.stderr.splitlines()) <= 3


@pytest.mark.parametrize("code", ["HYP-LR-HIGH", "hlr", "D201", "LOOP-ZERO-GRAD"])
def test_explain(folder: Path, code: str) -> None:
    ended = netmend(folder, "explain", code)
    assert ended.returncode == 0 and len(ended.stdout) > 40


def test_explain_lists_every_code(folder: Path) -> None:
    ended = netmend(folder, "explain")
    assert "HYP-LR-HIGH" in ended.stdout and "D201" in ended.stdout


def test_the_demo_finds_its_three_faults(tmp_path: Path) -> None:
    ended = netmend(tmp_path, "demo", "--keep", "kept")
    assert ended.returncode == 0, ended.stderr
    for code in ("LOOP-ZERO-GRAD", "LYR-SOFTMAX-EXTRA", "TSR-SQUEEZE"):
        assert code in ended.stderr
    assert len(list((tmp_path / "kept" / ".netmend" / "runs").iterdir())) == 3


def test_a_report_shows_itself_in_code_and_notebooks(folder: Path, faulty: Ended) -> None:
    judged = diagnose("last", directory=folder / ".netmend")
    assert judged.verdict in ("faulty", "healthy")
    assert judged.html().startswith("<!doctype html>") and json.loads(judged.json())["schema"] == 1
    assert judged._repr_html_().startswith("<iframe ") and "&lt;!doctype html" in judged._repr_html_()
    assert str(judged).startswith("netmend")
