"""Calls that compute half types in float32."""

import torch

HALVES = (torch.float16, torch.bfloat16)


def widened(call):
    """The call, computed in float32 if its first input has a half type, with the results rounded to that type.
    For ops that PyTorch lacks for half types, or in which it rounds every step. Under autocast, which chooses
    the dtype itself, the call is unchanged."""
    def wide(*inputs):
        dtype = inputs[0].dtype
        if dtype not in HALVES or torch.is_autocast_enabled("cpu"):
            return call(*inputs)
        outputs = call(*(x.float() if x is not None and x.dtype == dtype else x for x in inputs))
        outputs = [outputs] if isinstance(outputs, torch.Tensor) else outputs
        return [x.to(dtype) if x.dtype == torch.float32 else x for x in outputs]

    return wide
