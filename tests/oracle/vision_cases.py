#!/usr/bin/env python3
"""Writes tests/fixtures/vision_cases.txt: torchvision's transforms of one image, from a seed.

    .venv-peer/bin/python tests/oracle/vision_cases.py

Needs torchvision and Pillow beside PyTorch. A line is "<name> <dtype> <sizes> <values>". The image is
that of image() in tests/vision/images.h. Each random transform is called three times after
manual_seed(1234).
"""

from pathlib import Path

import torch
from torchvision import transforms as T
from torchvision.transforms import InterpolationMode as I
from torchvision.transforms import functional as F
from torchvision.transforms import v2
from torchvision.utils import make_grid

torch.set_num_threads(1)


def image(channels=3, height=7, width=9):
    count = channels * height * width
    return ((torch.arange(count) * 37 + torch.arange(count) // 9 * 11) % 256).to(torch.uint8).reshape(
        channels, height, width)


CORNERS = [[0, 0], [8, 0], [8, 6], [0, 6]]
DISPLACEMENT = ((torch.arange(126) * 29 % 64).float() / 160 - 0.2).view(1, 7, 9, 2)
MATRIX = ((torch.arange(189 * 189) * 13) % 31).float().view(189, 189) / 1e5

# The functions, called with an image of bytes.
BYTES = {
    "resize_short": lambda x: F.resize(x, [4]),
    "resize_max": lambda x: F.resize(x, [6], max_size=7),
    "resize_up": lambda x: F.resize(x, [10, 12]),
    "resize_plain": lambda x: F.resize(x, [4, 5], antialias=False),
    "resize_nearest": lambda x: F.resize(x, [4, 5], I.NEAREST),
    "resize_exact": lambda x: F.resize(x, [4, 5], I.NEAREST_EXACT),
    "resize_cubic": lambda x: F.resize(x, [5, 6], I.BICUBIC),
    "center_crop": lambda x: F.center_crop(x, [4, 4]),
    "center_crop_large": lambda x: F.center_crop(x, [10, 6]),
    "crop_outside": lambda x: F.crop(x, -1, 5, 4, 6),
    "pad_constant": lambda x: F.pad(x, [1, 2], 7),
    "pad_edge": lambda x: F.pad(x, [1, 0, 2, 1], padding_mode="edge"),
    "pad_reflect": lambda x: F.pad(x, [2], padding_mode="reflect"),
    "pad_symmetric": lambda x: F.pad(x, [2, 1], padding_mode="symmetric"),
    "ten_crop": lambda x: torch.stack(F.ten_crop(x, [3, 4])),
    "five_crop": lambda x: torch.stack(T.FiveCrop((3, 4))(x)),
    "ten_crop_vertical": lambda x: torch.stack(T.TenCrop(3, vertical_flip=True)(x)),
    "hflip": F.hflip,
    "vflip": F.vflip,
    "rotate": lambda x: F.rotate(x, 30),
    "rotate_fill": lambda x: F.rotate(x, -70, I.BILINEAR, fill=[9, 8, 7]),
    "rotate_expand": lambda x: F.rotate(x, 45, I.NEAREST, expand=True, fill=[5]),
    "rotate_center": lambda x: F.rotate(x, 20, I.BILINEAR, center=[2, 3]),
    "affine": lambda x: F.affine(x, 15, [1, -2], 1.2, [10.0, -5.0], I.BILINEAR),
    "affine_nearest": lambda x: F.affine(x, -40, [0, 1], 0.7, [0.0, 0.0], I.NEAREST, fill=[100]),
    "gray": lambda x: F.rgb_to_grayscale(x, 3),
    "brightness": lambda x: F.adjust_brightness(x, 1.3),
    "contrast": lambda x: F.adjust_contrast(x, 0.4),
    "saturation": lambda x: F.adjust_saturation(x, 1.7),
    "hue": lambda x: F.adjust_hue(x, 0.2),
    "gamma": lambda x: F.adjust_gamma(x, 0.6, 1.1),
    "sharpness": lambda x: F.adjust_sharpness(x, 1.8),
    "blurred": lambda x: F.adjust_sharpness(x, 0.0),
    "invert": F.invert,
    "posterize": lambda x: F.posterize(x, 3),
    "solarize": lambda x: F.solarize(x, 100),
    "autocontrast": lambda x: F.autocontrast((x // 2 + 30)),
    "equalize": lambda x: F.equalize((x // 4)),
    "gaussian_blur": lambda x: F.gaussian_blur(x, [3, 5], [0.8, 1.5]),
    "to_float": lambda x: F.convert_image_dtype(x, torch.float32),
    "to_short": lambda x: F.convert_image_dtype(x, torch.int16),
    "pad_edge_negative": lambda x: F.pad(x, [-1, 2, 1, -1], padding_mode="edge"),
    "pad_reflect_negative": lambda x: F.pad(x, [-2, 0, 4, -1], padding_mode="reflect"),
    "pad_symmetric_negative": lambda x: F.pad(x, [-1, -2, 7, 3], padding_mode="symmetric"),
    "resize_mask": lambda x: F.resize(x > 128, [10, 4], antialias=False),
    "resize_mask_cubic": lambda x: F.resize(x > 128, [14, 18], I.BICUBIC),
    "rotate_mask": lambda x: F.rotate(x > 200, 20, I.BILINEAR),
    "perspective": lambda x: F.perspective(x, CORNERS, [[1, 1], [7, 0], [8, 6], [0, 5]]),
    "perspective_fill": lambda x: F.perspective(
        x, CORNERS, [[2, 1], [6, 1], [8, 4], [1, 5]], I.NEAREST, [9, 8, 7]),
    "elastic": lambda x: F.elastic_transform(x, DISPLACEMENT, fill=[3]),
    "elastic_nearest": lambda x: F.elastic_transform(x, -DISPLACEMENT, I.NEAREST),
    "linear": lambda x: T.LinearTransformation(MATRIX, MATRIX[0])(x),
    "erase": lambda x: F.erase(x, 1, 2, 3, 4, torch.tensor(9)),
    "grid": lambda x: make_grid(torch.stack([x, x // 2, x // 3]), nrow=2, padding=1, pad_value=3),
    "grid_gray": lambda x: make_grid(x.unsqueeze(1) / 255, nrow=5, normalize=True, scale_each=True),
}
# The functions that are also called with a floating-point image.
FLOATS = {
    "resize_short", "resize_plain", "resize_cubic", "pad_reflect", "rotate_fill", "affine", "gray", "contrast",
    "hue", "gamma", "sharpness", "invert", "gaussian_blur", "perspective", "elastic",
}
RANDOM = {
    "RandomCrop": T.RandomCrop(5, 1),
    "RandomCropIfNeeded": T.RandomCrop((12, 4), pad_if_needed=True, fill=3),
    "RandomResizedCrop": T.RandomResizedCrop(5),
    "RandomResizedCropNarrow": T.RandomResizedCrop((4, 6), (1.5, 2), (0.2, 0.4)),
    "RandomHorizontalFlip": T.RandomHorizontalFlip(),
    "RandomVerticalFlip": T.RandomVerticalFlip(0.3),
    "RandomRotation": T.RandomRotation(40),
    "RandomAffine": T.RandomAffine(20, (0.2, 0.3), (0.8, 1.4), [-5, 5, -3, 8], I.BILINEAR, 6),
    "ColorJitter": T.ColorJitter(0.4, 0.3, 0.2, 0.1),
    "RandomGrayscale": T.RandomGrayscale(0.5),
    "RandomInvert": T.RandomInvert(),
    "RandomPosterize": T.RandomPosterize(4),
    "RandomSolarize": T.RandomSolarize(90),
    "RandomAdjustSharpness": T.RandomAdjustSharpness(2),
    "RandomAutocontrast": T.RandomAutocontrast(),
    "RandomEqualize": T.RandomEqualize(),
    "GaussianBlur": T.GaussianBlur(3),
    "RandomApply": T.RandomApply([T.RandomHorizontalFlip(0.9), T.RandomCrop(4)], 0.7),
    "RandomErasing": T.RandomErasing(0.9),
    "RandomErasingColors": T.RandomErasing(0.9, (0.1, 0.2), (0.5, 2), [1, 2, 3]),
    "RandAugment": T.RandAugment(3, 15),
    "RandomPerspective": T.RandomPerspective(0.6, 0.8),
    "RandomPerspectiveFill": T.RandomPerspective(1, 1, I.NEAREST, [7, 8, 9]),
    "ElasticTransform": T.ElasticTransform(20.0, 0.4),
    "ElasticTransformFill": T.ElasticTransform([9.0, 30.0], [0.3, 0.6], I.NEAREST, 5),
    "RandomChoice": v2.RandomChoice([T.RandomCrop(5), T.RandomHorizontalFlip(), F.invert], [0.2, 0.5, 0.9]),
    "RandomChoiceEqual": v2.RandomChoice([F.hflip, F.vflip, F.invert]),
    "RandomOrder": v2.RandomOrder([T.RandomCrop(5), lambda x: F.adjust_brightness(x, 0.7), F.invert]),
    "Compose": T.Compose([T.RandomCrop(6), T.RandomHorizontalFlip(),
                          T.ConvertImageDtype(torch.float32), T.Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.4])]),
}

# The policies draw one of many transforms: the sums of the results of many calls, and the mean image.
POLICIES = {
    "AutoAugmentImagenet": T.AutoAugment(),
    "AutoAugmentCifar10": T.AutoAugment(T.AutoAugmentPolicy.CIFAR10, fill=[9, 8, 7]),
    "AutoAugmentSvhn": T.AutoAugment(T.AutoAugmentPolicy.SVHN, I.BILINEAR),
    "TrivialAugmentWide": T.TrivialAugmentWide(),
    "AugMix": T.AugMix(),
    "AugMixColorless": T.AugMix(8, 2, 4, 0.4, False, I.NEAREST, [5]),
    "RandAugmentMany": T.RandAugment(5, 20),
}
POLICY_CALLS = 150


def results_of(transform, x):
    """The sums of the results' values, of many calls, and the mean result."""
    torch.manual_seed(1234)
    results = [transform(x) for _ in range(POLICY_CALLS)]
    return torch.stack([result.sum() for result in results]), torch.stack(results).double().mean(0)


def text_of(tensor):
    sizes = "x".join(map(str, tensor.shape)) or "-"
    return " ".join([str(tensor.dtype).removeprefix("torch."), sizes, *(f"{v:.9g}" for v in tensor.reshape(-1).tolist())])


def main():
    path = Path(__file__).resolve().parent.parent / "fixtures" / "vision_cases.txt"
    x = image()
    with open(path, "w") as out:
        for name, call in BYTES.items():
            print(name, text_of(call(x)), file=out)
        for name in sorted(FLOATS):
            print("float." + name, text_of(BYTES[name](x / 255)), file=out)
        for name, transform in RANDOM.items():
            torch.manual_seed(1234)
            for i in range(3):
                print(f"{name}.{i}", text_of(transform(x)), file=out)
        batch = torch.stack([x, x.flip(0)])
        policies = [(name, transform, x) for name, transform in POLICIES.items()] + [("AugMixBatch", T.AugMix(), batch)]
        for name, transform, images in policies:
            sums, mean = results_of(transform, images)
            print("sums." + name, text_of(sums), file=out)
            print("mean." + name, text_of(mean), file=out)
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
