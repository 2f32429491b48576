"""Small files in MNIST's format, with images that a network can learn to classify."""

import struct

SIZE, CLASSES = 28, 10


def image(label, number):
    """A bar whose position depends on the label and whose brightness depends on the number."""
    rows = [bytes(SIZE)] * SIZE
    for row in range(2 * label + 2, 2 * label + 6):
        rows[row] = bytes(4) + bytes([100 + number % 150]) * (SIZE - 8) + bytes(4)
    return b"".join(rows)


def write(folder, train=120, test=40):
    """Writes the four files; the labels are 0 to 9 in turn."""
    folder.mkdir(parents=True)
    # The files begin with 0x803 for bytes in three dimensions and 0x801 for bytes in one.
    for name, count in (("train", train), ("t10k", test)):
        labels = [i % CLASSES for i in range(count)]
        images = b"".join(image(label, i) for i, label in enumerate(labels))
        (folder / f"{name}-images-idx3-ubyte").write_bytes(
            struct.pack(">4i", 0x803, count, SIZE, SIZE) + images)
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(
            struct.pack(">2i", 0x801, count) + bytes(labels))
