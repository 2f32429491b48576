"""PyTorch's calls for the rows of Hearth's op table."""

import torch
import torch.nn.functional as F


def same(x, *_):
    return x


def batch_norm(training):
    def call(x, weight, bias, mean, var):
        mean, var = (None if t is None else t.clone() for t in (mean, var))
        out = torch.nn.functional.batch_norm(x, mean, var, weight, bias, training, 0.3, 1e-3)
        return (out,) if mean is None else (out, mean, var)

    return call


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


def fused_sgd(params, grads, buffers=(), momentum=0, decay=0.1, nesterov_and_maximize=False,
              is_first_step=False):
    torch._fused_sgd_(params, grads, buffers, weight_decay=decay, momentum=momentum, lr=0.3,
                      dampening=0.3 if momentum else 0, nesterov=nesterov_and_maximize,
                      maximize=nesterov_and_maximize,
                      is_first_step=is_first_step)


def fused_adam(step, maximize):
    def call(params, grads, means, squares, largest=()):
        steps = [torch.tensor(3.0) for _ in params]
        step(params, grads, means, squares, largest, steps, lr=0.3, beta1=0.7, beta2=0.9,
             weight_decay=0.1, eps=1e-2, amsgrad=len(largest) > 0, maximize=maximize)

    return call


def fused_adagrad(params, grads, sums):
    torch._fused_adagrad_(params, grads, sums, [torch.tensor(3.0) for _ in params], lr=0.3,
                          lr_decay=0.2, weight_decay=0.1, eps=1e-2, maximize=False)


def rmsprop(centered, momentum):
    def call(params, grads, squares, *state):
        means = state[0] if centered else []
        buffers = state[-1] if momentum else []
        torch.optim._functional.rmsprop(
            params, grads, squares, means, buffers, [torch.tensor(0.0) for _ in params],
            foreach=False, lr=0.3, alpha=0.6, eps=1e-2, weight_decay=0.1, momentum=momentum,
            centered=centered)

    return call


def losses(function, **arguments):
    """The results of a loss for each reduction."""
    def call(*inputs):
        return [function(*inputs, reduction=r, **arguments) for r in ("none", "mean", "sum")]

    return call


def nll_loss(x, target, weight):
    return losses(F.nll_loss, weight=weight, ignore_index=1)(x, target)


def cross_entropy(smoothing):
    def call(x, target, weight):
        return F.cross_entropy(x, target, weight, reduction="sum", label_smoothing=smoothing)

    return call


def entropy(x, target, weight):
    return losses(F.binary_cross_entropy, weight=weight)(0.45 * x, 0.45 * target)


def logit_entropy(x, target, weight=None, pos_weight=None):
    return losses(F.binary_cross_entropy_with_logits, weight=weight, pos_weight=pos_weight)(x, target)


def cosine_embedding(a, b):
    return F.cosine_embedding_loss(a, b, torch.ones(len(a)), reduction="none")


def hinge_embedding(x):
    return F.hinge_embedding_loss(x, -torch.ones(len(x), dtype=torch.long), reduction="none")


def in_place(method):
    def call(self, *others):
        copy = self.clone()
        getattr(copy, method)(*others)
        return copy

    return call


def conv(name, **arguments):
    return lambda x, weight, bias: getattr(torch, name)(x, weight, bias, **arguments)


def pool(name, *arguments, **named):
    return lambda x: getattr(torch.nn.functional, name)(x, *arguments, **named)


def fractional_pool(name, dims):
    def call(x):
        samples = torch.tensor([0.3, 0.55], dtype=x.dtype).reshape(1, 2, 1).expand(2, 2, dims)
        return getattr(torch._C._nn, name)(x, [2] * dims, [3] * dims, samples)

    return call


def unpool(name, size, *arguments):
    def call(x):
        spatial = x.shape[-len(size):]
        indices = (torch.arange(spatial.numel()) * 2).reshape(spatial).expand(x.shape)
        return getattr(torch._C._nn, name)(x, indices.contiguous(), size, *arguments)

    return call


# By the row's name. For other rows, compare.py calls the function or method of that name in torch.
CALLS = {
    "gelu": torch.nn.functional.gelu,
    "add_alpha": lambda a, b: torch.add(a, b, alpha=3),
    "sub": lambda a, b: torch.sub(a, b, alpha=2),
    "add_number": lambda x: torch.add(x, 3, alpha=2),
    "sub_number": lambda x: torch.sub(x, 3, alpha=2),
    "mul_number": lambda x: x * 3,
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "fmod_number": lambda x: torch.fmod(x, 3),
    "sum_dim": lambda x: x.sum(1),
    "sum_keepdim": lambda x: x.sum(-1, keepdim=True),
    "sum_dims": lambda x: x.sum((0, -1)),
    "sum_to_size": lambda x, y: x.sum_to_size(y.shape),
    "mean_dim": lambda x: x.mean(0),
    "mean_dims_keepdim": lambda x: x.mean((-1, 0), keepdim=True),
    "max_dim": lambda x: x.max(1),
    "max_dim_keepdim": lambda x: x.max(-1, keepdim=True),
    "min_dim": lambda x: x.min(1),
    "min_dim_keepdim": lambda x: x.min(-1, keepdim=True),
    "amax_dims": lambda x: x.amax((0, -1), keepdim=True),
    "amin_dim": lambda x: x.amin(1),
    "argmax_dim": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(keepdim=True),
    "argmin_dim": lambda x: x.argmin(-2, keepdim=True),
    "aminmax_dim": lambda x: torch.aminmax(x, dim=-1, keepdim=True),
    "var_dim": lambda x: x.var(1, correction=0, keepdim=True),
    "std": lambda x: x.std(correction=0),
    "std_correction": lambda x: x.std((0, -1), correction=1.5),
    "var_mean": lambda x: torch.var_mean(x, 1, keepdim=True),
    "std_mean": lambda x: torch.std_mean(x, 1, keepdim=True),
    "prod_dim": lambda x: x.prod(1),
    "logsumexp": lambda x: x.logsumexp(1),
    "norm_0": lambda x: x.norm(0),
    "norm_1": lambda x: x.norm(1, 1),
    "norm_3": lambda x: x.norm(3, (0, -1), keepdim=True),
    "norm_half": lambda x: x.norm(0.5, 1),
    "norm_inf": lambda x: x.norm(float("inf"), 0),
    "norm_minus_inf": lambda x: x.norm(-float("inf"), 1, keepdim=True),
    "count_nonzero_dim": lambda x: x.count_nonzero(1),
    "nansum": lambda x: x.nansum(1),
    "all_dim": lambda x: x.all(1),
    "any_dims": lambda x: x.any((0, -1), keepdim=True),
    "cumsum": lambda x: x.cumsum(0),
    "cumsum_last": lambda x: x.cumsum(-1),
    "cumprod": lambda x: x.cumprod(1),
    "cumprod_zeros": lambda x: x.cumprod(0),
    "logcumsumexp": lambda x: x.logcumsumexp(-1),
    "cummax": lambda x: x.cummax(1),
    "cummax_ties": lambda x: x.cummax(0),
    "cummin": lambda x: x.cummin(0),
    "cummin_ties": lambda x: x.cummin(1),
    "sort": lambda x: x.sort(stable=True, dim=-1),
    "sort_descending": lambda x: x.sort(stable=True, dim=0, descending=True),
    "sort_ties": lambda x: x.sort(stable=True, dim=0),
    "sort_ties_descending": lambda x: x.sort(stable=True, dim=-1, descending=True),
    "topk": lambda x: x.topk(2),
    "topk_smallest": lambda x: x.topk(2, 0, largest=False),
    # PyTorch does not specify which of several equal elements it selects.
    "topk_ties": lambda x: tuple(t.narrow(-1, 0, 2) for t in x.sort(stable=True, dim=-1, descending=True)),
    "kthvalue": lambda x: x.kthvalue(2, 1, keepdim=True),
    "median_dim": lambda x: x.median(1, keepdim=True),
    "nanmedian_dim": lambda x: x.nanmedian(1, keepdim=True),
    "mode": lambda x: x.mode(-1, keepdim=True),
    "searchsorted": lambda s, x: torch.searchsorted(s.detach().sort()[0], x.detach()),
    "_unique2": lambda x: torch._unique2(x, True, True, True),
    "unique_consecutive": lambda x: torch.unique_consecutive(x, True, True),
    "unique_dim": lambda x: torch._VF.unique_dim(x, 0, True, True, True),
    "bincount": lambda x: torch.bincount(x, minlength=2),
    "addmm_scaled": lambda c, a, b: torch.addmm(c, a, b, beta=2, alpha=3),
    "addmm_without_self": lambda c, a, b: torch.addmm(c, a, b, beta=0),
    "select": lambda x: x.select(1, -1),
    "slice": lambda x: x[:, 1::2],
    "narrow": lambda x: x.narrow(-2, 1, 1),
    "permute": lambda x: x.permute(2, 0, -2),
    "transpose": lambda x: x.transpose(0, -1),
    "expand": lambda x: x.expand(2, -1, 4),
    "view": lambda x: x.contiguous().view(2, -1),
    "reshape": lambda x: x.reshape(-1, 2),
    "flatten": lambda x: x.flatten(1),
    "unsqueeze": lambda x: x.unsqueeze(-2),
    "squeeze_dim": lambda x: x.squeeze(-1),
    "alias": torch.ops.aten.alias,
    "as_strided": lambda x: x.contiguous().as_strided((3, 2), (1, 1), 1),
    "cat": lambda *xs: torch.cat(xs),
    "cat_last": lambda *xs: torch.cat(xs, -1),
    "stack": lambda *xs: torch.stack(xs, 1),
    "split": lambda x: x.split(2),
    "split_sizes": lambda x: x.split([1, 0, 4]),
    "chunk": lambda x: x.chunk(4),
    "gather": lambda x, i: x.gather(1, i),
    # PyTorch has no gradient where src is larger than the index.
    "scatter_add": lambda x, i, s: x.scatter_add(1, i, s[: i.shape[0], : i.shape[1]]),
    "index": lambda x, i: x[i],
    "index_apart": lambda x, i, j: x[i, :, j],
    "index_put": lambda x, i, v: x.clone().index_put_((i,), v),
    "index_put_accumulate": lambda x, i, v: x.clone().index_put_((i,), v, accumulate=True),
    "flip": lambda x: x.flip(0, -1),
    "roll": lambda x: x.roll((1, -2), (0, -1)),
    "roll_flat": lambda x: x.roll(2),
    "tril_above": lambda x: x.tril(1),
    "triu_below": lambda x: x.triu(-1),
    "diagonal": lambda x: x.diagonal(1, 0, -1),
    "diag_embed": lambda x: x.diag_embed(-1),
    "diagflat": lambda x: x.diagflat(2),
    "diag_of_vector": lambda x: x.diag(),
    "diag": lambda x: x.diag(-1),
    "unfold_overlapping": lambda x: x.unfold(0, 3, 1),
    "unfold_apart": lambda x: x.unfold(0, 3, 4),
    "select_scatter": lambda x, y: x.select_scatter(y, 1, 1),
    "slice_scatter": lambda x, y: x.slice_scatter(y, 1, 1, 2),
    "repeat": lambda x: x.repeat(2, 1, 3),
    "repeat_interleave": lambda x: x.repeat_interleave(3, 1),
    "movedim": lambda x: x.movedim((0, 1), (-1, 0)),
    "unflatten": lambda x: x.contiguous().unflatten(0, (2, -1)),
    "squeeze_dims": lambda x: x.squeeze((0, 2)),
    "view_dtype": lambda x: x.detach().view(x.dtype),
    "pad_constant": lambda x: torch.nn.functional.pad(x, (1, 2)),
    "pad_reflect": lambda x: torch.nn.functional.pad(x, (1, 2), "reflect"),
    "pad_reflect_2d": lambda x: torch.nn.functional.pad(x, (1, 2) * 2, "reflect"),
    "pad_reflect_3d": lambda x: torch.nn.functional.pad(x, (1, 2) * 3, "reflect"),
    "pad_replicate": lambda x: torch.nn.functional.pad(x, (1, 2), "replicate"),
    "pad_replicate_2d": lambda x: torch.nn.functional.pad(x, (1, 2) * 2, "replicate"),
    "pad_replicate_3d": lambda x: torch.nn.functional.pad(x, (1, 2) * 3, "replicate"),
    "pad_circular": lambda x: torch.nn.functional.pad(x, (1, 2), "circular"),
    # PyTorch has no gradient where src is larger than the index.
    "scatter": lambda x, i, s: x.scatter(0, i, s[: i.shape[0]]),
    "scatter_add_to": lambda x, i, s: x.detach().scatter(0, i, s.detach(), reduce="add"),
    "scatter_multiply": lambda x, i, s: x.detach().scatter(0, i, s.detach(), reduce="multiply"),
    "scatter_value": lambda x, i: x.scatter(0, i, 3),
    "index_select": lambda x, i: x.index_select(1, i),
    "index_add": lambda x, i, s: x.index_add(1, i, s),
    "index_copy": lambda x, i, s: x.index_copy(1, i, s),
    "index_fill": lambda x, i: x.index_fill(1, i, 3),
    "masked_fill": lambda x, m: x.masked_fill(m, 2),
    "masked_fill_tensor": lambda x, m, v: x.masked_fill(m, v),
    "take_along_dim": lambda x, i: x.take_along_dim(i, 1),
    "embedding": lambda w, i: torch.embedding(w, i),
    "embedding_padding": lambda w, i: torch.embedding(w, i, 1),
    "embedding_by_frequency": lambda w, i: torch.embedding(w, i, -1, True),
    "one_hot": lambda x: torch.nn.functional.one_hot(x, 4),
    "addmv": lambda s, m, v: torch.addmv(s, m, v, beta=2, alpha=3),
    "addr": lambda s, a, b: torch.addr(s, a, b, beta=2, alpha=3),
    "baddbmm": lambda s, a, b: torch.baddbmm(s, a, b, beta=2, alpha=3),
    "addbmm": lambda s, a, b: torch.addbmm(s, a, b, beta=2, alpha=3),
    "linear": torch.nn.functional.linear,
    "linear_without_bias": torch.nn.functional.linear,
    "bilinear": torch.nn.functional.bilinear,
    "cross": lambda a, b: torch.cross(a, b, dim=-1),
    "einsum_matmul": lambda a, b: torch.einsum("ij,jk->ik", a, b),
    "einsum_implicit": lambda a, b: torch.einsum("cb,ba", a, b),
    "einsum_ellipsis": lambda a, b: torch.einsum("...ij,...jk->...ik", a, b),
    "contiguous": lambda x: x.contiguous(),
    "to_double": lambda x: x.to(torch.float64, copy=True),
    "to_another_device_and_back": same,
    "copy_": in_place("copy_"),
    "fill_": in_place("fill_"),
    "zero_": in_place("zero_"),
    "batch_norm_training": batch_norm(True),
    "batch_norm_evaluation": batch_norm(False),
    "conv1d": conv("conv1d", padding=1),
    "conv2d_general": conv("conv2d", stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
    "conv2d_grouped": conv("conv2d", padding=(1, 0), groups=2),
    "conv1d_same": conv("conv1d", padding="same", dilation=3),
    "conv2d_same": conv("conv2d", padding="same", dilation=(1, 3)),
    "conv3d_same": conv("conv3d", padding="same", dilation=(1, 1, 3)),
    "conv3d": conv("conv3d", stride=(1, 2, 1), padding=(0, 1, 1), dilation=(1, 1, 2)),
    "conv_transpose1d": conv("conv_transpose1d", stride=2, padding=1, output_padding=1),
    "conv_transpose2d": conv("conv_transpose2d", stride=(2, 1), padding=(1, 0), output_padding=(1, 0)),
    "conv_transpose2d_general": conv(
        "conv_transpose2d", stride=(2, 3), padding=(1, 2), output_padding=(2, 1), groups=2, dilation=(3, 1)
    ),
    "conv_transpose3d": conv("conv_transpose3d", stride=(1, 2, 1), padding=(0, 1, 0), output_padding=(0, 1, 0)),
    "convolution": lambda x, w, b: torch.convolution(x, w, b, (1, 1), (0, 1), (1, 1), False, (0, 0), 1),
    "max_pool2d_with_indices": pool("max_pool2d", 2, return_indices=True),
    "max_pool2d": pool("max_pool2d", 3, 2, 1, (1, 2), True),
    "max_pool2d_dilated": pool("max_pool2d", 3, 2, 1, (2, 1), True),
    "max_pool1d": pool("max_pool1d", 3, 2, 1),
    "max_pool1d_with_indices": pool("max_pool1d", 2, return_indices=True),
    "avg_pool2d": pool("avg_pool2d", (2, 3), (2, 1)),
    "avg_pool2d_divisor": pool("avg_pool2d", 3, 2, 1, True, True, 5),
    "avg_pool2d_without_padding": pool("avg_pool2d", 3, 2, 1, True, False),
    "avg_pool1d": pool("avg_pool1d", 3, 2),
    "adaptive_avg_pool2d": pool("adaptive_avg_pool2d", (3, 2)),
    "adaptive_avg_pool2d_to_one": pool("adaptive_avg_pool2d", 1),
    "adaptive_avg_pool1d": pool("adaptive_avg_pool1d", 3),
    "adaptive_max_pool2d": pool("adaptive_max_pool2d", (3, 2), return_indices=True),
    "adaptive_max_pool1d": pool("adaptive_max_pool1d", 3, return_indices=True),
    "max_pool3d_with_indices": pool("max_pool3d", 2, (1, 2, 2), return_indices=True),
    "max_pool3d": pool("max_pool3d", 3, 2, 1, (1, 2, 1), True),
    "avg_pool3d": pool("avg_pool3d", (2, 2, 3), (1, 2, 1)),
    "avg_pool3d_divisor": pool("avg_pool3d", 3, 2, 1, True, True, 5),
    "avg_pool3d_without_padding": pool("avg_pool3d", 3, 2, 1, True, False),
    "adaptive_avg_pool3d": pool("adaptive_avg_pool3d", (2, 3, 2)),
    "adaptive_avg_pool3d_to_one": pool("adaptive_avg_pool3d", 1),
    "adaptive_max_pool3d": pool("adaptive_max_pool3d", (2, 3, 2), return_indices=True),
    "fractional_max_pool2d": fractional_pool("fractional_max_pool2d", 2),
    "fractional_max_pool3d": fractional_pool("fractional_max_pool3d", 3),
    "max_unpool2d": unpool("max_unpool2d", (3, 5)),
    "max_unpool3d": unpool("max_unpool3d", (3, 2, 2), (2, 2, 2), (0, 0, 0)),
    "im2col": lambda x: torch._C._nn.im2col(x, (2, 3), (2, 1), (1, 1), (1, 2)),
    "col2im": lambda x: torch._C._nn.col2im(x, (4, 5), (2, 3), (2, 1), (1, 1), (1, 2)),
    "conv_tbc": lambda x, w, b: torch.conv_tbc(x, w, b, 1),
    "conv_depthwise3d": conv(
        "conv3d", stride=(1, 2, 1), padding=(0, 1, 1), dilation=(1, 1, 2), groups=2),
    "pixel_shuffle": lambda x: torch.pixel_shuffle(x, 2),
    "pixel_unshuffle": lambda x: torch.pixel_unshuffle(x, 2),
    "softsign": torch.nn.functional.softsign,
    "glu": lambda x: torch.nn.functional.glu(x, -1),
    "glu_first": lambda x: torch.nn.functional.glu(x, 0),
    "fused_sgd": step_of(2, fused_sgd),
    "fused_sgd_nesterov": step_of(3, lambda p, g, b: fused_sgd(p, g, b, 0.8, nesterov_and_maximize=True)),
    "fused_sgd_first": step_of(3, lambda p, g, b: fused_sgd(p, g, b, 0.8, 0, is_first_step=True)),
    "fused_adam": step_of(4, fused_adam(torch._fused_adam_, True)),
    "fused_adamw_amsgrad": step_of(5, fused_adam(torch._fused_adamw_, False)),
    "fused_adagrad": step_of(3, fused_adagrad),
    "fused_rmsprop": step_of(3, rmsprop(False, 0)),
    "fused_rmsprop_momentum": step_of(4, rmsprop(False, 0.7)),
    "fused_rmsprop_centered": step_of(4, rmsprop(True, 0)),
    "fused_rmsprop_centered_momentum": step_of(5, rmsprop(True, 0.7)),
    "arange": lambda x: torch.arange(2, 2 + 3 * len(x), 3, dtype=x.dtype),
    "linspace": lambda x: torch.linspace(-1, 2, len(x), dtype=x.dtype),
}


def frexp(x):
    mantissa, exponent = torch.frexp(x)
    return mantissa, exponent.long()


def scatter_reduce(name):
    # PyTorch has no gradient where src is larger than the index.
    return lambda x, i, s: x.scatter_reduce(1, i, s[: i.shape[0], : i.shape[1]], name)


def quantiles(function):
    return lambda x: (function(x, 0.3, 1), function(x, torch.tensor(0.75, dtype=x.dtype), 1))


def eig_of_triangular(x):
    """The sorted eigenvalues of a triangular matrix, twice, and A V - V diag(w), which is 0."""
    a = x.triu(1) + torch.arange(1, x.shape[-1] + 1, dtype=x.dtype).diag_embed()
    w, v = torch.linalg.eig(a)
    residual = a @ v.real - v.real * w.real.unsqueeze(-2)
    return w.real.sort()[0], torch.linalg.eigvals(a).real.sort()[0], residual


def ldl(x, b):
    """A times the solution of A y = b, which is b."""
    x, b = x.detach(), b.detach()
    a = x + x.mT + 4 * torch.eye(x.shape[-1], dtype=x.dtype)
    return a @ torch.linalg.ldl_solve(*torch.linalg.ldl_factor(a), b)


CALLS |= {
    "frexp": frexp,
    "scatter_reduce_prod": scatter_reduce("prod"),
    "scatter_reduce_amax": scatter_reduce("amax"),
    "scatter_reduce_amin": scatter_reduce("amin"),
    "quantile": quantiles(torch.quantile),
    "nanquantile": quantiles(torch.nanquantile),
    "renorm": lambda x: x.renorm(2, 0, 1),
    "linalg_eig": eig_of_triangular,
    "linalg_ldl": ldl,
}
CALLS |= {
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "elu_scaled": lambda x: torch.ops.aten.elu(x, 0.5, 2, 1.5),
    "celu": lambda x: F.celu(x, 0.5),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "softplus_scaled": lambda x: F.softplus(x, 2, 1),
    "log_sigmoid": F.logsigmoid,
    "hardtanh": lambda x: F.hardtanh(x, 0, 1),
    "threshold": lambda x: F.threshold(x, 1, 20),
    "hardshrink": lambda x: F.hardshrink(x, 0.75),
    "softshrink": lambda x: F.softshrink(x, 0.75),
    "prelu": torch.prelu,
    "channel_shuffle": lambda x: F.channel_shuffle(x, 2),
    "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "remainder_number": lambda x: torch.remainder(x, 3),
    "round_decimals": lambda x: torch.round(x, decimals=1),
    "round_tens": lambda x: torch.round(x, decimals=-1),
    "nan_to_num": lambda x: torch.nan_to_num(x, 1, 2, 3),
    "clamp_numbers": lambda x: torch.clamp(x, 0, 1),
    "clamp_min_number": lambda x: torch.clamp_min(x, 0),
    "clamp_max_number": lambda x: torch.clamp_max(x, 1),
    "clamp_above": lambda x: torch.clamp(x, max=1),
    "special_ndtr": torch.special.ndtr,
    "pow_sqrt": lambda x: x.pow(0.5),
    "pow_rsqrt": lambda x: x.pow(-0.5),
    "pow_of_number": lambda x: torch.pow(2, x),
    "lerp_number": lambda a, b: torch.lerp(a, b, 0.3),
    "addcmul": lambda x, a, b: torch.addcmul(x, a, b, value=2),
    "addcdiv": lambda x, a, b: torch.addcdiv(x, a, b, value=0.5),
}
CALLS |= {
    name: getattr(F, name)
    for name in ("relu6", "silu", "elu", "selu", "softplus", "hardsigmoid", "hardswish", "mish")
}
CALLS |= {
    "softmax_last": lambda x: x.softmax(-1),
    "softmax_first": lambda x: x.softmax(0),
    "softmax_vector": lambda x: x.softmax(0),
    "log_softmax_last": lambda x: x.log_softmax(-1),
    "log_softmax_dim1": lambda x: x.log_softmax(1),
    "log_softmax_vector": lambda x: x.log_softmax(0),
    "nll_loss": nll_loss,
    "cross_entropy": cross_entropy(0),
    "cross_entropy_smoothed": cross_entropy(0.2),
    "cross_entropy_probabilities": cross_entropy(0.1),
    "mse_loss": losses(F.mse_loss),
    "l1_loss": losses(F.l1_loss),
    "smooth_l1_loss": losses(F.smooth_l1_loss, beta=0.7),
    "huber_loss": losses(F.huber_loss, delta=0.6),
    "binary_cross_entropy": entropy,
    "binary_cross_entropy_with_logits": logit_entropy,
    "binary_cross_entropy_with_logits_weighted": logit_entropy,
    "kl_div": losses(F.kl_div),
    "kl_div_log_target": losses(F.kl_div, log_target=True),
    "cosine_embedding_loss": cosine_embedding,
    "hinge_embedding_loss": hinge_embedding,
    "margin_ranking_loss": lambda a, b, t: F.margin_ranking_loss(a, b, t, 0.5, reduction="none"),
    "triplet_margin_loss": lambda a, p, n: F.triplet_margin_loss(a, p, n, swap=True, reduction="none"),
    "pairwise_distance": F.pairwise_distance,
    "poisson_nll_loss": lambda x, t: F.poisson_nll_loss(x, t, full=True, reduction="none"),
    "layer_norm": lambda x, w, b: F.layer_norm(x, (5,), w, b, 1e-3),
    "group_norm": lambda x, w, b: F.group_norm(x, 3, w, b, 1e-3),
    "rms_norm": lambda x, w: F.rms_norm(x, (2, 4), w, 1e-3),
    "instance_norm": lambda x, w, b: F.instance_norm(x, None, None, w, b, True, 0.1, 1e-3),
}
# The positions of the floating-point inputs without gradients, by row.
CONSTANT = {
    "batch_norm_training": (3, 4),
    "batch_norm_evaluation": (3, 4),
    "nll_loss": (2,),
    "cross_entropy": (2,),
    "cross_entropy_smoothed": (2,),
    "cross_entropy_probabilities": (2,),
    "margin_ranking_loss": (2,),
}
for _op in ("eq", "ne", "lt", "le", "gt", "ge"):
    CALLS[_op + "_number"] = lambda x, op=_op: getattr(torch, op)(x, 1)
