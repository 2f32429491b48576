#!/usr/bin/env python3
"""Checks that a family of operators has the same name in every layer.

An operator that is declared in the list include/hearth/ops/X.inc is defined in src/ops/X.cpp or
src/ops/X_<part>.cpp. A seam header and a kernel source have the name of a list or of a file in
src/ops, or that name and a part: seam/X.h, kernels/cpu/X.cpp, kernels/cuda/X_<part>.cu.
"""

import re
import sys
from pathlib import Path

import op_lists

ROOT = Path(__file__).resolve().parent.parent
OPS = ROOT / "src" / "ops"

# Files of the seam and of kernels that belong to no family of operators.
SHARED = {
    "src/seam": "activity backend cpu_build ctx sim table view",
    "src/kernels": "draws",
    "src/kernels/cpu": "blas convert isa lapack libraries math onednn strided tensor_ranges vec",
    "src/kernels/cuda": "convert cudnn_graph cudnn_library cudnn_parts cupti cusolver_library dtypes "
                        "elements error faults floating lane launch libraries library_cudnn "
                        "library_cusolver library_file lines loop moments nvtx offsets plugin runtime "
                        "sorted_writes stream table tensor_chunks",
}

# How a source defines an operator: by a macro HEARTH_DEFINE_…, as a function or method, or in the body
# of a macro of its own, where ## may build the name.
FORM = re.compile(r"^HEARTH_DEFINE_(?:(?:METHOD|METHOD_ONLY)\([^,]+,\s+|\w+\(\s*)(\w+)",
                  re.MULTILINE)
FUNCTION = re.compile(r"^\w[\w:<>,& ]*[ &](\w+)\(", re.MULTILINE)
METHOD = re.compile(r"^\w[\w:<>,& ]*[ &]Tensor::(\w+)\(", re.MULTILINE)
MACRO = re.compile(r"^#define (HEARTH_\w+)\(([^)]*)\)((?:.*\\\n)*.*)", re.MULTILINE)
IN_MACRO = re.compile(
    r"^  (?:HEARTH_DEFINE_(?:METHOD\([^,]+, |\w+\()|Tensor&? (?:Tensor::)?)(\w+)[,(]",
    re.MULTILINE)
PASTED = re.compile(r"(?<![\w#])(?<!return )(\w+(?:##\w+)+)[(,]")


def base_of(path):
    """The file's name without target and suffix: fft for src/kernels/cpu/fft_@target@.cpp.in."""
    return path.rpartition("/")[2].split(".")[0].split("_@")[0]


def is_of(name, family):
    return name == family or name.startswith(family + "_")


def stem(name):
    """The operator's name without the suffix of a form: add for add_ and add_out."""
    return name.removesuffix("_out").rstrip("_") or name


def declared():
    """{operator: the lists that declare it}."""
    lists = {}
    for family in op_lists.families():
        for op in op_lists.operators(family):
            lists.setdefault(stem(op.name), set()).add(family)
    return lists


def without_anonymous(text):
    return re.sub(r"^namespace \{\n.*?^\}  // namespace\n", "", text,
                  flags=re.MULTILINE | re.DOTALL)


def defined(text, form=stem):
    """The operators that a source defines, and regular expressions for the names that
    its macros build with ##. `form` maps a name to what is listed."""
    public = without_anonymous(text)
    names = {form(name) for pattern in (FORM, FUNCTION, METHOD) for name in pattern.findall(public)}
    patterns = []
    for macro, parameters, body in MACRO.findall(text):
        parameters = [name.strip() for name in parameters.split(",")]
        names |= {form(name) for name in IN_MACRO.findall(body) if name not in parameters}
        uses = re.findall(rf"^{macro}\(([^()]*)", text, re.MULTILINE)
        for pasted in PASTED.findall(body):
            parts = pasted.split("##")
            for use in uses:
                values = dict(zip(parameters, (value.strip() for value in use.split(","))))
                names.add(form("".join(values.get(part, part) for part in parts)))
            if not uses:  # another macro has the arguments
                parts = [r"\w+" if part in parameters else part for part in parts]
                patterns.append(re.compile("".join(parts)))
    return names, patterns


def wrong_definitions(lists):
    sources = {base_of(file.name): defined(file.read_text()) for file in sorted(OPS.glob("*.cpp"))}
    for name, families in lists.items():
        of_family = {source for source in sources for family in families if is_of(source, family)}
        elsewhere = {source for source in sources if name in sources[source][0]} - of_family
        listed = ", ".join(f"{family}.inc" for family in sorted(families))
        for source in sorted(elsewhere):
            yield f"src/ops/{source}.cpp: defines {name}, which is declared in {listed}"
        found = any(name in sources[source][0] or
                    any(pattern.fullmatch(name) for pattern in sources[source][1])
                    for source in of_family)
        if not found and not elsewhere:
            yield f"{listed}: no source of that name defines {name}"


def wrong_kernels(lists):
    families = {family for declaring in lists.values() for family in declaring}
    families |= {base_of(file.name) for file in OPS.glob("*.cpp")}
    for folder, shared in SHARED.items():
        known = families | set(shared.split())
        for file in sorted((ROOT / folder).iterdir()):
            if file.is_file() and not any(is_of(base_of(file.name), family) for family in known):
                yield (f"{folder}/{file.name}: no list include/hearth/ops/*.inc and no source in "
                       "src/ops has that name")


def main():
    lists = declared()
    problems = [*wrong_definitions(lists), *wrong_kernels(lists)]
    outcome = f"{len(problems)} problems" if problems else "ok"
    print("\n".join(problems + [f"check_names: {outcome}, {len(lists)} operators"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
