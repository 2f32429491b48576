"""The peer of bench/distributed.cpp: PyTorch's DistributedDataParallel over Gloo, in processes with one
thread each. Prints "name best median" in microseconds."""

import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS, ROUNDS = 20, 15


def step_time(model, x):
    def steps():
        for _ in range(STEPS):
            model.zero_grad()
            model(x).sum().backward()

    dist.barrier()
    steps()
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        steps()
        rounds.append((time.perf_counter() - start) / STEPS * 1e6)
    rounds.sort()
    return rounds[0], rounds[ROUNDS // 2]


def report(name, times):
    if dist.get_rank() == 0:
        print(f"{name} {times[0]:.1f} {times[1]:.1f}", flush=True)


def small_layers():
    return nn.Sequential(*(nn.Linear(4, 4) for _ in range(50)))


def small_convolutions():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 12, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(192, 120), nn.ReLU(), nn.Linear(120, 60),
        nn.ReLU(), nn.Linear(60, 10))


def compare(name, net, x):
    report(f"{name}.alone", step_time(net, x))
    report(f"{name}.ddp", step_time(DistributedDataParallel(net), x))
    views = DistributedDataParallel(net, gradient_as_bucket_view=True)
    report(f"{name}.ddp_views", step_time(views, x))


def overlap():
    net = nn.Sequential(*(nn.Linear(512, 512) for _ in range(8)))
    x = torch.randn(64, 512)
    for mebibytes, name in ((1, "linear.overlapped"), (1000, "linear.one_bucket")):
        report(name, step_time(DistributedDataParallel(net, bucket_cap_mb=mebibytes), x))


def run(rank, ranks):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(29710 + ranks))
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    compare(f"{ranks}_ranks.tiny", small_layers(), torch.randn(1, 4))
    compare(f"{ranks}_ranks.cnn", small_convolutions(), torch.randn(100, 1, 28, 28))
    if ranks > 1:
        overlap()
    dist.destroy_process_group()


if __name__ == "__main__":
    for count in (1, 2):
        multiprocessing.spawn(run, args=(count,), nprocs=count)
