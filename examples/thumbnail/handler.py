"""Makes images smaller: POST one, get a thumbnail back."""

import io

from PIL import Image

FORMATS = ("JPEG", "PNG", "GIF", "WEBP")
LARGEST = 1024
USAGE = """\
POST an image to get a smaller one of the same format:

    curl --data-binary @photo.jpg '…/?size=128' --output small.jpg
"""


def handler(request):
    if request.method != "POST":
        return USAGE
    try:
        size = int(request.query.get("size", "128"))
    except ValueError:
        size = 0
    if not 0 < size <= LARGEST:
        return f"size must be a number from 1 to {LARGEST}.\n", 400
    try:
        return shrink(request.body(), size)
    except Image.DecompressionBombError:
        return "The image has too many pixels.\n", 413
    except (OSError, SyntaxError):  # what Pillow raises for what is broken or no image at all
        return f"The body must be an image: {', '.join(FORMATS)}.\n", 415


def shrink(body, size):
    """The image within a square of that many pixels, its proportions kept."""
    image = Image.open(io.BytesIO(body), formats=FORMATS)
    kind = "JPEG" if image.format == "MPO" else image.format  # phones wrap theirs
    image.thumbnail((size, size))
    small = io.BytesIO()
    image.save(small, format=kind)
    return small.getvalue(), 200, {"content-type": Image.MIME[kind]}
