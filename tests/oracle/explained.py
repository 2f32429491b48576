"""The differences between Hearth and PyTorch that compare.py expects."""

from typing import NamedTuple, Optional

HALVES = ("float16", "bfloat16")
FLOATS = (*HALVES, "float32", "float64")
ANY = (*FLOATS, "int64", "int32", "int16", "int8", "uint8", "bool")


class Difference(NamedTuple):
    row: str
    text: str  # a part of the problem's text
    dtypes: tuple  # of the first input
    largest: Optional[float]  # the limit of a value's difference; None if the problem is not one of values
    reason: str


AT_NAN = "at NaN PyTorch's vectorised code gives another slope than its scalar code, which computes short inputs"

# Intended differences.
EXPLAINED = [Difference(*entry) for entry in [
    ("_unique2", "is not implemented", ANY, None, "Hearth fails only if a gradient is computed"),
    ("unique_dim", "is not implemented", ANY, None, "as _unique2"),
    ("unique_consecutive", "is not implemented", ANY, None, "as _unique2"),
    ("hardsigmoid", "gradient 0", ("float64",), 1e-7, "PyTorch rounds 1/6 to float32 even for float64"),
    ("digamma", "gradient 0", ("float64",), 4e-9, "the relative error of PyTorch's trigamma is 5e-10, of Hearth's 4e-16"),
    ("log_softmax_vector", "gradient 0", HALVES, 0.1, "PyTorch adds 2,500 gradients one after another in half precision"),
    ("conv3d_same", "gradient 0", HALVES, 0.01, "PyTorch pads and adds in float16"),
    ("lstm_projected", "gradient", HALVES, 0.1, "PyTorch rounds the results of each step's ops"),
    ("gelu", "output 0 is inf", ("float32", "bfloat16"), None,
     "at infinity PyTorch's vectorised code gives NaN, its scalar code infinity"),
    ("softsign", "gradient 0 is 0 at [2] and 1 others, PyTorch's nan", FLOATS, None,
     "at infinity the slope is 0"),
    *((row, "gradient 0 is nan at [4], PyTorch's", FLOATS, None, AT_NAN)
      for row in ("elu", "elu_scaled", "selu", "celu", "hardswish")),
    *((row, "gradient 0 is 0 at [4], PyTorch's", FLOATS, 2.5, AT_NAN) for row in ("relu6", "hardtanh")),
    *((row, "gradient 0 is 2.5 at [4], PyTorch's", FLOATS, 2.5, AT_NAN) for row in ("hardshrink", "softshrink")),
    ("group_norm", "expected scalar type Float but found", HALVES, None, "Hearth accepts a float32 bias without a weight"),
    ("pow", "gradient 1 is -46048 at [76], PyTorch's -inf", ("float16",), None,
     "PyTorch rounds the slope, which is 92,103, to float16"),
    ("pow", "gradient 0 is inf at [146] and 6 others, PyTorch's -inf", HALVES, None,
     "PyTorch rounds 1e4 - 1 to a half type, and so to an even number"),
    *((row, "Hearth says it is an error", FLOATS, None, "the op, which is Hearth's own, has no derivative")
      for row in ("fused_total_norm", "fused_total_norm_0", "fused_total_norm_1", "fused_total_norm_3",
                  "fused_total_norm_max", "fused_total_norm_min")),
]]
# Intended differences under autocast.
EXPLAINED_AUTOCAST = [Difference(*entry) for entry in [
    *((row, "Hearth says it is an error", ANY, None,
       "calls.py composes this step of PyTorch's ops, which promote mixed dtypes")
      for row in ("fused_rmsprop", "fused_rmsprop_momentum", "fused_rmsprop_centered", "fused_rmsprop_centered_momentum",
                  "fused_nadam", "fused_nadam_decoupled", "fused_radam_early", "fused_radam", "fused_adamax",
                  "fused_adadelta", "fused_asgd", "fused_asgd_copy", "fused_rprop", "fused_clip")),
    ("index_copy", "expected to have the same dtype", ANY, None, "Hearth also promotes to float64"),
    ("huber_loss", "PyTorch says: Found dtype Double but expected Float", FLOATS, None,
     "PyTorch's backward does not promote"),
    ("grid_sampler_2d_02_corners", "Hearth says it is an error", FLOATS, None, "PyTorch does not check the dtype of an empty grid"),
    ("binary_cross_entropy_with_logits_weighted", "has dtype", HALVES, None,
     "calls.py composes this loss of ops that autocast does not cast"),
    *(("conv_depthwise3d", text, FLOATS, None, "calls.py calls conv3d, which autocast casts")
      for text in ("Hearth says it is an error", "has dtype")),
    *((row, "not implemented for", FLOATS, None, "PyTorch lacks half types")
      for row in ("_upsample_bilinear2d_aa", "_upsample_bilinear2d_aa_corners", "_upsample_bicubic2d_aa",
                  "affine_grid_generator2", "affine_grid_generator2_corners")),
]]
# Differences under autocast in which Hearth should follow PyTorch: counted and listed at the end.
DEVIATIONS = [Difference(*entry) for entry in [
    ("huber_loss", "has dtype", ANY, None, "Hearth gives the common dtype, PyTorch the input's"),
    ("soft_margin_loss", "has dtype", FLOATS, None, "as huber_loss"),
    ("addr", "must have the same dtype", ANY, None, "Hearth promotes, PyTorch throws"),
    ("binary_cross_entropy", "Found dtype Double but expected Float", FLOATS, None, "as addr"),
    *(("linalg_solve_triangular_" + row, "Hearth says it is an error", FLOATS, None,
       "PyTorch does not compare the dtypes, also without autocast")
      for row in ("upper", "lower_unit", "upper_right_unit", "lower_right")),
    *((row, text, FLOATS, largest, "where oneDNN does not compute PyTorch's layer, its results are promoted to float32")
      for row in ("lstm", "lstm_deep", "lstm_packed", "lstm_projected")
      for text, largest in (("has dtype", None), ("", 0.1))),
]]


def found_in(known, case, problem):
    """The entry of one of the lists above that matches the problem, or None."""
    message, size = problem
    first = next((entry["dtype"] for entry in case["inputs"] if entry), None)
    for entry in known:
        if size is None or entry.largest is None:
            fits = size is None and entry.largest is None
        else:
            fits = size <= entry.largest
        if entry.row == case["row"] and entry.text in message and first in entry.dtypes and fits:
            return entry
    return None
