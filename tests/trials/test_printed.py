"""Numbers in what programs print, as tutorials, frameworks and people print them."""

from __future__ import annotations

import math

import pytest

from netmend.trials.printed import Reader, labelled

LINES: dict[str, dict[str, float]] = {
    # PyTorch's tutorials and examples
    "Epoch [1/5], Step [100/600], Loss: 0.3512": {"epoch": 1, "step": 100, "loss": 0.3512},
    "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.301234": {"train epoch": 1, "train loss": 2.301234},
    "Test set: Average loss: 0.0512, Accuracy: 9834/10000 (98%)": {
        "test set average loss": 0.0512,
        "test accuracy": 0.9834,
    },
    "loss: 2.303494  [   64/60000]": {"loss": 2.303494},
    "[1,  2000] loss: 2.214": {"loss": 2.214},
    "Accuracy of the network on the 10000 test images: 54 %": {
        "accuracy of the network on the": 10000,
        "accuracy of the network on the test images": 54,
    },
    "Accuracy for class: plane is 55.3 %": {"accuracy for class plane is": 55.3},
    "train Loss: 0.6410 Acc: 0.6967": {"train loss": 0.641, "train acc": 0.6967},
    "Best val Acc: 0.947712": {"best val acc": 0.947712},
    " * Acc@1 71.234 Acc@5 90.111": {"acc @1": 71.234, "acc @5": 90.111},
    "Test: [ 10/100]\tTime  0.1 ( 0.2)\tLoss 1.2e+00 (1.3e+00)\tAcc@1  71.88 ( 70.12)": {
        "test": 10,
        "time": 0.1,
        "test loss": 1.2,
        "test acc @1": 71.88,
    },
    # Keras, Lightning, Transformers, skorch, tqdm
    "1/10 - loss: 0.54 - accuracy: 0.81 - val_loss: 0.43 - val_accuracy: 0.84": {
        "loss": 0.54,
        "accuracy": 0.81,
        "val loss": 0.43,
        "val accuracy": 0.84,
    },
    "│         test_acc          │    0.9123    │": {"test acc": 0.9123},
    "Epoch 2: 100%|███| 469/469 [00:03<00:00, 134.33it/s, loss=0.231, v_num=0, val_acc=0.93]": {
        "epoch": 2,
        "loss": 0.231,
        "v num": 0,
        "val acc": 0.93,
    },
    "  0%|          | 0/10 [00:00<?, ?it/s, loss=0.5]": {"loss": 0.5},
    "{'eval_loss': 0.35, 'eval_accuracy': 0.87, 'learning_rate': 5e-05, 'epoch': 1.0}": {
        "eval loss": 0.35,
        "eval accuracy": 0.87,
        "learning rate": 5e-05,
        "epoch": 1,
    },
    '{"epoch": 3, "val": {"loss": 0.25, "acc": 0.9}}': {"epoch": 3, "val loss": 0.25, "val acc": 0.9},
    # logging
    "2024-03-05 12:30:01,123 - INFO - epoch 3 val_acc=0.87": {"epoch": 3, "val acc": 0.87},
    "INFO:root:Validation accuracy: 0.8123": {"validation accuracy": 0.8123},
    "WARNING:models.net:val loss 0.5": {"val loss": 0.5},
    # by hand
    "epoch 5 | train loss 0.25 | val loss 0.31 | val acc 91.2%": {
        "epoch": 5,
        "train loss": 0.25,
        "val loss": 0.31,
        "val acc": 91.2,
    },
    "\t Val. Loss: 0.5 |  Val. Acc: 80.34%": {"val loss": 0.5, "val acc": 80.34},
    "test/acc 0.5 test/loss 0.25": {"test acc": 0.5, "test loss": 0.25},
    "valAcc=0.5 trainLoss=0.25": {"val acc": 0.5, "train loss": 0.25},
    "val-acc: 0.5": {"val acc": 0.5},
    "R2 score: -0.25": {"r2 score": -0.25},
    "R² = .81": {"r²": 0.81},
    "mAP: 0.3 mIoU: 0.4": {"map": 0.3, "miou": 0.4},
    "mse 1.5e-05 rmse 3.8e-03": {"mse": 1.5e-05, "rmse": 0.0038},
    "val_acc: tensor(0.9123) loss tensor(0.35, grad_fn=<NllLossBackward0>)": {
        "val acc": 0.9123,
        "val loss": 0.35,
    },
    "acc np.float64(0.75)": {"acc": 0.75},
    "accuracy: 540 / 1000": {"accuracy": 0.54},
    "acc 0.5 acc 0.75": {"acc": 0.5, "acc #2": 0.75},
    "loss: inf": {"loss": math.inf},
    "loss=-inf val_loss=1e-3": {"loss": -math.inf, "val loss": 0.001},
    "parameters: 1_200_000": {"parameters": 1_200_000},
    # nothing to be seen
    "0.5": {},
    "hello world": {},
    "Training finished in 3m 20s": {},
    "loss 0.25x": {},
    "torch 2.1.0": {},
    "acc 12_": {"acc": 12},
    "": {},
}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:40])
def test_line(line: str) -> None:
    assert dict(Reader().numbers_in(line)) == LINES[line]


@pytest.mark.parametrize(
    "line", ["step 10 loss nan", "loss: NaN", "100%|##| 10/10 [00:01<00:00,  9.5it/s, loss=nan]"]
)
def test_not_a_number(line: str) -> None:
    value = dict(Reader().numbers_in(line))["loss"]
    assert math.isnan(value)


TABLES = {
    "spaces": ("epoch   train_loss  val_acc", "-----  ----------  -------", "1       0.5         0.8", "2       nan         0.9"),
    "bars": ("| epoch | train loss | val acc |", "|---|---|---|", "| 1 | 0.5 | 0.8 |", "| 2 | nan | 0.9 |"),
    "commas": ("epoch,train_loss,val_acc", "1,0.5,0.8", "2,nan,0.9"),
    "tabs": ("epoch\ttrain_loss\tval_acc", "1\t0.5\t0.8", "2\tnan\t0.9"),
    "skorch": ("  epoch    train_loss    val_acc", "-------  ------------  -------", "      1        0.5      0.8", "      2    nan   0.9"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_table(name: str) -> None:
    series = labelled(enumerate(TABLES[name]))
    assert [value for _, value in series["epoch"]] == [1, 2]
    assert [value for _, value in series["val acc"]] == [0.8, 0.9]
    first, second = (value for _, value in series["train loss"])
    assert first == 0.5
    assert math.isnan(second)


def test_heading_says_what_the_next_line_is_about() -> None:
    lines = [
        "loss: 2.3  [   64/60000]",
        "Test Error: ",
        " Accuracy: 64.7%, Avg loss: 1.08 ",
        "loss: 2.2  [ 128/60000]",
    ]
    series = labelled(enumerate(lines))
    assert series == {
        "loss": [[0, 2.3], [3, 2.2]],
        "test accuracy": [[2, 64.7]],
        "test avg loss": [[2, 1.08]],
    }


def test_long_and_odd_lines() -> None:
    assert Reader().numbers_in("x" * 100_000 + " acc 0.5") == [("acc", 0.5)]
    assert Reader().numbers_in("\0\x1b[31mloss\x1b[0m: 0.5")[-1][1] == 0.5
    assert Reader().numbers_in("損失 loss 0.5") == [("loss", 0.5)]
    many = Reader().numbers_in(" ".join(f"loss {number}" for number in range(5000)))
    assert len(many) > 100
