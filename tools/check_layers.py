#!/usr/bin/env python3
"""Checks that every file includes only files of the layers that MAY_INCLUDE permits, and vendors'
headers only where VENDORS permits them. ARCHITECTURE.md describes the layers."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The layers and their files; a file belongs to the first layer whose pattern matches its path.
LAYERS = [
    ("base", r"include/hearth/(fwd|error|export|dtype|half|device|shape|scalar)\.h"),
    ("nn", r"(include/hearth|src)/(nn|optim|amp|vision)(/.*|\.h)|include/hearth/utils/memory\.h"),
    ("data", r"(include/hearth|src)/(data|io|log|plot|profiler|experiment)(/.*|\.h)|include/hearth/utils/(graph|plot|tensorboard)\.h"),
    ("distributed", r"(include/hearth|src)/distributed(/.*|\.h)"),
    ("hd.h", r"src/functors/hd\.h"),
    ("functors", r"src/functors/.*"),
    ("kernels", r"src/kernels/(cpu|cuda|sim)/.*"),
    ("shared kernel code", r"src/kernels/.*"),
    ("seam", r"src/seam/.*"),
    ("autograd", r"src/autograd/.*|include/hearth/(autograd/.*|(autograd|autograd_hooks|custom_function|utils/checkpoint)\.h)"),
    ("ops", r"src/ops/.*"),
    ("declarations", r"include/hearth/ops/.*"),
    ("umbrella", r"include/hearth/hearth\.h"),
    ("core", r"src/core/.*|include/hearth/[^/]*\.h"),
    ("compat", r"compat/.*"),
    ("programs", r"(apps|examples)/.*"),
]

# In MAY_INCLUDE: everything under include/.
PUBLIC = "the public headers"
# The other layers that each layer may include.
MAY_INCLUDE = {
    "base": set(),
    "hd.h": set(),
    "functors": {"hd.h"},
    "seam": {"base", "hd.h", "functors"},
    "core": {"base", "hd.h", "seam", "declarations"},
    "declarations": {"base", "core"},
    "shared kernel code": {"base", "hd.h", "functors", "seam", "core"},
    "kernels": {"base", "hd.h", "functors", "seam", "core", "shared kernel code"},
    "autograd": {"base", "hd.h", "seam", "core"},
    "ops": {"base", "hd.h", "functors", "seam", "core", "autograd", "declarations", "umbrella"},
    "nn": {PUBLIC},
    "data": {PUBLIC, "core"},
    "distributed": {PUBLIC, "core"},
    "umbrella": {PUBLIC},
    "compat": {PUBLIC},
    "programs": {PUBLIC, "compat"},
}

# The seam and the kernels use Views: they may not include these headers, not even where they may
# include the core.
NOT_FOR_KERNELS = re.compile(r"include/hearth/(tensor|autograd|indexing)\.h")

# Vendors' headers, and the only files that may include them.
VENDORS = [
    (r"(oneapi/dnnl/)?dnnl.*|cblas\.h|lapack.*|hwy/.*", r"src/kernels/cpu/.*"),
    (r"nccl\.h|cuda_runtime_api\.h", r"src/(distributed/nccl|kernels/cuda)/.*"),
    (r"(cuda(?!_runtime_api)|cublas|cudnn|curand|cusolver|cusparse|cupti|nvtx3/|nvrtc|cub/|thrust/|cooperative_groups).*",
     r"src/kernels/cuda/.*"),
    (r"gloo/.*", r"src/distributed/gloo/.*"),
    (r"nlohmann/json_fwd\.hpp", r"src/io/.*_json\.h"),
    (r"nlohmann/(?!json_fwd).*", r"(src/(io|experiment|profiler)/.*_json|apps/.*)\.cpp"),
    (r"cairo.*", r"src/plot/cairo/.*"),
    (r"zlib\.h", r"src/io/gzip\.cpp"),
    (r"png\.h", r"src/vision/png\.cpp"),
    (r"(jpeglib|jerror)\.h", r"src/vision/jpeg\.cpp"),
]
FUNCTOR_STANDARD_HEADERS = {"cmath"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".inc"}
FOLDERS = ["include", "src", "compat", "apps", "examples"]


def layer_of(path):
    return next((name for name, pattern in LAYERS if re.fullmatch(pattern, path)), None)


def resolve(name, includer):
    """The project file that an include names, or None for a library's header."""
    for folder in (includer.parent, ROOT / "include", ROOT / "src", ROOT / "compat"):
        candidate = folder / name
        if candidate.is_file():
            return candidate.resolve().relative_to(ROOT).as_posix()
    return None


def vendor_violation(path, name):
    for headers, allowed_paths in VENDORS:
        if re.fullmatch(headers, name) and not re.fullmatch(allowed_paths, path):
            return f"only {allowed_paths} may include it"
    if layer_of(path) in ("functors", "hd.h") and name not in FUNCTOR_STANDARD_HEADERS:
        return "functors compile for every target: <cmath> is their only standard header"
    return None


def project_violation(path, target):
    layer, other = layer_of(path), layer_of(target)
    if path.startswith("include/") and not target.startswith("include/"):
        return "public headers include public headers only"
    if layer in ("seam", "shared kernel code", "kernels") and NOT_FOR_KERNELS.fullmatch(target):
        return "kernels see Views, never a Tensor or autograd"
    if layer == "kernels" and other == layer:
        ours, theirs = path.split("/")[2], target.split("/")[2]
        if "cuda" in (ours, theirs) and ours != theirs:
            return "CUDA kernels and the kernels of other backends do not include each other"
        return None
    if other == layer or other in MAY_INCLUDE[layer]:
        return None
    if PUBLIC in MAY_INCLUDE[layer] and target.startswith("include/"):
        return None
    return f"{layer} may include {', '.join(sorted(MAY_INCLUDE[layer])) or 'nothing'}, not {other}"


def violations_of(file):
    path = file.relative_to(ROOT).as_posix()
    if layer_of(path) is None:
        yield 1, "(itself)", "its path matches no layer of tools/check_layers.py"
        return
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if re.match(r"\s*#\s*pragma\s+omp\b", line):
            yield number, "#pragma omp", "write parallel loops with core/parallel_for.h"
        if match := INCLUDE.match(line):
            target = resolve(match[2], file)
            why = project_violation(path, target) if target else vendor_violation(path, match[2])
            if why:
                yield number, match[2], why


def main():
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*"))
             if file.suffix in SUFFIXES]
    count = 0
    for file in files:
        for number, name, why in violations_of(file):
            count += 1
            print(f"{file.relative_to(ROOT)}:{number}: {name}: {why}")
    print(f"check_layers: {f'{count} violations' if count else 'ok'}, {len(files)} files")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
