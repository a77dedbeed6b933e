from dataclasses import dataclass


@dataclass
class TrainConfig:
    patch: int = 4
    size: int = 12
    dim: int = 32
    heads: int = 4
    classes: int = 4
    lr: float = 0.003
    weight_decay: float = 1.0
    epochs: int = 8
    batch_size: int = 40
