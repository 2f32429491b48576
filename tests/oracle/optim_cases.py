#!/usr/bin/env python3
"""Prints tests/fixtures/optim_cases.txt: parameters after steps of PyTorch's optimizers, and the
learning rates of its schedulers.

    optim_cases.py > tests/fixtures/optim_cases.txt

A case begins with a line "<kind> <name> <dtype>". Its other lines are "<step> <values>". The kinds:

    case      an optimizer; the values are the parameters after the step. The gradients are computed
              without autograd, so that they are equal bit for bit in C++ and Python
              (tests/optim/agreement.cpp has the same optimizers)
    search    LBFGS; the values are the number of evaluations so far, the loss that step() returns,
              and the parameters (tests/optim/lbfgs.cpp)
    schedule  a scheduler; the values are the learning rates and the momentums of the groups
              (tests/optim/schedule_agreement.cpp)
"""

import warnings

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
            is_skipped = number == 1 and step % 3 == 0
            param.grad = None if is_skipped else gradient(number, param, step)
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
    "adam_decoupled": lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1,
                                                 decoupled_weight_decay=True),
    "nadam": lambda p: torch.optim.NAdam(p),
    "nadam_decoupled": lambda p: torch.optim.NAdam(groups(p), lr=0.01, betas=(0.8, 0.99), eps=1e-6,
                                                   weight_decay=0.1, momentum_decay=0.02,
                                                   decoupled_weight_decay=True),
    "nadam_maximize": lambda p: torch.optim.NAdam(p, lr=1e-3, weight_decay=0.1, maximize=True),
    "radam": lambda p: torch.optim.RAdam(p),
    "radam_decoupled": lambda p: torch.optim.RAdam(groups(p), lr=0.01, betas=(0.8, 0.99),
                                                   weight_decay=0.1, decoupled_weight_decay=True),
    "radam_maximize": lambda p: torch.optim.RAdam(p, betas=(0.9, 0.7), weight_decay=0.1, eps=1e-4,
                                                  maximize=True),
    "adamax": lambda p: torch.optim.Adamax(p),
    "adamax_maximize": lambda p: torch.optim.Adamax(groups(p), lr=1e-3, betas=(0.8, 0.99), eps=0.1,
                                                    weight_decay=0.1, maximize=True),
    "adadelta": lambda p: torch.optim.Adadelta(p),
    "adadelta_maximize": lambda p: torch.optim.Adadelta(groups(p), lr=0.1, rho=0.8, eps=1e-4,
                                                        weight_decay=0.1, maximize=True),
    "asgd": lambda p: torch.optim.ASGD(p),
    "asgd_averaged": lambda p: torch.optim.ASGD(groups(p), lr=0.05, lambd=0.02, alpha=0.6, t0=20,
                                                weight_decay=0.1),
    "asgd_maximize": lambda p: torch.optim.ASGD(p, lr=1e-3, t0=1, maximize=True),
    "rprop": lambda p: torch.optim.Rprop(p),
    "rprop_groups": lambda p: torch.optim.Rprop(groups(p), lr=0.1, etas=(0.25, 1.5),
                                                step_sizes=(0.0078125, 2)),
    "rprop_maximize": lambda p: torch.optim.Rprop(p, lr=2 ** -10, step_sizes=(2 ** -12, 2 ** -8),
                                                  maximize=True),
    "adafactor": lambda p: torch.optim.Adafactor(p),
    "adafactor_decay": lambda p: torch.optim.Adafactor(groups(p), lr=0.05, beta2_decay=-0.5,
                                                       eps=(1e-6, 0.01), d=1.5, weight_decay=0.1),
    "adafactor_maximize": lambda p: torch.optim.Adafactor(p, lr=1e-3, maximize=True),
    "muon": lambda p: torch.optim.Muon(p[1:2]),
    "muon_adamw": lambda p: torch.optim.Muon(p[1:2], lr=0.01, weight_decay=0.2, momentum=0.8,
                                             nesterov=False, ns_steps=3, eps=1e-5,
                                             ns_coefficients=(3.0, -3.0, 1.0),
                                             adjust_lr_fn="match_rms_adamw"),
}


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def network(params):
    """The error of a small network whose weights are the parameters."""
    x = torch.linspace(-2, 2, 12, dtype=params[0].dtype).reshape(12, 1)
    hidden = torch.tanh(x @ params[0] + params[1])
    return ((hidden @ params[2] - torch.sin(2 * x)) ** 2).mean()


def wave_of(sizes, dtype):
    """A tensor of values of the cosine."""
    count = int(torch.tensor(sizes).prod())
    return torch.cos(torch.arange(1, 1 + count, dtype=torch.float64)).reshape(sizes).to(dtype)


LOSSES = {
    "rosenbrock": (lambda p: rosenbrock(p[0]), lambda dtype: [
        torch.tensor([-1.2, 1.0, 0.5], dtype=dtype)]),
    "network": (network, lambda dtype: [
        wave_of((1, 5), dtype), wave_of((5,), dtype), wave_of((5, 1), dtype)]),
}

# Python limits the evaluations of a line search by max_eval, which LibTorch does not do.
SEARCHES = {
    "fixed": {"lr": 0.1, "max_iter": 5},
    "fixed_short": {"lr": 0.05, "max_iter": 4, "history_size": 2, "max_eval": 3},
    "strong_wolfe": {"line_search_fn": "strong_wolfe", "max_iter": 5, "max_eval": 1000},
    "strong_wolfe_short": {"line_search_fn": "strong_wolfe", "lr": 0.5, "max_iter": 3,
                           "history_size": 2, "max_eval": 1000},
    "tolerant": {"line_search_fn": "strong_wolfe", "max_iter": 5, "max_eval": 1000,
                 "tolerance_grad": 1e-2, "tolerance_change": 1e-3},
}


def search_case(loss_name, name, dtype):
    """Lines of the number of evaluations, the loss and the parameters after each step."""
    print("search", loss_name + "_" + name, str(dtype).split(".")[1])
    loss_of, initial_parameters = LOSSES[loss_name]
    params = [p.requires_grad_() for p in initial_parameters(dtype)]
    optimizer = torch.optim.LBFGS(params, **SEARCHES[name])
    evaluations = 0

    def closure():
        nonlocal evaluations
        evaluations += 1
        optimizer.zero_grad()
        loss = loss_of(params)
        loss.backward()
        return loss

    for step in range(1, 9):
        loss = optimizer.step(closure)
        print(step, evaluations, repr(loss.item()),
              *(repr(x) for p in params for x in p.flatten().tolist()))


def metric(epoch):
    return 1 / (1 + epoch) + (0.25 if epoch % 5 == 0 else 0)


def one_after_another(optimizer):
    """Two schedulers, both of which are stepped in each epoch."""
    first = lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 10)
    second = lr_scheduler.CosineAnnealingLR(optimizer, 30, 1e-3)

    def step(_):
        first.step()
        second.step()
    return step


def jumping(make):
    """Calls step(epoch) every third time, and step() otherwise."""
    def made(optimizer):
        scheduler = make(optimizer)
        return lambda epoch: scheduler.step(*([epoch * 7 % 50] if epoch % 3 == 0 else []))
    return made


def in_fractions(make):
    """Calls step(epoch) with fractional epochs, and every fifth time step()."""
    def made(optimizer):
        scheduler = make(optimizer)
        return lambda epoch: scheduler.step(*([epoch * 0.3] if epoch % 5 < 4 else []))
    return made


def resumed(make):
    """The second scheduler of an optimizer. The first one has set the initial learning rates."""
    def made(optimizer):
        lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5)
        return make(optimizer)
    return made


def wave(epoch):
    return 0.95 if epoch % 2 else 1.04


def cycle(optimizer, **options):
    return lr_scheduler.CyclicLR(optimizer, **{"base_lr": 0.01, "max_lr": 0.1, **options})


def sequence_of_three(optimizer, milestones, **options):
    return lr_scheduler.SequentialLR(optimizer, [
        lr_scheduler.ConstantLR(optimizer, 0.1, 4), lr_scheduler.LinearLR(optimizer, 0.5, 1, 12),
        lr_scheduler.ExponentialLR(optimizer, 0.9)], milestones, **options)


def sequence_of_all(optimizer):
    """A sequence of schedulers that can start at a milestone."""
    return lr_scheduler.SequentialLR(optimizer, [
        lr_scheduler.ExponentialLR(optimizer, 0.9), lr_scheduler.StepLR(optimizer, 2, 0.5),
        lr_scheduler.MultiStepLR(optimizer, [0, 3, 4], 0.5),
        lr_scheduler.ConstantLR(optimizer, 0.2, 3), lr_scheduler.LinearLR(optimizer),
        lr_scheduler.PolynomialLR(optimizer, 6, 2.0),
        lr_scheduler.CosineAnnealingLR(optimizer, 4, 0.001),
        lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch)),
        lr_scheduler.MultiplicativeLR(optimizer, wave),
        lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3, 2),
        cycle(optimizer, step_size_up=4), lr_scheduler.OneCycleLR(optimizer, 0.3, 2000)],
        list(range(6, 72, 6)))


def chain(optimizer):
    return lr_scheduler.ChainedScheduler([
        lr_scheduler.ConstantLR(optimizer, 0.5, 10), lr_scheduler.ExponentialLR(optimizer, 0.99),
        lr_scheduler.PolynomialLR(optimizer, 500, 0.9)])


def sequence(optimizer, milestones=(7,)):
    return lr_scheduler.SequentialLR(optimizer, [
        lr_scheduler.ExponentialLR(optimizer, 0.8), lr_scheduler.StepLR(optimizer, 5, 0.7)],
        list(milestones))


SCHEDULERS = {
    "step": lambda o: lr_scheduler.StepLR(o, 4, 0.5),
    "multi_step": lambda o: lr_scheduler.MultiStepLR(o, [3, 8, 8, 30], 0.3),
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, 0.97),
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, 12, 0.004),
    "cosine_to_zero": lambda o: lr_scheduler.CosineAnnealingLR(o, 1000),
    "linear": lambda o: lr_scheduler.LinearLR(o),
    "linear_down": lambda o: lr_scheduler.LinearLR(o, 1.0, 0.2, 40),
    "constant": lambda o: lr_scheduler.ConstantLR(o),
    "constant_long": lambda o: lr_scheduler.ConstantLR(o, 0.25, 20),
    "constant_without_end": lambda o: lr_scheduler.ConstantLR(o, 0, -3),
    "polynomial": lambda o: lr_scheduler.PolynomialLR(o),
    "polynomial_power": lambda o: lr_scheduler.PolynomialLR(o, 50, 2.5),
    "polynomial_never": lambda o: lr_scheduler.PolynomialLR(o, -3),
    "lambda": lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.95 ** epoch),
    "lambdas": lambda o: lr_scheduler.LambdaLR(
        o, [lambda epoch: 1 / (1 + epoch), lambda epoch: 1 + epoch % 3]),
    "multiplicative": lambda o: lr_scheduler.MultiplicativeLR(o, wave),
    "multiplicatives": lambda o: lr_scheduler.MultiplicativeLR(o, [wave, lambda epoch: 0.99]),
    "warm_restarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 7),
    "warm_restarts_longer": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3, 2, 0.001),
    "one_cycle": lambda o: lr_scheduler.OneCycleLR(o, 0.3, total_steps=1000),
    "one_cycle_linear": lambda o: lr_scheduler.OneCycleLR(
        o, [0.3, 0.5], epochs=100, steps_per_epoch=10, pct_start=0.2, anneal_strategy="linear",
        base_momentum=0.8, max_momentum=[0.9, 0.99], div_factor=10, final_div_factor=100),
    "one_cycle_three_phases": lambda o: lr_scheduler.OneCycleLR(
        o, 0.3, total_steps=1000, three_phase=True, cycle_momentum=False),
    "cyclic": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1),
    "cyclic_short": lambda o: lr_scheduler.CyclicLR(o, [0.01, 0.002], [0.1, 0.3], 8, 4),
    "cyclic_sawtooth": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 5, 0, cycle_momentum=False),
    "cyclic_triangular2": lambda o: cycle(o, step_size_up=5, mode="triangular2",
                                          base_momentum=[0.7, 0.6], max_momentum=0.95),
    "cyclic_exp_range": lambda o: cycle(o, step_size_up=4, step_size_down=6, mode="exp_range",
                                        gamma=0.98),
    "cyclic_scale_of_cycle": lambda o: cycle(o, step_size_up=6, mode="other",
                                             scale_fn=lambda x: 1 / (x + 1)),
    "cyclic_scale_of_iterations": lambda o: cycle(
        o, step_size_up=6, mode="triangular2", scale_fn=lambda x: 0.5 + 0.4 * (x % 3),
        scale_mode="iterations"),
    "plateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=0.5, patience=3, cooldown=2),
    "plateau_max": lambda o: lr_scheduler.ReduceLROnPlateau(
        o, mode="max", factor=0.7, patience=2, threshold=0.01, threshold_mode="abs",
        min_lr=[1e-3, 2e-3]),
    "swa": lambda o: torch.optim.swa_utils.SWALR(o, 0.05),
    "swa_linear": lambda o: torch.optim.swa_utils.SWALR(o, [0.05, 0.3], 20, "linear"),
    "swa_at_once": lambda o: torch.optim.swa_utils.SWALR(o, 0.05, 0),
    "one_after_another": one_after_another,
    "chained": chain,
    "sequential": lambda o: sequence_of_three(o, [10, 30]),
    "sequential_at_once": lambda o: sequence_of_three(o, [0, 5]),
    "sequential_skipping": lambda o: sequence_of_three(o, [9, 9]),
    "sequential_unsorted": lambda o: sequence_of_three(o, [20, 8]),
    "sequential_of_all": sequence_of_all,
    "sequential_of_one": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o, 0.1, 9)], []),
    "sequential_of_chain": lambda o: lr_scheduler.SequentialLR(
        o, [chain(o), lr_scheduler.CosineAnnealingLR(o, 9)], [20]),
    "sequential_of_sequence": lambda o: lr_scheduler.SequentialLR(
        o, [sequence(o), lr_scheduler.CosineAnnealingWarmRestarts(o, 9)], [20]),
    "sequential_of_short_sequence": lambda o: lr_scheduler.SequentialLR(
        o, [sequence(o, [1]), lr_scheduler.ExponentialLR(o, 0.95)], [20]),
    "chain_of_sequence": lambda o: lr_scheduler.ChainedScheduler(
        [sequence(o), lr_scheduler.ConstantLR(o, 0.4, 15)]),
    "step_jumping": jumping(lambda o: lr_scheduler.StepLR(o, 4, 0.5)),
    "multi_step_jumping": jumping(lambda o: lr_scheduler.MultiStepLR(o, [3, 8, 8, 30], 0.3)),
    "constant_jumping": jumping(lambda o: lr_scheduler.ConstantLR(o, 0.25, 20)),
    "linear_jumping": jumping(lambda o: lr_scheduler.LinearLR(o, 0.2, 0.9, 25)),
    "exponential_jumping": jumping(lambda o: lr_scheduler.ExponentialLR(o, 0.97)),
    "polynomial_jumping": jumping(lambda o: lr_scheduler.PolynomialLR(o, 40, 1.5)),
    "cosine_jumping": jumping(lambda o: lr_scheduler.CosineAnnealingLR(o, 12, 0.004)),
    "lambda_jumping": jumping(lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.95 ** epoch)),
    "cyclic_jumping": jumping(lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 8, 4)),
    "warm_restarts_jumping": jumping(
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 4, 3, 0.001)),
    "warm_restarts_fractions": in_fractions(
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 4)),
    "warm_restarts_longer_fractions": in_fractions(
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, 2)),
    "constant_resumed": resumed(lambda o: lr_scheduler.ConstantLR(o, 0.5, 9, last_epoch=3)),
    "polynomial_resumed": resumed(lambda o: lr_scheduler.PolynomialLR(o, 90, last_epoch=3)),
    "multiplicative_resumed": resumed(
        lambda o: lr_scheduler.MultiplicativeLR(o, wave, last_epoch=3)),
    "cyclic_resumed": resumed(lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 8, last_epoch=3)),
    "cyclic_second": resumed(lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 8)),
    "warm_restarts_resumed": resumed(
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 7, 2, last_epoch=3)),
    "sequential_resumed": lambda o: sequence_of_three(o, [10, 30], last_epoch=3),
}


def stepping(scheduler):
    """A function of the epoch that steps a scheduler."""
    if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau):
        return lambda epoch: scheduler.step(metric(epoch))
    return scheduler if callable(scheduler) else lambda _: scheduler.step()


def scheduler_case(name, make, optimizer_of):
    print("schedule", name, "float64")
    a, b = torch.zeros(1), torch.zeros(1)
    optimizer = optimizer_of([{"params": [a]}, {"params": [b], "lr": 0.02}])
    step = stepping(make(optimizer))
    for epoch in range(max(STEPS) + 1):
        if epoch <= 72 or epoch in STEPS:
            rates = [group["lr"] for group in optimizer.param_groups]
            momentums = [group["momentum"] if "momentum" in group else group["betas"][0]
                         for group in optimizer.param_groups]
            print(epoch, *map(repr, rates + momentums))
        optimizer.step()
        if epoch < max(STEPS):
            step(epoch)


def main():
    warnings.simplefilter("ignore", UserWarning)
    for name, make in OPTIMIZERS.items():
        optimizer_case(name, make, torch.float64)
        optimizer_case(name, make, torch.float32)
    for loss in LOSSES:
        for name in SEARCHES:
            search_case(loss, name, torch.float64)
    for name, make in SCHEDULERS.items():
        scheduler_case(name, make, lambda g: torch.optim.SGD(g, lr=0.1, momentum=0.9))
    for name in ("one_cycle", "cyclic_short"):
        scheduler_case(name + "_adam", SCHEDULERS[name], lambda g: torch.optim.Adam(g, lr=0.1))


if __name__ == "__main__":
    main()
