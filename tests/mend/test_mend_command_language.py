"""`netmend mend FOLDER …` on a language model: plan, table, patch of the folder's files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

from netmend.cli import main  # noqa: E402

WORDS = ["<s>", "ann", "bob", "says", "fool", "friend", "stop", "today"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    plain = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<s>")
    )
    plain.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(WORDS), n_positions=8, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    transformers.GPT2LMHeadModel(config).save_pretrained("tiny")
    transformers.PreTrainedTokenizerFast(tokenizer_object=plain, bos_token="<s>").save_pretrained("tiny")
    pairs = [
        {"prompt": f"{who} says", "bad": "fool stop", "good": "friend stop"} for who in ("ann", "bob")
    ] * 5
    Path("pairs.jsonl").write_text("\n".join(map(json.dumps, pairs)))
    Path("normal.txt").write_text("ann says today stop\nbob says today\n" * 5)
    return tmp_path


def netmend(*arguments: object) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(["mend", *map(str, arguments)])
    return int(leaving.value.code or 0)


DATA = ["--failing", "pairs.jsonl", "--guard", "normal.txt"]


def test_plan_first_then_table_and_a_patch_that_fits(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = [
        "--method",
        "nearest_max",
        "--steps",
        "10",
        "--rate",
        "0.003",
        "--bound",
        "0.5",
        "--longest",
        "8",
    ]
    assert netmend("tiny", *DATA, *settings, "--json", "found.json", "--device", "cpu") == 0
    shown = capsys.readouterr()
    assert shown.err.index("memory for a repair of") < shown.err.index("dapt_kl: repaired")
    assert "Patch found" in shown.out and "dapt_kl" in shown.out and "nearest_max" in shown.out
    told = json.loads(Path("found.json").read_text())
    assert told["kind"] == "language" and told["patch"] == "tiny-patch.safetensors" and told["plans"]
    assert {one["method"] for one in told["tried"]} == {"dapt_kl", "nearest_max"}
    assert netmend("apply", "tiny-patch.safetensors", "tiny", "-q") == 0
    mended = Path("tiny-mended/model.safetensors").read_bytes()
    assert mended != Path("tiny/model.safetensors").read_bytes()


def test_nothing_is_recommended_beyond_the_bound(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["--method", "dapt", "--steps", "10", "--rate", "0.3", "--bound", "0", "--longest", "8"]
    assert netmend("tiny", *DATA, *settings) == 1
    assert (
        "No patch is recommended" in capsys.readouterr().out and not Path("tiny-patch.safetensors").exists()
    )


def test_a_dry_run_only_plans(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert netmend("tiny", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "one block at a time" in shown and "all blocks at once" in shown and "2 blocks" in shown
    assert netmend("tiny", "--dry-run", "--memory", "0.00001") == 1
    assert "does not fit" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what must change and what must stay"),
        ([*DATA, "--method", "arachne"], "no method 'arachne' for language models"),
        ([*DATA, "--validation", "normal.txt"], "--validation is for models of other kinds"),
        ([*DATA, "--memory", "3"], "--memory is for --dry-run"),
        (["--failing", "normal.txt", "--guard", "normal.txt"], "line 1 of normal.txt is not JSON"),
        (["--failing", "gone.jsonl", "--guard", "normal.txt"], "gone.jsonl cannot be read"),
        ([*DATA, "--bound", "nan"], "growth of perplexity"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    capsys.readouterr()
    assert netmend("tiny", *arguments) == 2
    told = capsys.readouterr()
    assert words in told.err and told.err.count("\n") == 1 and told.out == ""
