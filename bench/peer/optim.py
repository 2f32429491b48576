"""The peer of bench/optim.cpp: PyTorch's optimizers, with fused steps where they exist, else foreach steps, but Adafactor and
LBFGS as by default. Prints "name best median" in microseconds. The argument is the number of threads."""

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
    "nadam": lambda p: torch.optim.NAdam(p, lr=1e-6, foreach=True),
    "radam": lambda p: torch.optim.RAdam(p, lr=1e-6, foreach=True),
    "adamax": lambda p: torch.optim.Adamax(p, lr=1e-6, foreach=True),
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=1e-6, foreach=True),
    "asgd": lambda p: torch.optim.ASGD(p, lr=1e-6, foreach=True),
    "rprop": lambda p: torch.optim.Rprop(p, lr=1e-6, foreach=True),
    "adafactor": lambda p: torch.optim.Adafactor(p, lr=1e-6),
}


def report(name, step, rounds):
    times = []
    for _ in range(rounds + 3):
        start = time.perf_counter()
        step()
        times.append((time.perf_counter() - start) * 1e6)
    times = sorted(times[3:])
    print(f"{name:16} {times[0]:10.1f} {times[len(times) // 2]:10.1f}")


def report_all(name, make_params, rounds):
    for kind, make in OPTIMIZERS.items():
        report(f"{name}_{kind}", make(make_params()).step, rounds)
    params = make_params()
    report(f"{name}_clip_norm", lambda: torch.nn.utils.clip_grad_norm_(params, 1e9).item(), rounds)


def report_lbfgs(name, **options):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.Tanh(), torch.nn.Linear(256, 10))
    x, y = torch.randn(128, 256), torch.randn(128, 10)
    optimizer = torch.optim.LBFGS(net.parameters(), **options)

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        return loss

    report(name, lambda: optimizer.step(closure), 15)


def report_lbfgs_vectors():
    param = torch.zeros(1_000_000).requires_grad_()
    param.grad = torch.randn(1_000_000)
    loss = torch.ones(())
    optimizer = torch.optim.LBFGS([param], lr=1e-3, history_size=10, tolerance_change=-1)

    @torch.no_grad()
    def closure():
        param.grad.mul_(0.99)
        return loss

    report("lbfgs_vectors", lambda: optimizer.step(closure), 15)


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    report_all("resnet50", resnet50, 15)
    report_all("small", small_tensors, 300)
    report_lbfgs("lbfgs")
    report_lbfgs("lbfgs_wolfe", line_search_fn="strong_wolfe")
    report_lbfgs_vectors()


if __name__ == "__main__":
    main()
