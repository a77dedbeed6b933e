"""The `input_data` module of TensorFlow's MNIST tutorial, over the files that torchvision reads."""

import os
import types

import numpy as np


class _Part:
    def __init__(self, train):
        raw = os.path.join(os.environ["STRANGERS_DATA"], "MNIST", "raw")
        name = "train" if train else "t10k"
        x = np.fromfile(os.path.join(raw, f"{name}-images-idx3-ubyte"), np.uint8, offset=16)
        y = np.fromfile(os.path.join(raw, f"{name}-labels-idx1-ubyte"), np.uint8, offset=8)
        self.images = (x.reshape(-1, 784) / 255).astype(np.float32)
        self.labels = np.eye(10)[y]
        self.num_examples = len(y)
        self._order, self._at = np.random.permutation(len(y)), 0

    def next_batch(self, count):
        if self._at + count > self.num_examples:
            self._order, self._at = np.random.permutation(self.num_examples), 0
        chosen = self._order[self._at : self._at + count]
        self._at += count
        return self.images[chosen], self.labels[chosen]


def _read_data_sets(folder, one_hot=False):
    test = _Part(False)
    return types.SimpleNamespace(train=_Part(True), test=test, validation=test)


input_data = types.SimpleNamespace(read_data_sets=_read_data_sets)
