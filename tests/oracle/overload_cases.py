"""Generates the calls of overloads.py: the functions and methods of operators that both libraries
have, except SKIPPED ones, with various expressions for each argument."""

import pathlib
import re
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import op_lists  # noqa: E402

# The number of generated source files, and of calls in each of their functions.
PARTS, PER_GROUP = 12, 30

# Expressions for a number, a list, a tensor or nothing. Names are members of Values (overloads.h).
FORMS = ["0", "1", "true", "0.5", "big", "value", "{}", "{1}", "{1, 0}", "numbers", "std::nullopt",
         "some", "torch::Tensor()", "y"]
# Fewer for the third and fourth arguments, and for the arguments of out= forms.
LATER_FORMS = ["0", "true", "0.5", "{1}", "std::nullopt"]
OUT_FORMS = ["1", "0.5", "{1}"]

# Types for which there are no expressions. Overloads with such parameters are skipped.
FOREIGN = ("Dimname", "Layout", "Device", "c10::List", "Storage", "Stream", "SymInt",
           "ArrayRef<double>", "ITensorListRef")

# Expressions for a parameter: BY_OP by the operator and the parameter's name, else BY_NAME by the
# parameter's name alone, else BY_TYPE by its type.
BY_TYPE = {
    "Tensor": "y", "Scalar": "2", "int64_t": "1", "bool": "true", "double": "0.5",
    "IntArrayRef": "{2, 3}", "OptionalIntArrayRef": "{1}", "optional<Tensor>": "{}",
    "optional<Scalar>": "2", "optional<int64_t>": "1", "optional<bool>": "true",
    "optional<double>": "0.5", "ScalarType": "torch::kDouble", "optional<ScalarType>": "torch::kDouble",
    "TensorOptions": "torch::kDouble", "optional<MemoryFormat>": "torch::MemoryFormat::Contiguous",
    "MemoryFormat": "torch::MemoryFormat::Contiguous", "optional<Generator>": "generator",
    "TensorList": "list", "string_view": '"sum"', "optional<string_view>": '"trunc"',
    "ArrayRef<Scalar>": "{1, 2}",
}
BY_NAME = {
    "index": "index", "indices": "index", "mask": "flags", "condition": "flags", "dims": "{1, 0}",
    "kernel_size": "{2}", "stride": "{1}", "padding": "{0}", "dilation": "{1}", "output_size": "{2}",
    "output_padding": "{0}", "normalized_shape": "{4}", "indexing": '"ij"', "equation": '"ij,ij->i"',
    "approximate": '"tanh"', "mode": '"constant"', "reduce": '"add"', "p": "0.5", "n": "3",
    "groups": "1", "side": '"right"',
}
BY_OP = {
    "as_strided": {"size": "{2, 2}", "stride": "{1, 2}"}, "as_strided_": {"size": "{2, 2}", "stride": "{1, 2}"},
    "addmm": {"mat1": "square", "mat2": "y"}, "addmv": {"self": "vec3", "mat": "x", "vec": "vec4"},
    "addr": {"vec1": "vec3", "vec2": "vec4"}, "adaptive_avg_pool1d": {"self": "signal"},
    "adaptive_avg_pool2d": {"self": "img", "output_size": "{2, 2}"},
    "adaptive_max_pool1d": {"self": "signal"}, "adaptive_max_pool2d": {"self": "img", "output_size": "{2, 2}"},
    "avg_pool1d": {"self": "signal"}, "avg_pool2d": {"self": "img"},
    "max_pool1d": {"self": "signal"}, "max_pool2d": {"self": "img"},
    "max_pool1d_with_indices": {"self": "signal"}, "max_pool2d_with_indices": {"self": "img"},
    "max_pool3d": {"self": "volume"}, "max_pool3d_with_indices": {"self": "volume"}, "avg_pool3d": {"self": "volume"},
    "adaptive_avg_pool3d": {"self": "volume", "output_size": "{2, 2, 2}"},
    "adaptive_max_pool3d": {"self": "volume", "output_size": "{2, 2, 2}"},
    "fractional_max_pool2d": {"self": "img", "kernel_size": "{2, 2}", "output_size": "{2, 2}", "random_samples": "torch::full({img.size(0), img.size(1), 2}, 0.3)"},
    "fractional_max_pool3d": {"self": "volume", "kernel_size": "{2, 2, 2}", "output_size": "{1, 1, 1}", "random_samples": "torch::full({volume.size(0), volume.size(1), 3}, 0.3)"},
    "max_unpool2d": {"self": "img", "indices": "torch::zeros_like(img, torch::kLong)", "output_size": "{9, 9}"},
    "max_unpool3d": {"self": "volume", "stride": "{1, 1, 1}", "padding": "{0, 0, 0}", "indices": "torch::zeros_like(volume, torch::kLong)", "output_size": "{9, 9, 9}"},
    "im2col": {"self": "img", "kernel_size": "{2, 2}", "dilation": "{1, 1}", "padding": "{0, 0}", "stride": "{1, 1}"},
    "col2im": {"self": "img.reshape({2, 4, 36})", "output_size": "{7, 7}", "kernel_size": "{2, 2}", "dilation": "{1, 1}", "padding": "{0, 0}", "stride": "{1, 1}"},
    "conv_tbc": {"self": "signal.permute({2, 0, 1})", "weight": "ker1.permute({2, 1, 0})", "bias": "torch::zeros({ker1.size(0)})"},
    "baddbmm": {"self": "cube.clone()", "batch1": "cube.matmul(cube.mT())", "batch2": "cube"},
    "addbmm": {"self": "mat43", "batch1": "cube.mT()", "batch2": "cube.narrow(2, 0, 3)"},
    "batch_norm": {"input": "img", "weight": "chan", "bias": "chan", "running_mean": "chan.clone()", "running_var": "chan.clone()"},
    "instance_norm": {"input": "img", "weight": "chan", "bias": "chan", "running_mean": "chan.clone()", "running_var": "chan.clone()"},
    "group_norm": {"input": "img", "num_groups": "2", "weight": "chan", "bias": "chan"},
    "native_group_norm": {"input": "img", "weight": "chan", "bias": "chan", "N": "2", "C": "4", "HxW": "36", "group": "2"},
    "layer_norm": {"input": "x", "weight": "chan", "bias": "chan"},
    "native_layer_norm": {"input": "x", "weight": "chan", "bias": "chan"},
    "rms_norm": {"input": "x", "weight": "chan"},
    "bilinear": {"input1": "x", "input2": "y", "weight": "cube.new_ones({2, 4, 4})", "bias": "chan.narrow(0, 0, 2)"},
    "bincount": {"self": "classes", "weights": "weights"}, "bmm": {"self": "cube", "mat2": "cube.mT()"},
    "bucketize": {"boundaries": "sorted", "self": "y"}, "searchsorted": {"sorted_sequence": "sorted", "self": "y", "sorter": "{}"},
    "conv1d": {"input": "signal", "weight": "ker1"}, "conv2d": {"input": "img", "weight": "ker"},
    "conv3d": {"input": "volume", "weight": "ker3"}, "conv_transpose1d": {"input": "signal", "weight": "transposed_ker1"},
    "conv_transpose2d": {"input": "img", "weight": "transposed_ker2"}, "conv_transpose3d": {"input": "volume", "weight": "transposed_ker3"},
    "convolution": {"input": "img", "weight": "ker"}, "cross": {"self": "mat43", "other": "mat43"},
    "linalg_cross": {"self": "mat43", "other": "mat43"}, "cross_entropy_loss": {"self": "logits", "target": "classes", "weight": "chan"},
    "nll_loss": {"self": "logits", "target": "classes", "weight": "chan"}, "nll_loss_nd": {"self": "logits", "target": "classes", "weight": "chan"},
    "nll_loss2d": {"self": "img", "target": "img.select(1, 0).gt(0).to(torch::kLong)", "weight": "chan"},
    "diag_embed": {"self": "vec4"}, "dot": {"self": "vec4", "tensor": "vec4"}, "vdot": {"self": "vec4", "other": "vec4"},
    "embedding": {"weight": "table", "indices": "classes"}, "eye": {"n": "3", "m": "2"}, "expand": {"size": "{2, 3, 4}"},
    "broadcast_to": {"size": "{2, 3, 4}"}, "full": {"size": "sizes", "value": "2"},
    "feature_dropout": {"input": "img"}, "feature_alpha_dropout": {"input": "img"}, "flip": {"dims": "{0}"},
    "index_add": {"index": "rows", "source": "y"}, "index_copy": {"index": "rows", "source": "y"},
    "index_fill": {"index": "rows", "dim": "0", "value": "2"}, "index_select": {"index": "rows"},
    "linear": {"input": "x", "weight": "y", "bias": "vec3"}, "linspace": {"steps": "4", "start": "1", "end": "4"},
    "logspace": {"steps": "4", "start": "1", "end": "2", "base": "2"}, "matmul": {"other": "mat43"}, "mm": {"mat2": "mat43"},
    "matrix_power": {"self": "square", "n": "2"}, "mv": {"vec": "vec4"}, "movedim": {"source": "0", "destination": "1"},
    "moveaxis": {"source": "0", "destination": "1"}, "ger": {"self": "vec3", "vec2": "vec4"}, "outer": {"self": "vec3", "vec2": "vec4"},
    "meshgrid": {"tensors": "vectors"}, "cartesian_prod": {"tensors": "vectors"}, "multinomial": {"self": "y", "num_samples": "2"},
    "one_hot": {"self": "classes", "num_classes": "4"}, "pad": {"pad": "{1, 1}", "padding": "{1, 1}", "mode": '"constant"'},
    "constant_pad_nd": {"pad": "{1, 1}", "padding": "{1, 1}"}, "permute": {"dims": "{1, 0}"}, "pixel_shuffle": {"self": "img", "upscale_factor": "2"},
    "pixel_unshuffle": {"self": "img", "downscale_factor": "2"}, "repeat": {"repeats": "{2, 3}"}, "reshape": {"size": "{2, 6}", "shape": "{2, 6}"},
    "view": {"size": "{2, 6}"}, "roll": {"shifts": "{1}", "dims": "{1}"}, "rot90": {"k": "1", "dims": "{0, 1}"},
    "scatter": {"src": "y", "value": "2", "dim": "0"}, "split_with_sizes": {"split_sizes": "{1, 3}", "dim": "1"},
    "split": {"split_sizes": "{1, 3}", "split_size": "2", "dim": "1"}, "sum_to_size": {"size": "{1, 4}"},
    "tensor_split": {"sections": "2", "indices": "{1}", "tensor_indices_or_sections": "scalar.to(torch::kLong)"},
    "hsplit": {"sections": "2", "indices": "{1}"}, "vsplit": {"sections": "3", "indices": "{1}"},
    "dsplit": {"self": "cube", "sections": "2", "indices": "{1}"}, "take": {"index": "index"}, "tensordot": {"dims_self": "{1}", "dims_other": "{1}"},
    "tile": {"dims": "{2, 1}"}, "topk": {"k": "2"}, "kthvalue": {"k": "2"}, "trace": {"self": "square"},
    "tril_indices": {"row": "3", "col": "3", "offset": "0"}, "triu_indices": {"row": "3", "col": "3", "offset": "0"},
    "unflatten": {"dim": "1", "sizes": "{2, 2}"}, "unfold": {"dimension": "1", "size": "2", "step": "1"},
    "unsqueeze": {"dim": "1"}, "where": {"condition": "flags"}, "select": {"dim": "0", "index": "1"},
    "select_scatter": {"src": "vec4", "dim": "0", "index": "1"}, "slice_scatter": {"src": "y.narrow(0, 0, 1)", "start": "0", "end": "1", "dim": "0"},
    "diagonal_scatter": {"src": "vec3", "offset": "0", "dim1": "0", "dim2": "1"}, "narrow": {"dim": "1", "start": "1", "length": "2"},
    "slice": {"dim": "1", "start": "0", "end": "3", "step": "2"}, "swapaxes": {"axis0": "0", "axis1": "1"},
    "swapdims": {"dim0": "0", "dim1": "1"}, "transpose": {"dim0": "0", "dim1": "1"}, "masked_scatter": {"source": "y"},
    "take_along_dim": {"indices": "index", "dim": "0"}, "gather": {"dim": "0"}, "scatter_add": {"src": "y", "dim": "0"},
    "prelu": {"weight": "vec4"}, "rrelu_with_noise": {"noise": "y"}, "rrelu_with_noise_": {"noise": "y"},
    "repeat_interleave": {"repeats": "2"}, "randint": {"high": "9", "low": "2", "size": "sizes"},
    "randint_like": {"high": "9", "low": "2"}, "random_": {"from": "2", "to": "9"}, "randperm": {"n": "5"},
    "arange": {"start": "1", "end": "7", "step": "2"}, "range": {"start": "1", "end": "7", "step": "2"},
    "bitwise_and": {"self": "integers", "other": "integers"}, "bitwise_or": {"self": "integers", "other": "integers"},
    "bitwise_xor": {"self": "integers", "other": "integers"}, "bitwise_left_shift": {"self": "integers", "other": "integers"},
    "bitwise_right_shift": {"self": "integers", "other": "integers"}, "bitwise_not": {"self": "integers"},
    "normal": {"mean": "y", "std": "y", "size": "sizes"}, "kron": {"other": "mat43"}, "quantile": {"q": "0.5"},
    "div": {"rounding_mode": '"floor"'}, "divide": {"rounding_mode": '"floor"'}, "binary_cross_entropy": {"self": "y.mul(0.3)", "target": "y.mul(0.2)", "weight": "y"},
    "binary_cross_entropy_with_logits": {"target": "y", "weight": "y", "pos_weight": "chan"},
    "cosine_embedding_loss": {"target": "vec3"}, "margin_ranking_loss": {}, "einsum": {"path": "{}"}, "rand_like": {}, "dropout": {},
    "rand": {"size": "sizes"}, "randn": {"size": "sizes"}, "zeros": {"size": "sizes"}, "ones": {"size": "sizes"},
    "empty": {"size": "sizes"}, "empty_strided": {"size": "sizes", "stride": "sizes"}, "index_put": {},
    "block_diag": {}, "scalar_tensor": {"s": "value"}, "view_as": {"other": "y"}, "movedim_int": {}, "diag": {"diagonal": "0"},
    "native_batch_norm": {"input": "img", "weight": "chan", "bias": "chan", "running_mean": "chan.clone()", "running_var": "chan.clone()"},
    "put_": {"index": "rows", "source": "vec3"}, "put": {"index": "rows", "source": "vec3"}, "log_sigmoid": {}, "fill_diagonal_": {"fill_value": "2"},
    "channel_shuffle": {"self": "img", "groups": "2"}, "inner": {"other": "y"}, "expand_as": {"other": "y"}, "reshape_as": {"other": "y"},
    "resize_as_": {"the_template": "mat43"}, "masked_fill": {"value": "2"}, "normal_functional": {}, "set_": {}, "to": {"device": "torch::kCPU", "dtype": "torch::kDouble"},
}
# Functions that are not compared, for example because they return uninitialised memory, take no
# tensors, have no result, or because their result does not show the chosen overload.
SKIPPED = re.compile(r"_fused|_symint|^from_blob|^tensor$|^record_stream|^data_ptr|^operator|^register_hook"
                     r"|^pin_memory|^print$|^index$|^index_put_$|^accessor|^packed_acc|_outf$|^from_file|sparse"
                     r"|^storage$|^unsafe|^is_same$|^set_data$|^_base$|^name$|^grad_fn|^backward$|^toString$|^empty_quantized|^__dispatch"
                     r"|^contiguous_|^data$|^Tensor$|^reset$|^(remove|retain)|^range$|^is_pinned$|^cudnn|^to_mkldnn|^qscheme|^m$")
# The variables of the template group_N<V>.
VARIABLES = re.compile(r"\b(x|y|img|out\d?|index|rows|flags|vec\d|mat43|square|cube|ker\d?|transposed_ker\d|signal|volume"
                       r"|classes|logits|chan|scalar|integers|table|sorted|weights|list|vectors|some\w*"
                       r"|generator|numbers|sizes|big|count|value|n|flag|real)\b")


def split(text):
    """Splits the text at commas outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += c in "<({"
        depth -= c in ">)}"
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def parameters(text):
    """(type, name, has a default) of each parameter; None if a type is in FOREIGN."""
    result = []
    for part in split(text):
        part, _, default = part.partition("=")
        kind, _, name = part.strip().rpartition(" ")
        if any(word in kind for word in FOREIGN):
            return None
        for noise in ("const ", "&", "at::", "c10::", "::std::", "std::"):
            kind = kind.replace(noise, "")
        result.append((kind.strip(), name, bool(default)))
    return result


def read_functions(torch, names):
    """The parameter lists of functions by name. Functions in namespace torch hide those in at."""
    result, torch_functions = {}, {}
    factories = torch / "include/torch/csrc/autograd/generated/variable_factories.h"
    for path in [factories] + sorted((torch / "include/ATen/ops").glob("*.h")):
        if path.name.endswith(("_ops.h", "_native.h", "_dispatch.h")):
            continue
        target = torch_functions if path == factories else result
        for name, text in re.findall(r"^inline [^(]*?(\w+)\((.*)\) \{", path.read_text(), re.M):
            if name in names and not SKIPPED.search(name):
                target.setdefault(name, []).append(parameters(text))
    result.update(torch_functions)
    return {name: [p for p in lists if p is not None] for name, lists in result.items()}


def read_methods(torch, names):
    result = {}
    text = (torch / "include/ATen/core/TensorBody.h").read_text()
    for name, params in re.findall(r"^  [\w:<>,& ]*?(\w+)\((.*)\) const;", text, re.M):
        if name in names and not SKIPPED.search(name):
            params = parameters(params)
            if params is not None:
                result.setdefault(name, []).append([("Tensor", "self", False)] + params)
    return result


def hearth_names(root):
    """The names of Hearth's free functions and of its methods."""
    functions, methods = {"is_complex", "is_floating_point", "is_signed"}, set()
    for family in op_lists.families():
        for op in op_lists.operators(family):
            if op.macro != "HEARTH_METHOD_ONLY":
                functions.add(op.name)
            if op.macro not in ("HEARTH_FUNCTION", "HEARTH_QUALIFIED"):
                methods.add(op.name)
            if op.macro in ("HEARTH_ALL_FORMS", "HEARTH_OUT"):
                functions.add(op.name + "_out")
            if op.macro == "HEARTH_ALL_FORMS":
                functions.add(op.name + "_")
                methods.add(op.name + "_")
    assert len(functions) > 700, "most operators are missing"
    methods |= set(re.findall(r"\b(\w+)\(", (root / "include/hearth/tensor.h").read_text()))
    return functions, methods


def base_value(op, kind, name):
    """The expression for a parameter of a type and name."""
    op = re.sub(r"_out$", "", op)
    values = BY_OP.get(op) or BY_OP.get(op.rstrip("_")) or {}
    if name in values:
        return values[name]
    if name == "self":
        return "x" if kind == "Tensor" else BY_TYPE[kind]
    if name in BY_NAME and (kind not in ("TensorOptions",)):
        return BY_NAME[name]
    if name == "dim":
        return "{1}" if "Array" in kind else "1"
    return BY_TYPE.get(kind, "1")


def with_variable(arguments):
    """The arguments with at least one variable of the template group_N<V>, or None.

    Without one, a call that does not compile would be an error even if the template is not used.
    """
    text = ", ".join(arguments)
    if VARIABLES.search(text):
        return text
    for i, argument in enumerate(arguments):
        for pattern, variable in ((r"0\.5", "real"), (r"\b\d+\b", "n"), (r"\btrue\b", "flag")):
            if re.search(pattern, argument) and '"' not in argument:
                changed = re.sub(pattern, variable, argument, count=1)
                return ", ".join(arguments[:i] + [changed] + arguments[i + 1:])
    return None


def argument_lists(name, params, forms=FORMS):
    """The base call with and without its defaults, and base calls with one argument replaced."""
    is_out = name.endswith("_out") and params and params[0][1] != "self"
    base = [base_value(name, kind, p) for kind, p, _ in params]
    num_outputs = 0
    if is_out:
        num_outputs = 2 if len(params) > 1 and params[1][1] in ("indices", "max_values", "min_indices", "values") and params[0][1] != "out" else 1
        base[:num_outputs] = ["out3", "out2"][:num_outputs] if num_outputs == 2 else ["out"]
    required = max([i + 1 for i, p in enumerate(params) if not p[2]], default=0)
    for count in range(required, len(params) + 1):
        yield base[:count]
    start = num_outputs + (1 if len(params) > num_outputs and params[num_outputs][1] in ("self", "input") else 0)
    for index in range(start, min(len(params), start + (2 if is_out else 4))):
        if is_out:
            alternatives = OUT_FORMS
        else:
            alternatives = forms if index < start + 2 or not forms else LATER_FORMS
        for form in alternatives:
            yield base[:index] + [form] + base[index + 1:max(index + 1, required)]


def cases(torch, root):
    """All calls, in order, each once."""
    function_names, method_names = hearth_names(root)
    result = {}
    for name, lists in sorted(read_functions(torch, function_names).items()):
        for params in lists:
            for arguments in argument_lists(name, params):
                text = with_variable(arguments)
                if text is not None:
                    result[f"torch::{name}({text})"] = None
    # Hearth declares a method and its function together. If LibTorch's method has the same overloads
    # as its function, the variations of the function suffice.
    functions = read_functions(torch, function_names)
    for name, lists in sorted(read_methods(torch, method_names).items()):
        has_same_overloads = lists == functions.get(name)
        for params in lists:
            for arguments in argument_lists(name, params, [] if has_same_overloads else FORMS):
                result[f"{arguments[0]}.{name}({', '.join(arguments[1:])})"] = None
    return list(result)


def write(cases, folder):
    """Writes the program's source files and returns their paths."""
    names = ("x y img out out2 out3 index rows flags vec4 vec3 mat43 square cube ker1 ker ker3 transposed_ker1 transposed_ker2 transposed_ker3 signal "
             "volume classes logits chan scalar integers table sorted weights list vectors some some_int some_double generator numbers "
             "sizes big count value flag real").split()
    local = "".join(f"  [[maybe_unused]] auto& {name} = v.{name};\n" for name in names)
    local += "  [[maybe_unused]] auto& n = v.number;\n"
    files = []
    # Grouped by name, so that a new operator changes few files.
    parts = [[] for _ in range(PARTS)]
    for case in cases:
        name = re.match(r"torch::(?:special_)?(\w+)\(|.*?\.(\w+)\(", case)
        parts[zlib.crc32((name[1] or name[2]).strip("_").encode()) % PARTS].append(case)
    for number, part in enumerate(parts):
        text = '#include "overloads.h"\n\nnamespace {\n\n'
        groups = [part[i:i + PER_GROUP] for i in range(0, len(part), PER_GROUP)]
        for g, group in enumerate(groups):
            text += f"template <class V>\nvoid group_{g}(V& v) {{\n{local}"
            text += "".join(f"  CASE({case})\n" for case in group) + "}\n\n"
        text += f"}}  // namespace\n\nvoid part_{number}(overloads::Values& v) {{\n"
        text += "".join(f"  group_{g}(v);\n" for g in range(len(groups))) + "}\n"
        files.append(folder / f"part_{number}.cpp")
        replace(files[-1], text)
    text = '#include "overloads.h"\n\n'
    text += "".join(f"void part_{i}(overloads::Values& v);\n" for i in range(len(parts)))
    text += "\nnamespace overloads {\nvoid run_parts(Values& v) {\n"
    text += "".join(f"  part_{i}(v);\n" for i in range(len(parts))) + "}\n}\n"
    files.append(folder / "parts.cpp")
    replace(files[-1], text)
    return files


def replace(path, text):
    """Writes the file if its content changes, so that unchanged files are not compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    import sys
    for case in cases(pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parents[2]):
        print(case)
