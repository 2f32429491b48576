"""file_lists.py: the files of each family of operators, found by their names and by the operators
and kernels that they name, for the page that tools/lists.py writes."""

import re

import kernel_lists
import op_lists
import test_lists
from check_names import FUNCTION, is_of, without_anonymous
from file_texts import base_of, included, joined, named, purpose, table, text_of, texts
from op_calls import (
    called,
    kernels_of,
    operators,
    pointwise_families,
    sources,
    words_in,
)

# Headers of src/ops that concern calls of all operators.
OF_CALLS = {"src/ops/autocast.h", "src/ops/history.h", "src/ops/tensor_value.h"}
INTRODUCTION = [
    "## Families of operators",
    "",
    "All layers use a family's name (ARCHITECTURE.md, section 7). In the tables,",
    "",
    "- an operator's gradient is in its own source, in the struct of the family that it uses, or in a file "
    "`shared with other families` whose struct it uses;",
    "- `abs.complex` is an overload of `abs`; look up `abs`;",
    "- an operator that `docs/ops.md` calls composed has no formula of its own, whatever the family has;",
    "- an operator that is another name of one (`special_psi` of `digamma`) has no formula and no row of the op "
    "table of its own; its comment in the `.inc` or its source names the other;",
    "- kernels have the names of their parameters: `Svd` is `struct SvdParams`, and "
    "`void run(const SvdParams&, Ctx&)` in the sources. If a family has several kernels, the operators' "
    "sources name those that they launch;",
    "- `X_@target@.cpp.in` only instantiates `X_loops.h`, which has the loops, for each instruction set;",
    "- `calls` names the operators of other sources that a source calls, also in gradients, but not "
    "formulas (`x.mul(y)`), copies, fills and views; a source without formulas, kernels and calls copies and "
    "fills with the pointwise kernels (`src/ops/copy.h`), or only changes sizes and strides;",
    "- the kernels of formulas, copies and fills are `src/kernels/cpu/pointwise*`, with the functions in "
    "`math*.h` and `complex_math.h` and, between dtypes, `convert*`, and `src/kernels/cuda/pointwise*`; "
    "copies of transposed matrices take `src/kernels/cpu/copy_transposed*`; `tests/kernels/pointwise*` test "
    "those of the CPU, and `tests/ops/large_rows.cpp` has large calls;",
    "- operators of C++ (`a + b`, `a > b`) are declared in `include/hearth/operators.h`; a backward kernel's "
    "own gradient is a formula of operators, which `src/ops/composed_gradient.cpp` differentiates;",
    "- headers that many files include are left out: `src/ops/{composed_out,define,promote,pointwise}*.h`, "
    "`src/kernels/cpu/{isa,strided,vec}*.h`, `src/kernels/cuda/{launch,loop,lane}.h` and the like;",
    "- a row `tests` has the tests of the operators that no row `tests of` names; `also tests of` and "
    "`large calls` add files;",
    "- `tests/gpu`, `tests/cuda` and `tests/compat`, which test groups of operators on GPUs, on emulated "
    "kernels and with LibTorch's names, are left out.",
    "",
    "These files of `tests/ops` test one property of all or of several operators. The `op_*` derive "
    "their tests from the rows of all files (`tests/support/op_table.h`), and `tests/oracle/compare.py` compares "
    "the rows with PyTorch, whose calls are in `tests/oracle/calls*.py`. The families' tables name the files "
    "with an operator's own cases again, as `also tests of` or `large calls`.",
    "",
]


def family_rows(family):
    """[(files, their contents)] of a family of operators."""
    families = op_lists.families()
    of_sources = sources(family)
    headers = named(texts("src/ops", ".h"), family, families)
    rows = [(f"`include/hearth/ops/{family}.inc`", "declarations"), *other_declarations(family)]
    rows += source_rows(of_sources, headers)
    others = headers_of_others([*of_sources, *headers], [*headers, *of_sources])
    if others:
        rows.append((joined(others), "shared with other families"))
    rows += formula_rows(family, families, of_sources)
    rows += seam_rows(family, families, [*headers, *of_sources])
    return [*rows, *test_lists.rows(family, families)]


def source_rows(of_sources, headers):
    """Rows of a family's sources, with their operators, the kernels that they launch if these
    differ, and the operators that they call; then of its headers."""
    launches = {path: kernels_of(path) for path in of_sources}
    kernels = {
        kernel.removesuffix("Backward") for of_file in launches.values() for kernel in of_file
    }
    sources_differ = len(kernels) > 1 or not all(launches.values())
    left = list(headers)
    for path, names in sorted(of_sources.items(), key=lambda item: not item[1]):
        own = [header for header in left if not names and header == path[:-3] + "h"]
        left = [header for header in left if header not in own]
        contents = [
            ", ".join(names) or "for these sources: " + (purpose(path, True) or "functions")
        ]
        if launches[path] and sources_differ:
            contents.append("kernels: " + ", ".join(launches[path]))
        if calls := called(path, names):
            listed = (f"`{of}` ({', '.join(of_family)})" for of, of_family in calls.items())
            contents.append("calls " + ", ".join(listed))
        yield joined([path, *own]), "; ".join(contents)
    if left:
        yield joined(left), "structs and functions for these sources"


def other_declarations(family):
    """A row of the header that declares a family's functions in a namespace of LibTorch."""
    path = f"include/hearth/{family}.h"
    if path in texts("include/hearth", ".h") and re.search(
        rf"\b{family}_(##|\w+\()", text_of(path)
    ):
        yield f"`{path}`", f"the same functions as `{family}::…`, with defaults of their own"


def headers_of_others(paths, own):
    """The headers of other families in src/ops that these files include, if few files do, and the
    sources that define the functions that these files call."""
    most = 6
    all_sources = texts("src/ops", ".cpp")
    found = []
    for header in included(paths, "ops"):
        users = [p for p in texts("src/ops", ".cpp", ".h") if f'"{header[4:]}"' in text_of(p)]
        if header in own or header in OF_CALLS or len(users) > most:
            continue
        words = {word for p in paths for word in words_in(text_of(p))}
        used = set(FUNCTION.findall(text_of(header))) & words
        structs = set(re.findall(r"^struct (\w+)", text_of(header), re.M)) & words
        found += [
            header,
            *(
                path
                for path in users
                if path in all_sources
                and path not in [*paths, *found]
                and (
                    used & set(FUNCTION.findall(without_anonymous(text_of(path))))
                    or structs & set(re.findall(r"^\w[^\n(]* (\w+)::\w+\(", text_of(path), re.M))
                )
            ),
        ]
    return found


def formula_rows(family, families, of_sources):
    functors = named(texts("src/functors", ".h"), family, families)
    seams = [path for path in texts("src/seam", ".h") if base_of(path) == family]
    functors += [path for path in included(seams, "functors") if path not in functors]
    kernels = named(
        texts("src/kernels/cpu", ".cpp") | texts("src/kernels/cuda", ".cu"), family, families
    )
    launched = [f"src/seam/{name}.h" for name in seams_of(of_sources, families)]
    others = included([*of_sources, *functors, *kernels, *launched], "functors")
    others = [path for path in others if path not in [*functors, "src/functors/families.h"]]
    if functors:
        is_pointwise = family in pointwise_families()
        ending = ", from which the build makes the kernels" if is_pointwise else " of the kernels"
        yield from formulas_by_header(family, functors, ending)
    if others:
        yield joined(others), "formulas of other families"


def formulas_by_header(family, functors, ending):
    """One row of a family's formulas, or rows of the headers that define functions of operators'
    names."""
    found, rest = {}, []
    for path in functors:
        defined = set(re.findall(r"\b(\w+)\((?:double|V|T) ", text_of(path)))
        names = [
            name
            for name in operators(family)
            if name in defined
            or (
                name.removeprefix(f"{family}_") in defined
                and name.removeprefix(f"{family}_") not in operators(family)
            )
        ]
        if names and len(functors) > 1:
            found[path] = names
        else:
            rest.append(path)
    for path, names in found.items():
        own = [o for o in rest if [f for f in found if o in included([f], "functors")] == [path]]
        rest = [other for other in rest if other not in own]
        yield joined([path, *own]), "formulas of " + ", ".join(names)
    yield joined(rest), ("other formulas" if found else "formulas") + ending


def seams_of(files, families):
    """The base names of the seam headers that the files include, and of the kernels that they
    launch, but pointwise."""
    names = {*families, *(base_of(path) for path in texts("src/seam", ".h"))}
    launches = {kernel for path in files for kernel in kernels_of(path)}
    seams = {base_of(path) for path in included(files, "seam")}
    for path, text in texts("src/seam", ".h").items():
        if base_of(path) in names and any(f"struct {kernel}Params" in text for kernel in launches):
            seams.add(base_of(path))
    return seams - {"pointwise"}


def seam_rows(family, families, files):
    """Rows of the seam headers of the files, and of the kernels behind them."""
    names = {*families, *(base_of(path) for path in texts("src/seam", ".h"))}
    launches = {kernel for path in files for kernel in kernels_of(path)}
    seams = seams_of(files, families)
    rows = []
    for name in sorted(seams, key=lambda name: (name != family, name)):
        text = text_of(f"src/seam/{name}.h")
        used = [kernel for kernel in sorted(launches) if f"struct {kernel}Params" in text]
        if not is_of(name, family):
            content = (
                f"parameters of {', '.join(used)}, kernels of `{name}`"
                if used
                else f"shapes of `{name}`"
            )
            rows.append((f"`src/seam/{name}.h`", content))
        elif used:
            rows += [
                (f"`src/seam/{name}.h`", "parameters of the kernels"),
                *kernel_lists.rows(name, names),
            ]
    # A family without a seam header of its name may have kernel sources of its name.
    return rows if family in seams else rows + list(kernel_lists.rows(family, names))


def index_rows():
    """The files of Tensor::index and index_put_, which have no list."""
    return [
        ("`include/hearth/tensor.h`", "declarations of Tensor::index, index_put_"),
        ("`compat/ATen/ops/index.h`", "declarations of their free forms"),
        ("`src/ops/index.cpp`", "index, index_put_"),
        ("`src/ops/indexing.cpp`, `index.h`", "structs and functions for this source"),
        ("`src/seam/index.h`", "parameters of the kernels"),
        *kernel_lists.rows("index", {*op_lists.families(), "index"}),
        ("`tests/ops/index.cpp`, `index_input.h`, `tests/api/indexing.cpp`", "tests"),
        (joined(test_lists.large_tests("index")), "large calls of the kernels"),
    ]


def shared_tests():
    """A table of the files with tests of one property of all or of several operators."""
    for path in texts("tests/ops", ".cpp"):
        if test_lists.FOR_MANY.match(base_of(path)):
            yield joined([path, *test_lists.headers_of([path])]), purpose(path)


def section():
    """The files of the families of operators."""
    out = [*INTRODUCTION, *table(("files", "contents"), shared_tests())]
    for family in sorted([*op_lists.families(), "index"]):
        rows = index_rows() if family == "index" else family_rows(family)
        out += [f"### `{family}`", "", *table(("files", "contents"), rows)]
    return out
