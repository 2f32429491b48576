"""Calls that compute half types in float32."""

import torch

HALVES = (torch.float16, torch.bfloat16)


def widened(call):
    """The call, which computes in float32 if its first input has a half type and rounds the results. For ops
    that PyTorch lacks for these types, or whose single steps it rounds. Autocast chooses the type itself."""
    def wide(*inputs):
        dtype = inputs[0].dtype
        if dtype not in HALVES or torch.is_autocast_enabled("cpu"):
            return call(*inputs)
        outputs = call(*(x.float() if x is not None and x.dtype == dtype else x for x in inputs))
        outputs = [outputs] if isinstance(outputs, torch.Tensor) else outputs
        return [x.to(dtype) if x.dtype == torch.float32 else x for x in outputs]

    return wide
