"""PyTorch's calls for the rows of reductions, scans, sorts, views, joins, copies and indices (calls.py has all)."""

import torch


def same(x, *_):
    return x


def in_place(method):
    def call(self, *others):
        copy = self.clone()
        getattr(copy, method)(*others)
        return copy

    return call


def scatter_reduce(name):
    # PyTorch has no gradient where src is larger than the index.
    return lambda x, i, s: x.scatter_reduce(1, i, s[: i.shape[0], : i.shape[1]], name)


def quantiles(function):
    return lambda x: (function(x, 0.3, 1), function(x, torch.tensor(0.75, dtype=x.dtype), 1))


CALLS = {
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
    "contiguous": lambda x: x.contiguous(),
    "to_double": lambda x: x.to(torch.float64, copy=True),
    "to_another_device_and_back": same,
    "copy_": in_place("copy_"),
    "fill_": in_place("fill_"),
    "zero_": in_place("zero_"),
    "scatter_reduce_prod": scatter_reduce("prod"),
    "scatter_reduce_amax": scatter_reduce("amax"),
    "scatter_reduce_amin": scatter_reduce("amin"),
    "quantile": quantiles(torch.quantile),
    "nanquantile": quantiles(torch.nanquantile),
    "renorm": lambda x: x.renorm(2, 0, 1),
}
