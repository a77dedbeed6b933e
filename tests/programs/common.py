"""What every program here shares: seeding, a little data, and the fingerprint printed as the last line."""

import hashlib
import random

import numpy as np
import torch


def seed_everything(seed=0):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def blobs(samples=96, features=8, classes=3, seed=1):
    """Gaussian blobs, one per class."""
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(classes, features, generator=generator) * 2
    labels = torch.randint(classes, (samples,), generator=generator)
    return centres[labels] + torch.randn(samples, features, generator=generator), labels


def finish(*objects):
    """Print one hash over all that must not depend on being watched.

    Tensors, gradients, modes and the attribute names of modules; the states of the three random generators;
    global settings of torch.
    """
    digest = hashlib.sha256()

    def add(value):
        if isinstance(value, torch.Tensor):
            value = value.detach()
            if value.layout is not torch.strided:
                value = value.coalesce().to_dense()
            digest.update(f"{value.dtype}{tuple(value.shape)}".encode())
            digest.update(value.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        else:
            digest.update(repr(value).encode())

    for thing in objects:
        if isinstance(thing, torch.nn.Module):
            for name, module in thing.named_modules():
                add((name, type(module).__name__, module.training, sorted(map(str, vars(module)))))
            for name, parameter in thing.named_parameters():
                add((name, parameter.requires_grad, sorted(vars(parameter))))
                add(parameter)
                add(parameter.grad)
            for name, buffer in thing.named_buffers():
                add(name)
                add(buffer)
        elif isinstance(thing, torch.optim.Optimizer):
            for state in thing.state.values():
                for key, value in state.items():
                    add(key)
                    add(value)
            add(sorted(vars(thing)))
        else:
            add(thing)

    add(torch.get_rng_state())
    add(np.random.get_state())
    add(random.getstate())
    add((torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()))
    add((torch.is_anomaly_enabled(), torch.are_deterministic_algorithms_enabled()))
    print("sha256", digest.hexdigest())
