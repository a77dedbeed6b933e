"""Names and arguments of torchvision, torchaudio and torchtext that are deprecated or gone, from their release notes and warnings."""

from __future__ import annotations

from netmend.library.symbol import Argument, Symbol

_VISION = "torchvision release notes"
_AUDIO = "torchaudio release notes"
_TEXT = "torchtext release notes"

SYMBOLS: tuple[Symbol, ...] = (
    Symbol("torchvision.transforms.v2.ToTensor", "0.16", "", "v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])", _VISION, announced=True),
    Symbol("torchvision.transforms.v2.functional.to_tensor", "0.16", "", "v2.functional.to_image and to_dtype", _VISION, announced=True),
    Symbol("torchvision.transforms.v2.functional.get_image_size", "0.16", "", "v2.functional.get_size", _VISION, announced=True),
    Symbol("torchvision.transforms.Scale", "0.2", "0.13", "torchvision.transforms.Resize", _VISION),
    Symbol("torchvision.transforms.RandomSizedCrop", "0.2", "0.13", "torchvision.transforms.RandomResizedCrop", _VISION),
    Symbol("torchvision.transforms.functional_tensor", "0.15", "0.17", "torchvision.transforms.functional", _VISION),
    Symbol("torchvision.transforms.functional_pil", "0.15", "0.17", "torchvision.transforms.functional", _VISION),
    Symbol("torchvision.transforms._transforms_video", "0.12", "", "torchvision.transforms", _VISION, announced=True),
    Symbol("torchvision.models.utils", "0.11", "0.13", "torch.hub.load_state_dict_from_url", _VISION),
    Symbol("torchvision.datapoints", "0.16", "0.17", "torchvision.tv_tensors", _VISION),
    *(Symbol(f"torchvision.models.{family}.model_urls", "0.13", "0.15", "the weights enums, like ResNet18_Weights.DEFAULT.url", _VISION)
      for family in ("resnet", "vgg", "densenet", "alexnet", "squeezenet", "inception", "googlenet", "mobilenet")),
    Symbol("torchaudio.load_wav", "0.8", "0.9", "torchaudio.load", _AUDIO),
    Symbol("torchaudio.set_audio_backend", "2.1", "2.9", "nothing: the backend is chosen by itself", _AUDIO),
    Symbol("torchaudio.functional.magphase", "0.10", "0.11", "tensor.abs() and tensor.angle()", _AUDIO),
    Symbol("torchaudio.functional.complex_norm", "0.10", "0.11", "tensor.abs()", _AUDIO),
    Symbol("torchaudio.transforms.ComplexNorm", "0.10", "0.11", "tensor.abs()", _AUDIO),
    Symbol("torchtext.legacy", "0.9", "0.12", "torch.utils.data and a vocabulary of your own", _TEXT),
    *(Symbol(f"torchtext.data.{name}", "0.8", "0.12", "torch.utils.data.DataLoader with a collate_fn", _TEXT)
      for name in ("Field", "LabelField", "RawField", "TabularDataset", "BucketIterator", "Iterator", "BPTTIterator")),
)  # fmt: skip

ARGUMENTS: tuple[Argument, ...] = (
    Argument("torchvision.models.", "pretrained", "0.13", "", "weights=", _VISION, announced=True, position=0),
    Argument("torchvision.models.", "pretrained_backbone", "0.13", "", "weights_backbone=", _VISION, announced=True),
    Argument("torchvision.transforms.", "resample", "0.10", "0.15", "interpolation=", _VISION),
    Argument("torchvision.transforms.", "fillcolor", "0.10", "0.15", "fill=", _VISION),
    Argument("torchvision.utils.make_grid", "range", "0.12", "0.15", "value_range=", _VISION),
    Argument("torchvision.utils.save_image", "range", "0.12", "0.15", "value_range=", _VISION),
)  # fmt: skip
