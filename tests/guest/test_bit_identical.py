"""Every program prints the same bytes, ends with the same code and leaves the same state, watched or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Reference
from launching import PROGRAMS, Command, only_trace, own_failures, run, side_by_side

FULL = ("-q", "--full")  # all statistics on every step: the most that netmend ever does
DEFAULT = ("-q",)
PROBE = ("-q", "--probe")  # copies of the model are trained on its first batch


@dataclass(frozen=True)
class Case:
    """A deterministic program; `steps` is what it trains, None where it is not one process's loop."""

    program: str
    steps: int | None
    arguments: tuple[str, ...] = ()
    also_default: bool = False  # run with the default budget, too
    also_probe: bool = False
    own_process: bool = False  # the unwatched side must not be a fork of a process that has imported torch

    @property
    def name(self) -> str:
        return "-".join([self.program.removesuffix(".py"), *self.arguments]).replace("/", "-")


CASES = (
    Case("mlp_classifier.py", 40, also_default=True, also_probe=True),
    Case("cnn_functional.py", 16),
    Case("lstm_regression.py", 40, also_default=True),
    Case("transformer_encoder.py", 16, also_default=True),
    Case("attention_pooling.py", 20),
    Case("next_token.py", 24, also_default=True),
    Case("gan.py", 80),
    Case("gradient_accumulation.py", 16, also_probe=True),
    Case("amp_bfloat16.py", 24),
    Case("amp_skipped_steps.py", None),  # whether a skipped step counts is not for this test to say
    Case("compiled_model.py", 10, ("aot_eager",)),
    Case("compiled_model.py", 10, ("eager",)),
    Case("compiled_function.py", 8),
    Case("lbfgs_closure.py", 12),
    Case("shared_modules.py", 20),
    Case("module_list.py", 20),
    Case("layers_in_plain_list.py", 25),
    Case("update_by_hand_no_grad.py", 40),
    Case("update_by_hand_data.py", 40),
    Case("loader_workers.py", 12, own_process=True),
    Case("forward_with_memory.py", 40, also_default=True, also_probe=True),
    Case("frozen_backbone.py", 20),
    Case("model_changes.py", 32),
    Case("several_phases.py", 38),
    Case("multi_task.py", 20),
    Case("handwritten_loss.py", 36),
    Case("multilabel.py", 20),
    Case("binary_bce.py", 40),
    Case("autoencoder.py", 20),
    Case("vae.py", 20),
    Case("embedding_gru.py", 16),
    Case("policy_gradient.py", 25),
    Case("triplet_metric.py", 25),
    Case("ema_deepcopy.py", 20),
    Case("checkpoints.py", 18),
    Case("scheduler_and_clipping.py", 30, also_probe=True),
    Case("one_cycle.py", 40),
    Case("reduce_on_plateau.py", None),
    Case("custom_optimizer.py", 24, also_probe=True),
    Case("user_hooks.py", 12),
    Case("jit_submodules.py", 15),
    Case("activation_checkpointing.py", 15),
    Case("gradient_penalty.py", None),
    Case("per_sample_gradients.py", 12),
    Case("sparse_gradients.py", 30),
    Case("odd_tensors.py", 10),
    Case("lazy_and_parametrized.py", 12),
    Case("custom_autograd_function.py", 15),
    Case("optimizer_in_backward.py", 44),
    Case("iterable_dataset.py", 19),
    Case("global_settings.py", 6),
    Case("memory_stays_free.py", 16),
    Case("nan_forward.py", 12),
    Case("nan_backward.py", 10, also_default=True),
    Case("exploding_weights.py", 20),
    Case("spawned_training.py", None, own_process=True),
    Case("training_threads.py", None, own_process=True),
    Case("forks.py", None, own_process=True),
    Case("argparse_dataclass.py", 5, ("--lr", "0.1", "--optimizer", "sgd")),
    Case("several_files/main.py", 8, ("--epochs", "2")),
    Case("changes_directory.py", 6),
    Case("pickles_main_class.py", 4, own_process=True),
    Case("threads_at_exit.py", None, own_process=True),
    Case("warns.py", 3, own_process=True),
    Case("sets_threads_first.py", 3, own_process=True),
    Case("inference_only.py", 0),
    Case("zero_steps.py", 0),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_watched_program_is_bit_identical(case: Case, reference: Reference, tmp_path: Path) -> None:
    modes = [FULL, *([DEFAULT] if case.also_default else []), *([PROBE] if case.also_probe else [])]
    homes = {options: tmp_path / f"home{index}" for index, options in enumerate(modes)}
    target = (str(PROGRAMS / case.program), *case.arguments)
    commands = [Command(target, (*options, "--directory", str(home))) for options, home in homes.items()]

    plain = run(Command(target).line, tmp_path) if case.own_process else reference(target, tmp_path)
    watched = side_by_side(commands, tmp_path)

    assert plain.code == 0, plain.err
    for (options, home), outcome in zip(homes.items(), watched, strict=True):
        assert outcome.err == plain.err, options
        assert outcome.out == plain.out, options
        assert outcome.code == plain.code, options
        traces = [only_trace(home)] if case.steps is not None else []
        for trace in traces:
            assert own_failures(trace) == [], options
            assert trace.run.steps == case.steps, options
            assert trace.run.status == "finished", options


def test_every_program_is_used() -> None:
    used = {case.program.split("/")[0] for case in CASES}
    elsewhere = {  # by the other files in this folder
        "common.py",
        "ddp.py",
        "ends_badly.py",
        "long_run.py",
        "never_trains.py",
        "own_signal_handlers.py",
        "pocket_trainer",
        "reads_stdin.py",
        "shows_surroundings.py",
    }
    there = {path.name for path in PROGRAMS.iterdir() if path.suffix == ".py" or path.is_dir()} - {
        "__pycache__"
    }
    assert there == used | elsewhere
