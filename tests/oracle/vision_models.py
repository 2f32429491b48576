#!/usr/bin/env python3
"""Writes tests/fixtures/vision_models.txt: names and sizes of the parameters and buffers of torchvision's models, and
the outputs for known parameters (fill() here and in tests/vision/models.cpp).

    .venv-peer/bin/python tests/oracle/vision_models.py
"""

from pathlib import Path

import torch
from torchvision import models
from torchvision.models.resnet import BasicBlock, Bottleneck
from torchvision.models.vgg import make_layers


def small_vgg(batch_norm):
    """torchvision's classifier expects 512 channels; this one takes the 8 of a small network."""
    model = models.VGG(make_layers([4, "M", 8, "M"], batch_norm), num_classes=5)
    model.classifier[0] = torch.nn.Linear(8 * 7 * 7, 4096)
    return model


MODELS = {
    "resnet_basic": lambda: models.ResNet(BasicBlock, [1, 2, 1, 1], num_classes=5),
    "resnet_bottleneck": lambda: models.ResNet(Bottleneck, [1, 1, 2, 1], num_classes=5, groups=2, width_per_group=32),
    "vgg": lambda: small_vgg(False),
    "vgg_bn": lambda: small_vgg(True),
    "alexnet": lambda: models.AlexNet(num_classes=5),
    "mobilenet_v2": lambda: models.MobileNetV2(num_classes=5, width_mult=0.25),
    "vit": lambda: models.VisionTransformer(64, 16, 2, 2, 8, 12, num_classes=5, representation_size=6),
}


def fill(state):
    for k, (name, tensor) in enumerate(state.items()):
        if tensor.dim() == 0:
            continue
        wave = torch.sin(torch.arange(tensor.numel(), dtype=torch.float64) * 0.37 + k).reshape(tensor.shape)
        if tensor.dim() > 1:
            wave = wave * (2 / (tensor.numel() / tensor.shape[0]) ** 0.5)
        elif name.endswith(("weight", "running_var")):
            wave = wave * 0.1 + 1
        else:
            wave = wave * 0.1
        tensor.copy_(wave)


def main():
    path = Path(__file__).resolve().parent.parent / "fixtures" / "vision_models.txt"
    image = torch.sin(torch.arange(3 * 64 * 64) * 0.11).reshape(1, 3, 64, 64)
    with open(path, "w") as out, torch.no_grad():
        for name, make in MODELS.items():
            model = make().eval()
            fill(model.state_dict())
            print("model", name, file=out)
            for key, tensor in model.state_dict().items():
                print(key, *tensor.shape, file=out)
            print("output", *(f"{v:.7g}" for v in model(image).flatten().tolist()), file=out)
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
