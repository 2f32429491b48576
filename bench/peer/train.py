#!/usr/bin/env python3
"""The peer of `hearth train --batch-size 1000`: the tutorials' training loop with PyTorch's DataLoader. train.py
<workers> <epochs> times epochs of torchvision's FashionMNIST ("images") and of the same images as tensors in memory
("tensors"). Prints "name best median" in milliseconds per epoch; the name ends with the number of workers."""

import sys
import time

import torch
from torch import nn
from torchvision import transforms

from data import FashionMNIST

BATCH = 1000


def network():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 12, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(192, 120), nn.ReLU(), nn.Linear(120, 60), nn.ReLU(), nn.Linear(60, 10))


def train_epoch(model, optimizer, loader):
    """The tutorials' loop: counts the loss and the correct predictions of each batch."""
    total_loss, correct = 0.0, 0
    for images, labels in loader:
        predictions = model(images)
        loss = nn.functional.cross_entropy(predictions, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(images)
        correct += predictions.argmax(dim=1).eq(labels).sum().item()
    return total_loss, correct


def report(name, dataset, workers, epochs):
    loader = torch.utils.data.DataLoader(dataset, BATCH, shuffle=True, num_workers=workers)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    times = []
    for _ in range(epochs):
        begin = time.perf_counter()
        train_epoch(model, optimizer, loader)
        times.append((time.perf_counter() - begin) * 1e3)
    times.sort()
    print(f"{name}_{workers} {times[0]:.1f} {times[len(times) // 2]:.1f}")


def main():
    workers, epochs = int(sys.argv[1]), int(sys.argv[2])
    images = FashionMNIST(transforms.ToTensor())
    tensors = torch.utils.data.TensorDataset(images.data.unsqueeze(1).float().div_(255), images.targets)
    report("images", images, workers, epochs)
    report("tensors", tensors, workers, epochs)


if __name__ == "__main__":
    main()
