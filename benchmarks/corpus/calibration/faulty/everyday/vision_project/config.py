from dataclasses import dataclass, field


@dataclass
class OptimConfig:
    name: str = "SGD"
    lr: float = 0.5
    momentum: float = 0.95
    weight_decay: float = 0.0


@dataclass
class Config:
    epochs: int = 6
    batch_size: int = 32
    image_size: int = 16
    optim: OptimConfig = field(default_factory=OptimConfig)
