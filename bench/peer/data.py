#!/usr/bin/env python3
"""The peer of bench/data.cpp: PyTorch's DataLoader with two workers. The rows "examples" and "batches" are the same
measurement, of a dataset like torchvision's FashionMNIST with ToTensor and Normalize; "tensors" indexes whole batches of a tensor
by __getitems__. Prints "name best median" in microseconds per batch."""

import gzip
import sys
import time

import numpy
import torch
from PIL import Image
from torchvision import transforms

FOLDER = "/usr/share/datasets/fashion-mnist"
BATCH = 100


class FashionMNIST(torch.utils.data.Dataset):
    """Does for each example what torchvision's FashionMNIST does, but reads the files of the Debian package."""

    def __init__(self, transform):
        with gzip.open(f"{FOLDER}/train-images-idx3-ubyte.gz") as file:
            images = numpy.frombuffer(file.read(), numpy.uint8, offset=16).reshape(-1, 28, 28)
        with gzip.open(f"{FOLDER}/train-labels-idx1-ubyte.gz") as file:
            labels = numpy.frombuffer(file.read(), numpy.uint8, offset=8)
        self.data, self.targets = torch.tensor(images), torch.tensor(labels).long()
        self.transform = transform

    def __getitem__(self, index):
        image, target = self.data[index], int(self.targets[index])
        return self.transform(Image.fromarray(image.numpy(), mode="L")), target

    def __len__(self):
        return len(self.data)


class Tensors(torch.utils.data.Dataset):
    """Whole batches of tensors in memory, which is the fastest way through a DataLoader with workers."""

    def __init__(self, images, targets, transform):
        self.data, self.targets = images.unsqueeze(1).float().div_(255), targets
        self.transform = transform

    def __getitems__(self, indices):
        return self.transform(self.data[indices]), self.targets[indices]

    def __len__(self):
        return len(self.data)


def report(names, loader, epochs):
    times = []
    for _ in range(epochs):
        begin = time.perf_counter()
        seen = sum(len(data) for data, _ in loader)
        times.append((time.perf_counter() - begin) * 1e6 / (seen / BATCH))
    times.sort()
    for name in names:
        print(f"{name} {times[0]:.1f} {times[len(times) // 2]:.1f}")


def main():
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    normalize = transforms.Normalize((0.286,), (0.353,))
    dataset = FashionMNIST(transforms.Compose([transforms.ToTensor(), normalize]))
    loader = torch.utils.data.DataLoader(dataset, BATCH, shuffle=True, num_workers=2)
    report(("examples", "batches"), loader, epochs)
    tensors = Tensors(dataset.data, dataset.targets, normalize)
    loader = torch.utils.data.DataLoader(tensors, BATCH, shuffle=True, num_workers=2, collate_fn=lambda batch: batch)
    report(("tensors",), loader, epochs)


if __name__ == "__main__":
    main()
