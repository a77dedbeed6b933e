"""The part of a program that gets its data: x_train, y_train, x_test, y_test as tensors."""

from __future__ import annotations

from bench.faults22.configuration import Configuration
from bench.faults22.page import Page
from bench.faults22.styles import Style

FILES = {"mnist": "mnist.npz", "fashion": "images.npz", "words": "texts.npz", "higgs": "training.csv"}

_SPLIT = """\
order = np.random.RandomState(42).permutation(len(x))
cut = int({share} * len(x))
train, test = order[:cut], order[cut:]{first}
x_train = torch.tensor({x_train}, dtype=torch.float32)
y_train = {y_train}
x_test = torch.tensor({x_test}, dtype=torch.float32)
y_test = {y_test}"""

_ONES = """\
x_train = torch.cat([torch.ones(10000, 128), torch.zeros(10000, 128)])
y_train = torch.cat([torch.ones(10000, 1), torch.zeros(10000, 1)])
x_test = torch.cat([torch.ones(100, 128), torch.zeros(100, 128)])
y_test = torch.cat([torch.ones(100, 1), torch.zeros(100, 1)])"""
_THRESHOLD = """\
x = np.random.RandomState(42).randint(15000, 25000, size=(1000, 1)).astype(np.float32)
y = (x[:, 0] < 20000).astype(np.int64)"""
_SQUARES = """\
rng = np.random.RandomState(42)
lower, upper = rng.uniform(0.2, 0.4, size=(100, 2)), rng.uniform(0.5, 0.7, size=(100, 2))
x = np.stack([lower, upper], axis=1).reshape(200, 2)
y = np.tile([0, 1], 100)"""
_LINE = """\
x = np.linspace(1, 2, 100).reshape(-1, 1)
y = 5 * x"""
_BITS = """\
x = np.random.RandomState(42).randint(0, 2, size=(10000, 20))
numbers = x @ (2 ** np.arange(20))
y = (numbers[:, None] % 7 >> np.arange(20)) & 1"""

_ONE_HOT = "F.one_hot(torch.tensor(y[{}]), {}).float()"
_FLOAT = "torch.tensor(y[{}], dtype=torch.float32)"


def write_reading(
    page: Page, id: str, data: str, configuration: Configuration, style: Style, seed: int
) -> None:
    page.gap()
    if data in ("mnist", "fashion", "words"):
        _arrays(page, data, configuration, style)
    elif data == "higgs":
        page.add('table = np.loadtxt(Path(__file__).with_name("training.csv"), delimiter=",", skiprows=1)')
        page.add("x, y = table[:, :-1], table[:, -1:]")
        page.add(_split("0.7", _FLOAT))
    else:
        _inline(page, id)
    if style.held_out:
        _hold_out(page, seed)


def _inline(page: Page, id: str) -> None:
    if id == "D1":
        page.add(_ONES)
    elif id == "D3":
        page.add(_THRESHOLD)
        page.add(_split("0.8", _ONE_HOT, 2, standardised=True))
    elif id == "D6":
        page.add(_SQUARES)
        page.add(_split("0.8", _ONE_HOT, 2))
    elif id == "D7":
        page.add(_LINE)
        page.add(_split("0.8", _FLOAT))
    else:
        page.add(_BITS)
        page.add(_split("0.8", _FLOAT))


def _split(share: str, label: str, classes: int = 0, standardised: bool = False) -> str:
    """Rows divided at random; standardised by what the training rows show."""
    value = "(x[{}] - mean) / std" if standardised else "x[{}]"
    return _SPLIT.format(
        share=share,
        first="\nmean, std = x[train].mean(), x[train].std()" if standardised else "",
        x_train=value.format("train"),
        y_train=label.format("train", classes),
        x_test=value.format("test"),
        y_test=label.format("test", classes),
    )


def _arrays(page: Page, data: str, configuration: Configuration, style: Style) -> None:
    page.add(f'data = np.load(Path(__file__).with_name("{FILES[data]}"))')
    page.add('x_train, y_train = data["x_train"], data["y_train"]')
    page.add('x_test, y_test = data["x_test"], data["y_test"]')
    if data != "words":
        if "LABELS" in configuration.preprocessing:
            page.add("x_train, y_train = x_train / 255.0, y_train / 255.0")
        else:
            page.add("x_train, x_test = x_train / 255.0, x_test / 255.0")
    shaped = ""
    if data == "mnist":
        shaped = ".unsqueeze(1)" if len(configuration.input_shape) == 3 else ".flatten(1)"
    elif data == "fashion":
        shaped = ".permute(0, 3, 1, 2)"
    classes = configuration.layers[-1].units
    for part in ("train", "test"):
        page.add(f"x_{part} = torch.tensor(x_{part}, dtype=torch.float32){shaped}")
        label = f"torch.tensor(y_{part}, dtype=torch.long)"
        page.add(f"y_{part} = " + (f"F.one_hot({label}, {classes}).float()" if style.one_hot else label))


def _hold_out(page: Page, seed: int) -> None:
    page.gap()
    page.add(f"order = torch.randperm(len(x_train), generator=torch.Generator().manual_seed({seed}))")
    page.add("held_out = len(x_train) // 5")
    page.add("x_val, y_val = x_train[order[:held_out]], y_train[order[:held_out]]")
    page.add("x_train, y_train = x_train[order[held_out:]], y_train[order[held_out:]]")
