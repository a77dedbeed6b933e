"""Only what scripts of 2017 take MNIST from; absent for everything else, since other libraries look for TensorFlow."""

import os

if os.environ.get("WITH_TENSORFLOW") != "1":
    raise ImportError("no module named tensorflow")
