#!/usr/bin/env python3
"""Prints tests/fixtures/optim_cases.txt: three parameters after up to 1,000 steps of PyTorch's
optimizers, and the learning rates of its schedulers. tests/optim/agreement.cpp does the same steps.

    optim_cases.py > tests/fixtures/optim_cases.txt

A case is a line "case <name> <dtype>" and lines "<step> <values>": the parameters after the step, or
the rates and momentums of the groups. The gradients are computed without autograd, so that they are
equal bit for bit in C++ and Python.
"""

import torch
from torch.optim import lr_scheduler

STEPS = (1, 2, 3, 10, 100, 1000)
SIZES = ((3,), (2, 2), ())


def parameters(dtype):
    return [torch.arange(1, 1 + int(torch.tensor(size).prod()), dtype=dtype).reshape(size) / 4
            for size in SIZES]


def gradient(number, param, step):
    """A gradient towards (number - 1) / 2, with a slope per element and an offset per step."""
    slope = torch.arange(1, 1 + param.numel(), dtype=param.dtype).reshape(param.shape) / 8
    push = (step * 7 % 11 - 5) / 16
    return (param - (number - 1) / 2) * slope + push


def optimizer_case(name, make, dtype):
    print("case", name, str(dtype).split(".")[1])
    params = parameters(dtype)
    optimizer = make(params)
    for step in range(1, max(STEPS) + 1):
        for number, param in enumerate(params):
            skipped = number == 1 and step % 3 == 0
            param.grad = None if skipped else gradient(number, param, step)
        optimizer.step()
        if step in STEPS:
            print(step, *(repr(x) for p in params for x in p.flatten().tolist()))


def groups(params):
    """Two groups; the second has its own learning rate."""
    return [{"params": params[:2]}, {"params": params[2:], "lr": 0.02}]


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "sgd_momentum": lambda p: torch.optim.SGD(groups(p), lr=0.05, momentum=0.9, dampening=0.1,
                                              weight_decay=0.01),
    "sgd_nesterov_maximize": lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.8, nesterov=True,
                                                       maximize=True),
    "adam": lambda p: torch.optim.Adam(p),
    "adam_groups": lambda p: torch.optim.Adam(groups(p), lr=0.01, betas=(0.8, 0.99), eps=1e-6,
                                              weight_decay=0.02),
    "adam_amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "adam_maximize": lambda p: torch.optim.Adam(p, lr=1e-3, weight_decay=0.1, maximize=True),
    "adamw": lambda p: torch.optim.AdamW(p),
    "adamw_amsgrad": lambda p: torch.optim.AdamW(p, lr=0.01, betas=(0.85, 0.95), weight_decay=0.1,
                                                 amsgrad=True),
    "adamw_maximize": lambda p: torch.optim.AdamW(groups(p), lr=1e-3, maximize=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p),
    "rmsprop_momentum": lambda p: torch.optim.RMSprop(p, lr=1e-3, alpha=0.9, momentum=0.7,
                                                      weight_decay=0.01),
    "rmsprop_centered": lambda p: torch.optim.RMSprop(p, lr=1e-3, centered=True, eps=1e-4),
    "rmsprop_centered_momentum": lambda p: torch.optim.RMSprop(
        p, lr=1e-3, centered=True, momentum=0.9, eps=1e-4, maximize=True),
    "adagrad": lambda p: torch.optim.Adagrad(p),
    "adagrad_decay": lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.01, weight_decay=0.02,
                                                   initial_accumulator_value=0.3),
    "adagrad_maximize": lambda p: torch.optim.Adagrad(p, lr=1e-3, maximize=True),
}


def metric(epoch):
    return 1 / (1 + epoch) + (0.25 if epoch % 5 == 0 else 0)


def chained(optimizer):
    first = lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 10)
    second = lr_scheduler.CosineAnnealingLR(optimizer, 30, 1e-3)

    def step():
        first.step()
        second.step()
    return step


SCHEDULERS = {
    "step": lambda o: lr_scheduler.StepLR(o, 4, 0.5).step,
    "multi_step": lambda o: lr_scheduler.MultiStepLR(o, [3, 8, 8, 30], 0.3).step,
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, 0.97).step,
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, 12, 0.004).step,
    "cosine_to_zero": lambda o: lr_scheduler.CosineAnnealingLR(o, 1000).step,
    "linear": lambda o: lr_scheduler.LinearLR(o).step,
    "linear_down": lambda o: lr_scheduler.LinearLR(o, 1.0, 0.2, 40).step,
    "lambda": lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.95 ** epoch).step,
    "lambdas": lambda o: lr_scheduler.LambdaLR(
        o, [lambda epoch: 1 / (1 + epoch), lambda epoch: 1 + epoch % 3]).step,
    "one_cycle": lambda o: lr_scheduler.OneCycleLR(o, 0.3, total_steps=1000).step,
    "one_cycle_linear": lambda o: lr_scheduler.OneCycleLR(
        o, [0.3, 0.5], epochs=100, steps_per_epoch=10, pct_start=0.2, anneal_strategy="linear",
        base_momentum=0.8, max_momentum=[0.9, 0.99], div_factor=10, final_div_factor=100).step,
    "one_cycle_three_phases": lambda o: lr_scheduler.OneCycleLR(
        o, 0.3, total_steps=1000, three_phase=True, cycle_momentum=False).step,
    "plateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=0.5, patience=3, cooldown=2),
    "plateau_max": lambda o: lr_scheduler.ReduceLROnPlateau(
        o, mode="max", factor=0.7, patience=2, threshold=0.01, threshold_mode="abs",
        min_lr=[1e-3, 2e-3]),
    "chained": chained,
}


def scheduler_case(name, make, optimizer_of):
    print("case", name, "float64")
    a, b = torch.zeros(1), torch.zeros(1)
    optimizer = optimizer_of([{"params": [a]}, {"params": [b], "lr": 0.02}])
    scheduler = make(optimizer)
    for epoch in range(max(STEPS) + 1):
        if epoch <= 40 or epoch in STEPS:
            rates = [group["lr"] for group in optimizer.param_groups]
            momentums = [group["momentum"] if "momentum" in group else group["betas"][0]
                         for group in optimizer.param_groups]
            print(epoch, *map(repr, rates + momentums))
        optimizer.step()
        if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau):
            scheduler.step(metric(epoch))
        elif epoch < 1000:
            scheduler()


def main():
    for name, make in OPTIMIZERS.items():
        optimizer_case(name, make, torch.float64)
        optimizer_case(name, make, torch.float32)
    for name, make in SCHEDULERS.items():
        scheduler_case(name, make, lambda g: torch.optim.SGD(g, lr=0.1, momentum=0.9))
    scheduler_case("one_cycle_adam", SCHEDULERS["one_cycle"],
                   lambda g: torch.optim.Adam(g, lr=0.1))


if __name__ == "__main__":
    main()
