"""Input values for the cases of nn_cases.py, and functions that call a module."""

import torch


def values_of(*sizes):
    """Fixed numbers around 0, none of them 0."""
    count = torch.Size(sizes).numel()
    return ((torch.arange(count) * 37 % 101).float() / 50.5 - 0.993).reshape(sizes)


def plain(module, *inputs):
    return module(*inputs)


def twice(module, x):
    """Two calls in training mode, one in evaluation mode."""
    first, second = module(x), module(x * 2 + 1)
    module.eval()
    return first, second, module(x)
