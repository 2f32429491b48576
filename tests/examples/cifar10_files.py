"""Small files in CIFAR-10's binary format, with images that a network can learn to classify."""

PIXELS, CLASSES = 32 * 32, 10


def record(label, number):
    """The label and an image of one colour, which depends on the label, and a little on the number."""
    red, green, blue = label * 25 + number % 5, 240 - label * 20, (label % 3) * 100 + number % 7
    return bytes([label]) + bytes([red]) * PIXELS + bytes([green]) * PIXELS + bytes([blue]) * PIXELS


def write(folder, train=52, test=40):
    """Writes the six files; `train` images in each of the first five. The labels are 0 to 9 in turn."""
    folder.mkdir(parents=True)
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        records = (record(i % CLASSES, i) for i in range(test if name == "test_batch" else train))
        (folder / f"{name}.bin").write_bytes(b"".join(records))
