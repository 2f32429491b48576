#!/usr/bin/env python3
"""Prints tests/fixtures/grad_scaler.txt: 100 steps with PyTorch's GradScaler on the CPU.

    grad_scaler.py > tests/fixtures/grad_scaler.txt

A case is a line "case <name> <dtype>" and lines of steps: the number of the step, the scale and the
growth tracker after it, then the parameters' elements. "rules" has two optimizers and gradients
that are computed without autograd, so that they are equal bit for bit in C++. In float16 they
overflow when the scale has grown. "network" trains a small network under autocast; it has lines of
the first five steps and of every tenth. tests/optim/grad_scaler.cpp does the same.
"""

import torch

STEPS = 100
NON_FINITE_STEPS = (3, 4, 40, 77)


def show(step, scaler, params):
    print(step, repr(scaler.get_scale()), scaler.state_dict()["_growth_tracker"],
          *(repr(x) for p in params for x in p.detach().flatten().tolist()))


def ramp(*size):
    count = int(torch.tensor(size).prod())
    return ((torch.arange(count) * 5 % 7 - 3) / 8).reshape(size)


def rules_case(dtype):
    print("case rules", str(dtype).split(".")[1])
    params = [ramp(3), ramp(2, 2)]
    optimizers = [torch.optim.SGD(params[:1], lr=0.05, momentum=0.9),
                  torch.optim.Adam(params[1:], lr=0.01)]
    scaler = torch.amp.GradScaler("cpu", init_scale=1024, growth_interval=4, backoff_factor=0.25)
    for step in range(1, STEPS + 1):
        scaler.scale(torch.ones(()))
        scale = scaler.get_scale()
        for number, param in enumerate(params):
            gradient = (param - number / 2) * scale
            if step in NON_FINITE_STEPS and number == step % 2:
                gradient[-1] = float("nan" if step == 40 else "inf")
            param.grad = gradient.to(dtype).to(torch.float32)
        if step % 3 == 0:
            scaler.unscale_(optimizers[0])
        for optimizer in optimizers:
            scaler.step(optimizer)
        if step == 50:
            scaler.update(4096.0)
        else:
            scaler.update()
        show(step, scaler, params)


def network_case(dtype):
    print("case network", str(dtype).split(".")[1])
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    with torch.no_grad():
        for param in net.parameters():
            param.copy_(ramp(*param.shape))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=256, growth_interval=8)
    x = ramp(5, 4)
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype):
            out = net(x)
            loss = ((out.float() - x[:, :1]) ** 2).mean()
        if step in NON_FINITE_STEPS:
            loss = loss * float("inf")
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        if step % 10 == 0 or step <= 5:
            show(step, scaler, net.parameters())


for dtype in (torch.float16, torch.bfloat16):
    rules_case(dtype)
    network_case(dtype)
