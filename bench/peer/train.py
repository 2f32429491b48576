#!/usr/bin/env python3
"""Times an epoch of the tutorials' network on Fashion-MNIST, batch 1000, without workers. `train.py [row...]` times
the tutorials' loop in Python: the row "train_images" loads a dataset like torchvision's FashionMNIST by PyTorch's DataLoader,
"train_tensors" the same images as tensors in memory. `train.py --hearth PROGRAM [row...]` times `hearth train` once for
both rows, and needs no PyTorch. Prints "row best median" in microseconds."""

import csv
import os
import subprocess
import sys
import tempfile
import time

ROWS = ("train_images", "train_tensors")
BATCH, EPOCHS = 1000, 3


def report(name, seconds):
    microseconds = sorted(value * 1e6 for value in seconds)
    print(f"{name} {microseconds[0]:.0f} {microseconds[len(microseconds) // 2]:.0f}")


def time_hearth(program):
    """The seconds of each epoch of `hearth train`."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        subprocess.run([program, "train", "--epochs", str(EPOCHS), "--batch-size", str(BATCH), "--device", "cpu",
                        "--no-tensorboard", "--out", out], check=True, capture_output=True)
        with open(os.path.join(out, "results.csv"), encoding="utf-8") as file:
            return [float(row["epoch_duration"]) for row in csv.DictReader(file)]


def network(nn):
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 12, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(192, 120), nn.ReLU(), nn.Linear(120, 60), nn.ReLU(), nn.Linear(60, 10))


def train_epoch(model, loss_of, optimizer, loader):
    """The tutorials' loop, which adds up the loss and the correct predictions of the batches."""
    total_loss, correct = 0.0, 0
    for images, labels in loader:
        predictions = model(images)
        loss = loss_of(predictions, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(images)
        correct += predictions.argmax(dim=1).eq(labels).sum().item()
    return total_loss, correct


def time_pytorch(row):
    """The seconds of each epoch of the loop."""
    import torch
    from torchvision import transforms
    from data import FashionMNIST

    dataset = FashionMNIST(transforms.ToTensor())
    if row == "train_tensors":
        dataset = torch.utils.data.TensorDataset(dataset.data.unsqueeze(1).float().div_(255), dataset.targets)
    loader = torch.utils.data.DataLoader(dataset, BATCH, shuffle=True)
    model = network(torch.nn)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    seconds = []
    for _ in range(EPOCHS):
        begin = time.perf_counter()
        train_epoch(model, torch.nn.functional.cross_entropy, optimizer, loader)
        seconds.append(time.perf_counter() - begin)
    return seconds


def main():
    arguments = sys.argv[1:]
    hearth = arguments[1] if arguments[:1] == ["--hearth"] else None
    rows = arguments[2 if hearth else 0:] or ROWS
    seconds = time_hearth(hearth) if hearth else None
    for row in rows:
        report(row, seconds or time_pytorch(row))


if __name__ == "__main__":
    main()
