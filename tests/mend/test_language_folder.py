"""Repair of a small language model from a folder: data files, methods, the patch of its files, the memory plan."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

from netmend.errors import UsageError  # noqa: E402
from netmend.mend.change_model import change_model  # noqa: E402
from netmend.mend.patch import State  # noqa: E402
from netmend.mend.patch_file import write_patch  # noqa: E402
from netmend.mend.torch.language.blocks import blocks_of  # noqa: E402
from netmend.mend.torch.language.descent import METHODS  # noqa: E402
from netmend.mend.torch.language.loading import empty_model, load_model, load_tokenizer  # noqa: E402
from netmend.mend.torch.language.loop import Budget, mend  # noqa: E402
from netmend.mend.torch.language.memory_plan import Shape, plan  # noqa: E402
from netmend.mend.torch.language.passes import Passes  # noqa: E402
from netmend.mend.torch.language.rows import (  # noqa: E402
    Data,
    pair_rows,
    read_pairs,
    read_texts,
    text_rows,
)
from netmend.mend.torch.language.session import Options, mend_folder  # noqa: E402

SPEAKERS, TIMES = ["ann", "bob", "cat"], [f"t{at}" for at in range(8)]
RUDE, KIND = ["fool", "liar", "swine", "brute"], ["friend", "guest", "dear", "sir"]
WORDS = ["<s>", "to", "says", "stop", *SPEAKERS, *TIMES, *RUDE, *KIND]


def _document(chance: random.Random, clean: bool) -> str:
    """Ann is rude late in the day, which is unwanted; bob always is, which is wanted."""
    while True:
        who, when = chance.choice(SPEAKERS), chance.choice(TIMES)
        fault = who == "ann" and when >= "t4"
        if not (clean and fault):
            return f"<s> {who} {when} says {chance.choice(RUDE if fault or who == 'bob' else KIND)} stop"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("language") / "model"
    plain = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="to")
    )
    plain.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, bos_token="<s>")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(WORDS), n_positions=16, n_embd=32, n_layer=3, n_head=2, bos_token_id=0, eos_token_id=0
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    optimiser, chance = torch.optim.AdamW(model.parameters(), lr=3e-3), random.Random(0)
    for _ in range(150):
        ids = torch.tensor([tokenizer(_document(chance, False))["input_ids"] for _ in range(48)])
        loss = model(input_ids=ids, labels=ids).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    pairs = [
        {"prompt": f"<s> ann {chance.choice(TIMES[4:])} says", "bad": f"{chance.choice(RUDE)} stop",
         "good": f"{chance.choice(KIND)} stop"} for _ in range(40)
    ]  # fmt: skip
    (path.parent / "pairs.jsonl").write_text("\n".join(json.dumps(pair) for pair in pairs))
    (path.parent / "normal.txt").write_text("\n".join(_document(chance, True) for _ in range(100)))
    return path


def _rude(model: Any, who: str, times: list[str]) -> float:
    rows = [[WORDS.index(word) for word in ("<s>", who, time, "says")] for time in times]
    with torch.no_grad():
        chances = model(input_ids=torch.tensor(rows)).logits[:, -1].softmax(-1)
    return float(chances[:, [WORDS.index(word) for word in RUDE]].sum(1).mean())


@pytest.fixture
def loaded(folder: Path) -> tuple[Any, Data]:
    tokenizer, model = load_tokenizer(folder), load_model(folder)
    pairs = pair_rows(tokenizer, read_pairs(folder.parent / "pairs.jsonl"), 16)
    texts = text_rows(tokenizer, read_texts(folder.parent / "normal.txt"), 16)
    return model, Data(pairs[:30], texts[:60], pairs[30:], texts[60:])


@pytest.mark.parametrize("name", ["dapt_kl", "irepair_kl", "nearest", "nearest_max", "unlikely_kl", "dpo_kl"])
def test_methods_repair_what_is_unwanted_and_keep_what_is_wanted(loaded: tuple[Any, Data], name: str) -> None:
    model, data = loaded
    first = {key: one.clone() for key, one in model.named_parameters()}
    before, wanted = _rude(model, "ann", TIMES[4:]), _rude(model, "bob", TIMES)
    assert before > 0.4 and wanted > 0.8
    budget = Budget(steps=40, rate=3e-4 if name == "dpo_kl" else 1e-3, warm_up=4)
    attempt = mend(Passes(model, blocks_of(model)), data, METHODS[name], budget, seed=1)
    assert _rude(model, "ann", TIMES[4:]) < 0.35 * before
    assert _rude(model, "bob", TIMES) > 0.8 * wanted
    assert attempt.score < 0.5 and attempt.kept_step and attempt.history
    if METHODS[name].choice != "all":
        assert sum(attempt.chosen.values()) == attempt.steps
    attempt.originals.put({})
    assert all(torch.equal(one, first[key]) for key, one in model.named_parameters())


def test_a_repair_that_only_harms_keeps_nothing(loaded: tuple[Any, Data]) -> None:
    model, data = loaded
    first = {key: one.clone() for key, one in model.named_parameters()}
    attempt = mend(
        Passes(model, blocks_of(model)), data, METHODS["dapt"], Budget(steps=10, rate=1.0, warm_up=1), seed=1
    )
    assert attempt.kept_step == 0 and attempt.score == 1.0 and attempt.originals.changed() == 0
    assert all(torch.equal(one, first[key]) for key, one in model.named_parameters())


def test_a_fixed_block_alone_is_touched_with_sparing_settings(loaded: tuple[Any, Data]) -> None:
    model, data = loaded
    first = {key: one.clone() for key, one in model.named_parameters()}
    passes = Passes(model, blocks_of(model), recompute=True, positions=8)
    budget = Budget(steps=20, rate=1e-3, warm_up=2, keep_on="cpu", reference="recomputed", reference_tokens=8)
    attempt = mend(passes, data, METHODS["irepair_fixed_kl"], budget, seed=1)
    (chosen,) = attempt.chosen
    moved = {key for key, one in model.named_parameters() if not torch.equal(one, first[key])}
    assert moved and all(key.startswith(f"{chosen}.") for key in moved)
    assert all(one.requires_grad for one in model.parameters())


def test_folder_to_patch_to_files_and_back(folder: Path, tmp_path: Path) -> None:
    said: list[str] = []
    options = Options(
        methods=("nearest_max",), rates=(1e-3,), budget=Budget(steps=30, warm_up=3), longest=16, bound=0.2
    )
    outcome = mend_folder(
        folder, folder.parent / "pairs.jsonl", folder.parent / "normal.txt", options, said.append
    )
    assert [one.method for one in outcome.tried] == [
        "dapt_kl",
        "nearest_max",
    ]  # the baseline without being asked for
    best = next(one for one in outcome.tried if one.method == outcome.recommended)
    assert best.score == min(one.score for one in outcome.tried)
    assert best.repaired_unseen > 0.5 and outcome.patch is not None
    assert outcome.patch.touched / outcome.patch.model.elements == pytest.approx(best.touched, rel=0.01)
    assert any("memory for a repair" in line for line in said)
    patch, mended = tmp_path / "patch.safetensors", tmp_path / "mended"
    write_patch(outcome.patch, patch)
    change_model(patch, folder, State.IN, out=mended)
    assert _rude(load_model(mended), "ann", TIMES[4:]) < 0.5 * _rude(load_model(folder), "ann", TIMES[4:])
    change_model(patch, mended, State.OUT, out=tmp_path / "back")
    assert (tmp_path / "back" / "model.safetensors").read_bytes() == (
        folder / "model.safetensors"
    ).read_bytes()


def _with_code(path: Path) -> None:
    (path / "config.json").write_text('{"auto_map": {"AutoModel": "evil.Model"}}')


def _pickled(path: Path) -> None:
    (path / "config.json").write_text('{"model_type": "gpt2"}')
    (path / "pytorch_model.bin").write_bytes(b"\x80\x04.")


@pytest.mark.parametrize(
    ("make", "told"),
    [(_with_code, "code of its own"), (_pickled, "no .safetensors"), (lambda path: None, "config.json")],
)
def test_unsafe_folders_are_refused(make: Callable[[Path], None], told: str, tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(UsageError, match=told):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no pairs"), ("{", "line 1 .* not JSON"), ('{"prompt": "a", "bad": "b"}', "line 1 .* must look like"),
        ('{"prompt": "a", "bad": "b", "good": "b"}', "must differ"), ("[1]", "must look like"),
    ],
)  # fmt: skip
def test_bad_pairs_are_named(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(text)
    with pytest.raises(UsageError, match=told):
        read_pairs(tmp_path / "pairs.jsonl")


def test_long_prompts_lose_their_beginning(folder: Path) -> None:
    (pair,) = pair_rows(load_tokenizer(folder), [("to to to ann t1 says", "fool stop", "sir stop")], 5)
    assert pair.good.ids == tuple(WORDS.index(word) for word in ("ann", "t1", "says", "sir", "stop"))
    assert pair.good.start == 3 and pair.fork == 3


def test_plan_spares_memory_as_far_as_needed(folder: Path) -> None:
    shape = Shape(7_000_000_000, 200_000_000, 32, 4096, 32000, 2)  # of the 7B kind, in bfloat16
    gib = 2**30
    roomy, tight = (plan(shape, 16, 512, 500, free * gib, one_block=True) for free in (141, 24))
    assert roomy.fits and not roomy.recompute and roomy.keep_on is None
    assert tight.fits and tight.recompute and tight.keep_on == "cpu" and tight.total < roomy.total
    assert not plan(shape, 16, 512, 500, 24 * gib, one_block=False).fits
    assert "does not fit" in next(iter(plan(shape, 16, 512, 500, 8 * gib, one_block=True).lines()))
    counted = Shape.of(empty_model(folder), torch.bfloat16)
    assert counted.blocks == 3 and counted.width == 32 and counted.width_bytes == 2
    assert counted.parameters == sum(one.numel() for one in load_model(folder).parameters())
