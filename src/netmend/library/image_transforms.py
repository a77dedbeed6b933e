"""Ready transforms of images by what they do to a picture, whichever library they are of; and the functions that flip, turn, cut and resize."""

from __future__ import annotations

from dataclasses import dataclass

LIBRARIES = (
    "torchvision.transforms.",
    "albumentations.",
    "kornia.augmentation.",
    "monai.transforms.",
    "imgaug.augmenters.",
    "torchio.transforms.",
    "torchio.",
    "Augmentor.",
)
# Objects that hold other transforms and apply them one after the other, or one of them.
CONTAINERS = frozenset(
    ("Compose", "Sequential", "OneOf", "SomeOf", "OneOrOther", "RandomApply", "RandomOrder", "RandomChoice", "Sometimes", "AugmentationSequential",
     "ReplayCompose", "RandomOrderCompose", "Sometimes")
)  # fmt: skip


@dataclass(frozen=True)
class Transform:
    """What a ready random transform changes. `mirrors`: left and right; `topples`: top and bottom; `turns`: by an angle."""

    name: str
    moves: bool = False  # where things are in the picture
    mirrors: bool = False
    topples: bool = False
    turns: bool = False
    colours: bool = False
    hides: bool = False


def _moving(*names: str) -> tuple[Transform, ...]:
    return tuple(Transform(name, moves=True) for name in names)


def _plain(*names: str, **what: bool) -> tuple[Transform, ...]:
    return tuple(Transform(name, **what) for name in names)


TRANSFORMS = {
    each.name: each
    for each in (
        *_plain("RandomHorizontalFlip", "HorizontalFlip", "Fliplr", moves=True, mirrors=True),
        *_plain("RandomVerticalFlip", "VerticalFlip", "Flipud", moves=True, topples=True),
        *_plain("Flip", "D4", "SquareSymmetry", "RandomFlip", "RandFlip", "RandAxisFlip", moves=True, mirrors=True, topples=True),
        *_plain("RandomRotate90", "RandRotate90", "Rot90", "Transpose", moves=True, topples=True, turns=True),
        *_plain("RandomRotation", "Rotate", "SafeRotate", "RandRotate", "RandomAffine", "Affine", "ShiftScaleRotate", "RandAffine", moves=True, turns=True),
        *_moving(
            "RandomPerspective", "RandomCrop", "RandomResizedCrop", "RandomSizedCrop", "CropNonEmptyMaskIfExists", "RandomCropNearBBox", "ElasticTransform",
            "GridDistortion", "OpticalDistortion", "PiecewiseAffine", "Perspective", "RandomScale", "RandomGridShuffle", "ThinPlateSpline", "RandomThinPlateSpline",
            "RandomElasticTransform", "RandSpatialCrop", "RandZoom", "Rand2DElastic", "Rand3DElastic", "RandomZoomOut", "RandomIoUCrop", "ScaleJitter",
            "RandomShortestSize", "RandomSizedBBoxSafeCrop", "AtLeastOneBBoxRandomCrop", "RandomElasticDeformation", "RandomMotion", "Crop", "PerspectiveTransform",
        ),
        *_plain("ColorJitter", "HueSaturationValue", "RGBShift", "ChannelShuffle", "RandomHue", "ColorJiggle", "AddToHueAndSaturation", "ToGray", "RandomGrayscale",
                "RandomChannelPermutation", "RandomPhotometricDistort", "PlanckianJitter", "InvertImg", "RandomInvert", "RandomSolarize", "Solarize", "FancyPCA",
                colours=True),
        *_plain("RandomBrightnessContrast", "RandomGamma", "CLAHE", "RandomToneCurve", "GaussNoise", "GaussianNoise", "ISONoise", "GaussianBlur", "Blur", "MotionBlur",
                "MedianBlur", "RandomAdjustSharpness", "RandomAutocontrast", "RandomEqualize", "Equalize", "Posterize", "RandomPosterize", "Sharpen", "Emboss",
                "Downscale", "ImageCompression", "MultiplicativeNoise", "RandomGaussianNoise", "RandomGaussianBlur", "RandGaussianNoise", "RandScaleIntensity",
                "RandomBrightness", "RandomContrast", "RandomNoise", "RandomBiasField"),
        *_plain("CoarseDropout", "RandomErasing", "Cutout", "GridDropout", "Erasing", "PixelDropout", "ChannelDropout", "RandomShadow", "RandomRain", "RandomFog",
                "RandomSnow", "RandomSunFlare", hides=True),
        *_plain("AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix", moves=True, turns=True, colours=True),
    )
}  # fmt: skip

# Functions and methods by their last name, whatever object or library they belong to.
MIRRORING = frozenset(("fliplr", "hflip", "horizontal_flip", "mirror"))
MOVING_CALLS = MIRRORING | frozenset(
    ("flip", "flipud", "vflip", "vertical_flip", "rot90", "rotate", "warpAffine", "warpPerspective", "remap", "affine", "perspective", "crop", "resized_crop",
     "affine_transform", "map_coordinates", "warp", "grid_sample", "elastic_transform", "roll")
)  # fmt: skip
# `im.transpose(Image.FLIP_LEFT_RIGHT)`
MOVING_NAMES = frozenset(
    ("FLIP_LEFT_RIGHT", "FLIP_TOP_BOTTOM", "ROTATE_90", "ROTATE_180", "ROTATE_270", "TRANSPOSE", "TRANSVERSE")
)
READERS = frozenset(
    ("PIL.Image.open", "cv2.imread", "cv2.imdecode", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread", "skimage.io.imread", "matplotlib.pyplot.imread",
     "matplotlib.image.imread", "tifffile.imread", "torchvision.io.read_image", "torchvision.io.decode_image", "nibabel.load", "SimpleITK.ReadImage", "pydicom.dcmread",
     "rasterio.open", "torchvision.datasets.folder.default_loader", "torchvision.datasets.folder.pil_loader")
)  # fmt: skip
