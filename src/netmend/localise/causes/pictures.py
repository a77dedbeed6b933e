"""Pictures that lost what they show before a network saw them."""

from __future__ import annotations

from netmend.diagnose.detectors.pictures import ClassNumbersMixedByResizing, PictureLostOnReading
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, Accusation, accuses
from netmend.localise.effects import ANY
from netmend.vocabulary import Symptom

_LIBRARIES = {"cv2": 0, "PIL": 1, "imageio": 2}
_DEPTH = (
    "Read the pictures as they are (`cv2.IMREAD_UNCHANGED`) and divide by a range that fits them",
    "Leave out the conversion: `np.array(image, dtype=np.float32)` keeps all values; divide by a range that fits them",
    "Read without `mode` or `pilmode` and divide by a range that fits the values",
)
_ALPHA = (
    "Read the pictures as they are (`cv2.IMREAD_UNCHANGED`) and lay them over one colour with their alpha channel: `rgb * a + 255 * (1 - a)`",
    "Lay them over one colour first: `ground = Image.new('RGBA', image.size, 'white'); image = Image.alpha_composite(ground, image.convert('RGBA'))`",
    "Read all four channels and lay the first three over one colour with the fourth",
)


@accuses("PRE-WRONG-PIXEL", PictureLostOnReading)
def picture_lost_on_reading(case: Case, symptom: Symptom) -> Accusation:
    """What a picture shows is lost where it is read or converted.

    An 8-bit picture has 256 values. Depths, heights and scans with 16 bit lose all detail when they are read as grey pictures or are cut off at 255; icons
    drawn in the alpha channel become blank; a picture with a palette is a table of colours and numbers that mean nothing without it.
    """
    what = symptom.detail["what"]
    library = _LIBRARIES.get(str(symptom.detail["call"]).split(".", maxsplit=1)[0], 0)
    reason, remedy = {
        "depth": ("What the pictures show lies in differences that no longer exist behind this line.", _DEPTH[library]),
        "alpha": ("What these pictures show stands in the channel that is dropped here.", _ALPHA[library]),
        "palette": ("Like colours have unlike numbers, so the network sees noise.", 'Convert before anything else: `Image.open(path).convert("RGB")`'),
    }[what]  # fmt: skip
    return Accusation(
        PROVEN + 1.5,
        reason=reason,
        remedy=f"{remedy}.",
        refutation="What is dropped is not needed: the network does as well on pictures that keep it.",
        explains=ANY,
    )


@accuses("PRE-WRONG-STEP", ClassNumbersMixedByResizing)
def class_numbers_mixed(case: Case, symptom: Symptom) -> Accusation:
    """Masks of class numbers are averaged when they get another size.

    Numbers of classes are names. The mean of class 1 and class 4 is no class between them, yet it is taught as class 2 or 3 along every border.
    """
    library = _LIBRARIES.get(str(symptom.detail["call"]).split(".", maxsplit=1)[0], 0)
    nearest = ("`interpolation=cv2.INTER_NEAREST`", "`resample=Image.NEAREST`", "the nearest pixel")[library]
    return Accusation(
        PROVEN + 1.0,
        reason="The network is taught classes along the borders that nobody marked.",
        remedy=f"Take the nearest pixel for masks ({nearest}); pictures may be averaged.",
        refutation="What goes through this line is no mask of class numbers.",
    )
