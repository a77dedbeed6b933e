"""The programs whose slow-down is measured: small ones for the CPU, GPT-2 124M and ResNet-50 for a GPU.

Random data, resident on the device, so that nothing but training and watching takes time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

BATCHES = 8  # different batches, used in turn


class Classifier(nn.Module):
    """Layers with a mean over time in between, for sequence models."""

    def __init__(self, body: nn.Module, width: int, classes: int) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x)
        return self.head((y[0] if isinstance(y, tuple) else y).mean(1))


class Block(nn.Module):
    """One layer of GPT-2: attention and a two-layer perceptron, each after a norm and beside a shortcut."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.ln_1 = nn.LayerNorm(width)
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.resid_dropout = nn.Dropout(dropout)
        self.ln_2 = nn.LayerNorm(width)
        self.c_fc = nn.Linear(width, 4 * width)
        self.gelu = nn.GELU(approximate="tanh")
        self.mlp_proj = nn.Linear(4 * width, width)
        self.mlp_dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        batch, time, width = x.shape
        split = self.c_attn(self.ln_1(x)).view(batch, time, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        chance = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=chance, is_causal=True)
        x = x + self.resid_dropout(self.c_proj(y.transpose(1, 2).reshape(batch, time, width)))
        return x + self.mlp_dropout(self.mlp_proj(self.gelu(self.c_fc(self.ln_2(x)))))


class GPT2(nn.Module):
    """GPT-2 124M as published: 12 layers of width 768, learned positions, tied head, dropout 0.1."""

    def __init__(
        self,
        vocabulary: int = 50257,
        context: int = 1024,
        width: int = 768,
        layers: int = 12,
        heads: int = 12,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(context, width)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.dim() > 1:
                scale = math.sqrt(2 * layers) if "proj" in name else 1.0
                nn.init.normal_(parameter, std=0.02 / scale)

    def forward(self, tokens: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.drop(self.wte(tokens) + self.wpe(positions))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class Bottleneck(nn.Module):
    """1x1, 3x3, 1x1 convolutions beside a shortcut; the 3x3 one carries the stride."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Module | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.relu(self.bn3(self.conv3(x)) + shortcut)


class ResNet50(nn.Module):
    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        stages, inputs = [], 64
        for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            stage = [Bottleneck(inputs, width, stride)]
            stage += [Bottleneck(4 * width, width, 1) for _ in range(blocks - 1)]
            stages.append(nn.Sequential(*stage))
            inputs = 4 * width
        self.layers = nn.Sequential(*stages)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(self.avgpool(self.layers(x)).flatten(1))


@dataclass
class Training:
    """A model with optimiser and data. The two calls let a variant look between backward and step, and after."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    batches: list[tuple[Tensor, Tensor]]
    autocast: bool = False
    steps: int = 0
    after_backward: Callable[[], None] | None = None
    after_step: Callable[[], None] | None = None

    def step(self) -> None:
        inputs, targets = self.batches[self.steps % len(self.batches)]
        self.steps += 1
        self.optimizer.zero_grad()
        with torch.autocast(inputs.device.type, dtype=torch.bfloat16, enabled=self.autocast):
            outputs = self.model(inputs)
            loss = F.cross_entropy(outputs.flatten(0, -2), targets.flatten())
        loss.backward()
        if self.after_backward is not None:
            self.after_backward()
        self.optimizer.step()
        if self.after_step is not None:
            self.after_step()


def _classify(model: nn.Module, shape: tuple[int, ...]) -> Training:
    batches = [(torch.randn(shape), torch.randint(10, shape[:1])) for _ in range(BATCHES)]
    return Training(model, torch.optim.Adam(model.parameters(), lr=1e-3), batches)


def mlp_tiny() -> Training:
    """Steps of about a millisecond: the budget must hold by sampling less."""
    return _classify(
        nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)),
        (64, 64),
    )


def mlp() -> Training:
    layers = [nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)]
    return _classify(nn.Sequential(*layers), (256, 784))


def cnn() -> Training:
    features = [
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
    ]
    head = [nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1568, 128), nn.ReLU(), nn.Linear(128, 10)]
    return _classify(nn.Sequential(*features, *head), (64, 1, 28, 28))


def lstm() -> Training:
    return _classify(Classifier(nn.LSTM(32, 128, batch_first=True), 128, 10), (32, 40, 32))


def transformer() -> Training:
    layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
    return _classify(Classifier(nn.TransformerEncoder(layer, 4), 128, 10), (16, 32, 128))


def gpt2() -> Training:
    model = GPT2().cuda()
    data = [torch.randint(50257, (16, 1025), device="cuda") for _ in range(BATCHES)]
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )
    return Training(model, optimizer, [(tokens[:, :-1], tokens[:, 1:]) for tokens in data], autocast=True)


def resnet50() -> Training:
    model = ResNet50().cuda().to(memory_format=torch.channels_last)
    batches = []
    for _ in range(BATCHES):
        images = torch.randn(128, 3, 224, 224, device="cuda").contiguous(memory_format=torch.channels_last)
        batches.append((images, torch.randint(1000, (128,), device="cuda")))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    return Training(model, optimizer, batches, autocast=True)


CPU_MODELS: dict[str, Callable[[], Training]] = {
    "mlp-tiny": mlp_tiny,
    "mlp": mlp,
    "cnn": cnn,
    "lstm": lstm,
    "transformer": transformer,
}
CUDA_MODELS: dict[str, Callable[[], Training]] = {"gpt2": gpt2, "resnet50": resnet50}
