"""Parts of the repair of language models, each against a plain computation."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from netmend.errors import UsageError  # noqa: E402
from netmend.mend.torch.language.blocks import (  # noqa: E402
    Chooser,
    block_norms,
    blocks_of,
    only,
)
from netmend.mend.torch.language.descent import (  # noqa: E402  # noqa: E402
    Cached,
    Descent,
    Known,
    Recomputed,
    banned_tokens,
    divergence,
    nll,
)
from netmend.mend.torch.language.loading import Originals  # noqa: E402
from netmend.mend.torch.language.passes import Passes, log_probability  # noqa: E402
from netmend.mend.torch.language.rows import Pair, Row, collate  # noqa: E402

ROWS = [Row((1, 5, 7, 9, 3, 2), 3), Row((1, 6, 8), 2), Row((1, 4, 4, 4, 11), 1)]


@pytest.fixture
def model() -> Any:
    torch.manual_seed(3)
    config = transformers.GPT2Config(
        vocab_size=24, n_positions=16, n_embd=16, n_layer=3, n_head=2, bos_token_id=1, eos_token_id=1
    )
    return transformers.GPT2LMHeadModel(config)


def test_batch_pads_right_and_takes_the_answers() -> None:
    batch = collate(ROWS, torch.device("cpu"))
    assert batch.ids.tolist()[1] == [1, 6, 8, 0, 0, 0]
    assert batch.labels.tolist() == [9, 3, 2, 8, 4, 4, 4, 11]
    assert list(zip(batch.row.tolist(), batch.place.tolist(), strict=True))[:4] == [
        (0, 2),
        (0, 3),
        (0, 4),
        (1, 1),
    ]
    assert len(collate(ROWS, torch.device("cpu"), whole=True).labels) == 5 + 2 + 4


def test_fork_is_the_first_difference() -> None:
    assert Pair(Row((1, 2, 3, 4), 2), Row((1, 2, 3, 5), 2)).fork == 3
    with pytest.raises(UsageError, match="must differ"):
        _ = Pair(Row((1, 2, 3), 2), Row((1, 2, 3, 5), 2)).fork
    with pytest.raises(UsageError, match="cannot have an answer"):
        Row((1, 2), 2)


def test_blocks_are_the_numbered_layers(model: Any) -> None:
    blocks = blocks_of(model)
    assert [block.name for block in blocks] == ["transformer.h.0", "transformer.h.1", "transformer.h.2"]
    assert not any("wte" in name or "ln_f" in name for block in blocks for name in block.parameters)
    with pytest.raises(UsageError, match="no parameter"):
        blocks_of(model, r"^(layer\d+)")


@pytest.mark.parametrize(("recompute", "positions"), [(False, 0), (True, 0), (False, 3), (True, 2)])
def test_sparing_passes_give_the_same_losses_and_gradients(
    model: Any, recompute: bool, positions: int
) -> None:
    plain = model.eval()
    batch = collate(ROWS, torch.device("cpu"))
    logits = plain(input_ids=batch.ids).logits[batch.row, batch.place]
    expected = logits.log_softmax(-1).gather(1, batch.labels[:, None])[:, 0]
    expected.mean().backward()
    gradients = {name: one.grad.clone() for name, one in plain.named_parameters()}
    plain.zero_grad()
    passes = Passes(plain, blocks_of(plain), recompute, positions)
    forward = type(blocks_of(plain)[0].module).forward
    with passes.prepared():
        found = passes.each_place(batch, log_probability(batch))
        found.mean().backward()
    assert torch.allclose(found, expected, atol=1e-5)
    for name, one in plain.named_parameters():
        assert torch.allclose(one.grad, gradients[name], atol=1e-5), name
    assert all(block.module.forward.__func__ is forward for block in passes.blocks)


def test_sensitivity_equals_the_gradients_norm_and_keeps_none(model: Any) -> None:
    blocks = blocks_of(model)
    passes = Passes(model, blocks)
    model.transformer.wte.weight.requires_grad_(False)
    nll(passes, ROWS).backward()
    expected = [
        torch.stack([one.grad.square().sum() for one in block.parameters.values()]).sum().sqrt().item()
        for block in blocks
    ]
    model.zero_grad()
    held: list[int] = []

    def loss() -> Any:
        found = nll(passes, ROWS)
        found.register_hook(lambda _: held.append(sum(one.grad is not None for one in model.parameters())))
        return found

    assert block_norms(model, blocks, loss) == pytest.approx(expected, rel=1e-4)
    assert held == [0] and all(one.grad is None for one in model.parameters())
    assert not model.transformer.wte.weight.requires_grad and model.lm_head is not None
    assert blocks[0].module.ln_1.weight.requires_grad


def test_reference_of_the_same_model_diverges_by_nothing(model: Any) -> None:
    passes = Passes(model, blocks_of(model))
    for tokens in (24, 5):
        known = Cached(passes, ROWS, tokens, at_once=2).of([ROWS[2], ROWS[0]])
        batch = collate([ROWS[2], ROWS[0]], torch.device("cpu"), whole=True)
        assert passes.each_place(batch, divergence(known)).abs().max() < 1e-5


def test_divergence_is_the_full_one_where_all_tokens_are_kept_and_less_otherwise(model: Any) -> None:
    other = copy.deepcopy(model)
    with torch.no_grad():
        for one in other.parameters():
            one.add_(0.3 * torch.randn_like(one))
    batch = collate(ROWS, torch.device("cpu"), whole=True)
    first, second = Passes(model, blocks_of(model)), Passes(other, blocks_of(other))
    old = model(input_ids=batch.ids).logits[batch.row, batch.place].log_softmax(-1)
    new = other(input_ids=batch.ids).logits[batch.row, batch.place].log_softmax(-1)
    full = (old.exp() * (old - new)).sum(1)
    found = second.each_place(batch, divergence(Cached(first, ROWS, 24).of(ROWS)))
    assert torch.allclose(found, full, atol=1e-4)
    part = second.each_place(batch, divergence(Cached(first, ROWS, 4).of(ROWS)))
    assert bool((part <= full + 1e-5).all()) and bool((part < full - 1e-3).any())


def test_recomputed_reference_is_the_unrepaired_model(model: Any) -> None:
    blocks = blocks_of(model)
    passes, originals = Passes(model, blocks), Originals()
    before = Cached(passes, ROWS, 6).of(ROWS)
    originals.keep(blocks[1])
    with torch.no_grad():
        blocks[1].module.mlp.c_fc.weight.add_(0.5)
    changed = blocks[1].module.mlp.c_fc.weight.clone()
    again = Recomputed(passes, originals.restored, 6)
    for _ in range(2):
        assert torch.allclose(again.of(ROWS).chances, before.chances, atol=1e-6)
    assert torch.equal(blocks[1].module.mlp.c_fc.weight, changed)
    assert originals.changed() == changed.numel()


def test_banned_tokens_leave_the_answers_and_the_rest_is_scaled_up() -> None:
    known = Known(
        torch.tensor([[2, 3], [2, 3]], dtype=torch.int),
        torch.tensor([[0.5, 0.3], [0.5, 0.3]]),
        torch.tensor([0.2, 0.2]),
    )
    found = known.without(torch.tensor([2], dtype=torch.int), torch.tensor([True, False]))
    assert found.chances[0].tolist() == pytest.approx([0.0, 0.6]) and float(found.rest[0]) == pytest.approx(
        0.4
    )
    assert torch.equal(found.chances[1], known.chances[1])
    pairs = [Pair(Row((1, 5, 6), 1), Row((1, 5, 7), 1)), Pair(Row((1, 7, 8), 1), Row((1, 9, 8), 1))]
    assert banned_tokens(pairs).tolist() == [9]  # 7 also stands in a good answer


def test_descent_is_rmsprop_with_clipping_and_moves_nothing_else(model: Any) -> None:
    other = copy.deepcopy(model)
    mine, theirs = blocks_of(model)[1], blocks_of(other)[1]
    optimiser = torch.optim.RMSprop(theirs.parameters.values(), lr=1e-3)
    descent = Descent(clip=0.5)
    passes, plain = Passes(model, blocks_of(model)), Passes(other, blocks_of(other))
    frozen = {name: one.clone() for name, one in model.named_parameters() if name not in mine.parameters}
    for _ in range(3):
        with only(model, [mine]):
            nll(passes, ROWS).backward()
            descent.step([mine], 1e-3)
        optimiser.zero_grad()
        nll(plain, ROWS).backward()
        torch.nn.utils.clip_grad_norm_(theirs.parameters.values(), 0.5)
        optimiser.step()
    for name, one in mine.parameters.items():
        assert torch.allclose(one, theirs.parameters[name], atol=1e-5), name
    assert all(torch.equal(dict(model.named_parameters())[name], value) for name, value in frozen.items())


def test_small_steps_are_not_lost_to_the_rounding_of_bfloat16(model: Any) -> None:
    model = model.to(torch.bfloat16)
    block = blocks_of(model)[0]
    with torch.no_grad():
        for one in block.parameters.values():
            one.fill_(1.0)
    descent = Descent(clip=1e9, keep_on="cpu")
    for _ in range(200):
        for one in block.parameters.values():
            one.grad = torch.ones_like(one)
        descent.step([block], 1e-4)  # far below the next bfloat16 under 1
    assert all(bool((one < 1.0).all()) for one in block.parameters.values())


def test_a_step_along_a_broken_gradient_is_left_out(model: Any) -> None:
    block = blocks_of(model)[0]
    before = {name: one.clone() for name, one in block.parameters.items()}
    for one in block.parameters.values():
        one.grad = torch.full_like(one, float("nan"))
    Descent().step([block], 1e-2)
    assert all(torch.equal(one, before[name]) for name, one in block.parameters.items())


def test_choices_follow_their_rule(model: Any) -> None:
    blocks = blocks_of(model)
    asked: list[int] = []

    def bad() -> list[float]:
        asked.append(1)
        return [3.0, 2.0, 1.0] if len(asked) % 2 else [1.0, 2.0, 9.0]

    def chosen(rule: str, times: int) -> list[str]:
        asked.clear()
        chooser = Chooser(rule, blocks, bad, lambda: [30.0, 1.0, 1.0], seed=0, samples=2)
        return ["".join(block.name[-1] for block in chooser.choose()) for _ in range(times)]

    assert chosen("max", 2) == ["0", "2"]
    assert chosen("min", 2) == ["2", "0"]
    assert chosen("fixed", 3) == ["2", "2", "2"] and len(asked) == 2
    assert chosen("contrast", 1) == ["1"]
    assert chosen("all", 1) == ["012"]
    assert set(chosen("random", 30)) == {"0", "1", "2"}
