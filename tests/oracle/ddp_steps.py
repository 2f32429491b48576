#!/usr/bin/env python3
"""Trains a small network with PyTorch's DistributedDataParallel over Gloo, in two processes, and
writes rank 0's parameters afterwards, one line per case: its name and the numbers.

    ddp_steps.py > tests/fixtures/ddp_steps.txt
"""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel

RANKS, STEPS, ROWS = 2, 4, 12
PORT = "29657"


def make_network():
    network = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3)).double()
    with torch.no_grad():
        for number, parameter in enumerate(network.parameters()):
            values = torch.arange(parameter.numel(), dtype=torch.double) * 0.7 + number
            parameter.copy_(values.sin().view_as(parameter) / 2)
    return network


def batch(step, rank):
    t = torch.arange(ROWS * 6, dtype=torch.double).view(ROWS, 6)
    x, y = (t * 0.37 + step).sin(), (t[:, :3] * 0.21 - step).cos()
    rows = ROWS // RANKS
    return x[rank * rows:(rank + 1) * rows], y[rank * rows:(rank + 1) * rows]


def train(rank, hook=None, join=None, accumulate=1, **options):
    """The parameters after the steps. `join` is divide_by_initial_world_size of the context model.join(); if
    it is None, the steps run without that context."""
    network = make_network()
    model = DistributedDataParallel(network, **options)
    if hook:
        model.register_comm_hook(None, hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def steps(count):
        for step in range(count):
            x, y = batch(step, rank)
            if (step + 1) % accumulate:
                with model.no_sync():
                    mse_loss(model(x), y).backward()
                continue
            mse_loss(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()

    if join is None:
        steps(STEPS)
    else:
        with model.join(divide_by_initial_world_size=join):
            steps(STEPS - 2 * rank)
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


CASES = {
    "plain": {},
    "views": {"gradient_as_bucket_view": True},
    "find_unused": {"find_unused_parameters": True},
    "static_graph": {"static_graph": True},
    "accumulate": {"accumulate": 2},
    "join": {"join": True},
    "join_divided": {"join": False},
    "fp16": {"hook": default_hooks.fp16_compress_hook},
}


def run(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=PORT)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    for name, options in CASES.items():
        values = train(rank, **options)
        if rank == 0:
            sys.stdout.write(f"{name} {' '.join(map(repr, values.tolist()))}\n")
            sys.stdout.flush()
    dist.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.spawn(run, nprocs=RANKS)
