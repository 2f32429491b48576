"""bench/optim.cpp in PyTorch, with fused steps where they exist and foreach steps for rmsprop.
Prints "name best median" in microseconds. The argument is the number of threads."""

import sys
import time

import torch


def with_grad(size):
    param = torch.randn(size).requires_grad_()
    param.grad = torch.randn(size)
    return param


def convolution(inputs, outputs, kernel):
    return [with_grad((outputs, inputs, kernel, kernel)), with_grad((outputs,)),
            with_grad((outputs,))]


def resnet50():
    params = convolution(3, 64, 7)
    inputs, width = 64, 64
    for blocks in (3, 4, 6, 3):
        for block in range(blocks):
            params += convolution(inputs, width, 1) + convolution(width, width, 3)
            params += convolution(width, 4 * width, 1)
            if block == 0:
                params += convolution(inputs, 4 * width, 1)
            inputs = 4 * width
        width *= 2
    return params + [with_grad((1000, 2048)), with_grad((1000,))]


def small_tensors():
    return [with_grad(size) for _ in range(100) for size in ((16, 16), (16,))]


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-6, fused=True),
    "momentum": lambda p: torch.optim.SGD(p, lr=1e-6, momentum=0.9, weight_decay=1e-4, fused=True),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-6, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-6, fused=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-6, foreach=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-6, fused=True),
}


def report(name, optimizer, rounds):
    times = []
    for _ in range(rounds + 3):
        start = time.perf_counter()
        optimizer.step()
        times.append((time.perf_counter() - start) * 1e6)
    times = sorted(times[3:])
    print(f"{name:16} {times[0]:10.1f} {times[len(times) // 2]:10.1f}")


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for name, make in OPTIMIZERS.items():
        report("resnet50_" + name, make(resnet50()), 15)
    for name, make in OPTIMIZERS.items():
        report("small_" + name, make(small_tensors()), 300)


if __name__ == "__main__":
    main()
