#!/usr/bin/env python3
"""Trains the tutorials' network with PyTorch and with `hearth train`, with the same seed and the
same order of images, and compares the initial weights and the losses of the first 100 steps.

    first_steps.py build/release/hearth [seed ...]

With the learning rates below, rounding errors stay small. With the default (Adam, 0.01), they
decide the signs of some inputs of ReLU within ten steps: after 100 steps, the losses of PyTorch
with one thread and with two threads differ by 2e-2.

Needs torch and Debian's package dataset-fashion-mnist.
"""

import csv
import gzip
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

FOLDER = Path("/usr/share/datasets/fashion-mnist")
STEPS, BATCH_SIZE, TOLERANCE = 100, 100, 1e-4
OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
CASES = [("sgd", 0.01), ("adam", 1e-4)]


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels=1, out_channels=6, kernel_size=5)
        self.conv2 = nn.Conv2d(in_channels=6, out_channels=12, kernel_size=5)
        self.fc1 = nn.Linear(in_features=12 * 4 * 4, out_features=120)
        self.fc2 = nn.Linear(in_features=120, out_features=60)
        self.out = nn.Linear(in_features=60, out_features=10)

    def forward(self, t):
        t = F.max_pool2d(F.relu(self.conv1(t)), kernel_size=2, stride=2)
        t = F.max_pool2d(F.relu(self.conv2(t)), kernel_size=2, stride=2)
        t = F.relu(self.fc1(t.reshape(-1, 12 * 4 * 4)))
        return self.out(F.relu(self.fc2(t)))


def read_idx(name, header):
    data = gzip.decompress((FOLDER / name).read_bytes())
    return torch.frombuffer(bytearray(data[header:]), dtype=torch.uint8)


def read_safetensors(path):
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    return {name: torch.frombuffer(bytearray(data[start:]), dtype=torch.float32,
                                   count=(end - begin) // 4, offset=begin).reshape(entry["shape"])
            for name, entry in header.items() for begin, end in [entry["data_offsets"]]}


def train_pytorch(seed, optimizer, lr, images, labels):
    """The initial weights and the losses."""
    torch.manual_seed(seed)
    network = Network()
    weights = {name: value.clone() for name, value in network.state_dict().items()}
    optimizer = OPTIMIZERS[optimizer](network.parameters(), lr=lr)
    # LibTorch's RandomSampler draws once in its constructor and again for each epoch.
    torch.randperm(len(images))
    order = torch.randperm(len(images))
    losses = []
    for rows in order[:STEPS * BATCH_SIZE].split(BATCH_SIZE):
        loss = F.cross_entropy(network(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return weights, losses


def train_hearth(program, seed, optimizer, lr, count):
    with tempfile.TemporaryDirectory() as folder:
        def run(out, *flags):
            subprocess.run([program, "train", "--out", f"{folder}/{out}", "--device", "cpu",
                            "--seed", str(seed), "--optimizer", optimizer, "--lr", str(lr), "--batch-size", str(BATCH_SIZE),
                            "--limit", str(count), *flags], check=True, stdout=subprocess.DEVNULL)
            return Path(folder, out, "run-1")

        weights = read_safetensors(run("before", "--epochs", "0") / "weights.safetensors")
        with (run("after", "--epochs", "1", "--log-losses") / "losses.csv").open() as file:
            losses = [float(row["loss"]) for row in csv.DictReader(file)]
        return weights, losses


def compare(program, seed, optimizer, lr, images, labels):
    """Prints the comparison; returns whether weights and losses agree."""
    weights, losses = train_pytorch(seed, optimizer, lr, images, labels)
    our_weights, our_losses = train_hearth(program, seed, optimizer, lr, len(images))
    if len(losses) != STEPS or len(our_losses) != STEPS:
        sys.exit(f"expected {STEPS} losses, got {len(losses)} and {len(our_losses)}")
    has_equal_weights = weights.keys() == our_weights.keys() and all(
        torch.equal(value, our_weights[name]) for name, value in weights.items())
    worst = max(abs(a - b) for a, b in zip(losses, our_losses))
    print(f"seed {seed}, {optimizer} {lr}: initial weights {'equal' if has_equal_weights else 'DIFFER'}; "
          f"losses {losses[0]:.4f} to {losses[-1]:.4f}, largest difference {worst:.1e}")
    return has_equal_weights and worst <= TOLERANCE


def main():
    program, *seeds = sys.argv[1:]
    count = STEPS * BATCH_SIZE
    images = read_idx("train-images-idx3-ubyte.gz", 16)[:count * 784]
    images = images.reshape(-1, 1, 28, 28).float() / 255
    labels = read_idx("train-labels-idx1-ubyte.gz", 8)[:count].long()
    agreements = [compare(program, seed, optimizer, lr, images, labels)
            for seed in map(int, seeds or ["0", "1", "2026"]) for optimizer, lr in CASES]
    sys.exit(not all(agreements))


if __name__ == "__main__":
    main()
