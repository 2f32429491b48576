"""PyTorch's calls for the rows of optimizer steps and of lists of tensors (calls.py has all)."""

import torch
from torch.optim import _functional as steps

from widened import widened

# The options of the rows in tests/ops/optim_rows.h.
LR, DECAY, EPS, BETA1, BETA2, STEP = 0.3, 0.1, 1e-2, 0.7, 0.9, 3


def step_of(lists, step):
    """An optimizer step over so many lists: parameters, gradients and lists of state. Returns all
    lists but the gradients."""
    def call(*inputs):
        count = len(inputs) // lists
        split = [[x.detach().clone() for x in inputs[i * count:(i + 1) * count]]
                 for i in range(lists)]
        with torch.no_grad():
            step(*split)
        return split[0] + [x for state in split[2:] for x in state]

    return call


def composed(lists, step):
    """The same for a step that PyTorch composes of several ops. These round each result, Hearth's step
    only the last one."""
    return widened(step_of(lists, step))


def numbers(params, value):
    """A tensor with this number for each parameter. In float64, because the steps read it as a
    Python number."""
    return [torch.tensor(value, dtype=torch.float64) for _ in params]


def fused_sgd(params, grads, buffers=(), momentum=0, decay=DECAY, nesterov_and_maximize=False,
              is_first_step=False):
    torch._fused_sgd_(params, grads, buffers, weight_decay=decay, momentum=momentum, lr=LR,
                      dampening=0.3 if momentum else 0, nesterov=nesterov_and_maximize,
                      maximize=nesterov_and_maximize,
                      is_first_step=is_first_step)


def fused_adam(step, maximize):
    def call(params, grads, means, squares, largest=()):
        counts = [torch.tensor(float(STEP)) for _ in params]
        step(params, grads, means, squares, largest, counts, lr=LR, beta1=BETA1, beta2=BETA2,
             weight_decay=DECAY, eps=EPS, amsgrad=len(largest) > 0, maximize=maximize)

    return call


def fused_adagrad(params, grads, sums):
    torch._fused_adagrad_(params, grads, sums, [torch.tensor(float(STEP)) for _ in params], lr=LR,
                          lr_decay=0.2, weight_decay=DECAY, eps=EPS, maximize=False)


def rmsprop(centered, momentum):
    def call(params, grads, squares, *state):
        means = state[0] if centered else []
        buffers = state[-1] if momentum else []
        steps.rmsprop(
            params, grads, squares, means, buffers, numbers(params, 0),
            foreach=False, lr=LR, alpha=0.6, eps=EPS, weight_decay=DECAY, momentum=momentum,
            centered=centered)

    return call


def nadam(decoupled):
    def call(params, grads, means, squares):
        # PyTorch multiplies the product by this step's factor; Hearth is given the result, 0.2.
        factor = BETA1 * (1 - 0.5 * 0.96 ** (STEP * 0.1))
        steps.nadam(
            params, grads, means, squares, numbers(params, 0.2 / factor), numbers(params, STEP - 1),
            decoupled, foreach=False, maximize=True, beta1=BETA1, beta2=BETA2, lr=LR,
            weight_decay=DECAY, momentum_decay=0.1, eps=EPS)

    return call


def radam(step):
    def call(params, grads, means, squares):
        steps.radam(params, grads, means, squares, numbers(params, step - 1), step > 5,
                    foreach=False, beta1=BETA1, beta2=BETA2, lr=LR, weight_decay=DECAY, eps=EPS)

    return call


def adamax(params, grads, means, norms):
    steps.adamax(params, grads, means, norms, numbers(params, STEP - 1), foreach=False,
                 maximize=True, eps=EPS, beta1=BETA1, beta2=BETA2, lr=LR, weight_decay=DECAY)


def adadelta(params, grads, squares, deltas):
    steps.adadelta(params, grads, squares, deltas, numbers(params, STEP - 1), foreach=False, lr=LR,
                   rho=0.8, eps=EPS, weight_decay=DECAY, maximize=False)


def asgd(mu):
    def call(params, grads, averages):
        steps.asgd(params, grads, averages, numbers(params, mu), numbers(params, LR),
                   numbers(params, STEP - 1), foreach=False, lambd=0.2, lr=LR, t0=1e6, alpha=0.75,
                   weight_decay=DECAY)

    return call


def rprop(params, grads, previous, sizes):
    steps.rprop(params, grads, previous, sizes, numbers(params, STEP - 1), foreach=False,
                step_size_min=0.1, step_size_max=0.9, etaminus=0.5, etaplus=1.2)


def total_norm(order):
    """The norm of all elements of a list, which has no gradient."""
    return lambda *xs: torch.cat([x.detach().flatten() for x in xs]).norm(order)


def clip(params, grads):
    """Multiplies the tensors, as gradients with the norm 4, so that their norm is at most 1."""
    holders = [torch.nn.Parameter(torch.zeros_like(x)) for x in params + grads]
    for holder, x in zip(holders, params + grads):
        holder.grad = x
    torch.nn.utils.clip_grads_with_norm_(holders, 1, torch.tensor(4.0, dtype=params[0].dtype))


def unscale(*xs):
    xs = [x.detach().clone() for x in xs]
    found = torch.tensor(0.0)
    torch._amp_foreach_non_finite_check_and_unscale_(xs, found, torch.tensor(0.375))
    return [*xs, found.to(xs[0].dtype)]


def update_scale(x):
    scale, tracker, outputs = x.detach().to(torch.float32, copy=True), torch.tensor(0, dtype=torch.int32), []
    for found in (0, 0, 1, 0, 0, 0, 2, 0):
        torch._amp_update_scale_(scale, tracker, torch.tensor(float(found)), 2, 0.25, 2)
        outputs.append(scale.to(x.dtype, copy=True))
    return outputs


CALLS = {
    "fused_sgd": step_of(2, fused_sgd),
    "fused_sgd_nesterov": step_of(3, lambda p, g, b: fused_sgd(p, g, b, 0.8, nesterov_and_maximize=True)),
    "fused_sgd_first": step_of(3, lambda p, g, b: fused_sgd(p, g, b, 0.8, 0, is_first_step=True)),
    "fused_adam": step_of(4, fused_adam(torch._fused_adam_, True)),
    "fused_adamw_amsgrad": step_of(5, fused_adam(torch._fused_adamw_, False)),
    "fused_adagrad": step_of(3, fused_adagrad),
    "fused_rmsprop": composed(3, rmsprop(False, 0)),
    "fused_rmsprop_momentum": composed(4, rmsprop(False, 0.7)),
    "fused_rmsprop_centered": composed(4, rmsprop(True, 0)),
    "fused_rmsprop_centered_momentum": composed(5, rmsprop(True, 0.7)),
    "fused_nadam": composed(4, nadam(False)),
    "fused_nadam_decoupled": composed(4, nadam(True)),
    "fused_radam_early": composed(4, radam(3)),
    "fused_radam": composed(4, radam(9)),
    "fused_adamax": composed(4, adamax),
    "fused_adadelta": composed(4, adadelta),
    "fused_asgd": composed(3, asgd(0.25)),
    "fused_asgd_copy": composed(3, asgd(1)),
    "fused_rprop": composed(4, rprop),
    "foreach_lerp": step_of(2, lambda xs, ys: torch._foreach_lerp_(xs, ys, 0.25)),
    "foreach_lerp_far": step_of(2, lambda xs, ys: torch._foreach_lerp_(xs, ys, 0.75)),
    "fused_total_norm": total_norm(2),
    "fused_total_norm_0": total_norm(0),
    "fused_total_norm_1": total_norm(1),
    "fused_total_norm_3": total_norm(3),
    "fused_total_norm_max": total_norm(float("inf")),
    "fused_total_norm_min": total_norm(-float("inf")),
    "fused_clip": step_of(2, clip),
    "amp_unscale": unscale,
    "amp_update_scale": update_scale,
}
