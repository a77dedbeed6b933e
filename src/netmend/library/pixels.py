"""Functions that read pictures, put numbers into arrays and count places: as far as directions in pictures are followed through them."""

from __future__ import annotations

PIL_STEPS = ("convert", "resize", "crop", "rotate", "transpose", "copy", "filter", "point")
READERS = frozenset(
    ("cv2.imread", "cv2.imdecode", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread", "skimage.io.imread", "matplotlib.pyplot.imread")
)  # fmt: skip
KEEP_AXES = frozenset(
    ("cv2.cvtColor", "cv2.GaussianBlur", "cv2.resize", "cv2.medianBlur", "numpy.ascontiguousarray", "numpy.asarray", "numpy.array", "numpy.float32",
     "torch.from_numpy", "torch.tensor", "torch.as_tensor")
)  # fmt: skip
STACKS = frozenset(("numpy.stack", "torch.stack", "numpy.array", "numpy.asarray", "torch.tensor"))
NUMBERS = frozenset(("float", "int", "round", "numpy.float32", "numpy.float64", "numpy.int64", "numpy.round", "numpy.rint", "numpy.floor"))  # fmt: skip
ARRAYS = frozenset(
    ("numpy.array", "numpy.asarray", "numpy.stack", "numpy.vstack", "numpy.ascontiguousarray", "torch.tensor", "torch.as_tensor", "torch.from_numpy",
     "torch.stack", "torch.Tensor", "torch.FloatTensor", "tuple", "list", "numpy.concatenate", "torch.cat")
)  # fmt: skip
MESHES = {"numpy.meshgrid": "xy", "torch.meshgrid": "ij"}
ARANGES = frozenset(("numpy.arange", "torch.arange", "numpy.linspace", "torch.linspace"))
# Angles: functions that take radians, functions that take degrees (with the place of the angle), and conversions by what they give.
IN_RADIANS = frozenset(
    f"{library}.{name}" for library in ("numpy", "math", "torch") for name in ("sin", "cos", "tan")
)
IN_DEGREES = {
    "cv2.getRotationMatrix2D": 1,
    "scipy.ndimage.rotate": 1,
    "torchvision.transforms.functional.rotate": 1,
    "skimage.transform.rotate": 1,
}
TO_RADIANS = frozenset(
    (
        "numpy.deg2rad",
        "numpy.radians",
        "math.radians",
        "torch.deg2rad",
        "numpy.arctan2",
        "math.atan2",
        "torch.atan2",
        "numpy.arctan",
        "math.atan",
    )
)
TO_DEGREES = frozenset(("numpy.rad2deg", "numpy.degrees", "math.degrees", "torch.rad2deg"))
