"""file_lists.py: the files of each family of operators and of each header of modules, found by their
names and by the operators and modules that they name, for the page that tools/lists.py writes."""

import re
from functools import cache

import op_lists
from check_names import base, defined, is_of, stem
from declarations import ROOT

# Tests of all operators, of one property each.
FOR_ALL = re.compile(
    r"(op|forms|large|complex|libtorch|oracle)_|(forms|fuzz|autocast|kinks|large|complex|undefined|"
    r"values|other_names)$"
)
FAMILIES = "src/functors/families.h"
MODULE_TESTS = ("tests/nn", "tests/parallel", "tests/distributed")


@cache
def texts(folder, *suffixes):
    """{path from the root: text} of the files in a folder and its subfolders."""
    files = sorted(path for path in (ROOT / folder).rglob("*") if path.name.endswith(suffixes))
    return {str(path.relative_to(ROOT)): path.read_text() for path in files}


def named(files, name, names):
    """The files of the family `name`: those whose base name is `name` or begins with it, but does
    not begin with a longer one of `names`."""
    longer = [other for other in names if is_of(other, name) and other != name]
    return [
        path
        for path in files
        if is_of(base(ROOT / path), name)
        and not any(is_of(base(ROOT / path), other) for other in longer)
    ]


def cover(names, mentions):
    """{file: names}: few files, chosen greedily, that mention all names that any file
    mentions. `mentions` is {file: the names that it mentions}."""
    left, chosen = list(names), {}
    while best := max(mentions, key=lambda file: len(set(left) & mentions[file]), default=None):
        new = [name for name in left if name in mentions[best]]
        if not new:
            break
        chosen[best] = new
        left = [name for name in left if name not in new]
    return chosen


def mentioned(names, files, pattern):
    """{file: the names for which the regular expression pattern(name) matches in it}."""
    patterns = {name: re.compile(pattern(name)) for name in names}
    return {file: {n for n in names if patterns[n].search(text)} for file, text in files.items()}


def operators(family):
    """{the operator's name without the suffix of a form: its name} of a family."""
    names = [op.name.removesuffix("_out") for op in op_lists.operators(family)]
    return {stem(name): stem(name) if stem(name) in names else name for name in names}


def sources(family, families):
    """{source: the operators that it defines} of a family."""
    files = named(texts("src/ops", ".cpp"), family, families)
    found = {path: defined(texts("src/ops", ".cpp")[path]) for path in files}
    exact = {name for names, _ in found.values() for name in names}
    return {
        path: [
            shown
            for name, shown in operators(family).items()
            if name in names
            or (name not in exact and any(pattern.fullmatch(name) for pattern in patterns))
        ]
        for path, (names, patterns) in found.items()
    }


def operator_tests(family, families):
    """{tests file: operators}: the files of the family's name; for operators without a test there,
    other files with a row, then one of these with an expectation, then one or two other files with
    an expectation."""
    names, all_tests = operators(family), texts("tests/ops", ".cpp")
    own = named(all_tests, family, families)
    own.sort(key=lambda path: base(ROOT / path) != family)
    found, left = {}, list(names)

    def take(files, pattern, most=None):
        mentions = mentioned(left, files, pattern)
        common = {n for n in left if most and sum(n in of for of in mentions.values()) > most}
        for path, of_file in cover([n for n in left if n not in common], mentions).items():
            found.setdefault(path, []).extend(of_file)
        left[:] = [n for n in left if not any(n in of_file for of_file in found.values())]

    for path in own:
        found[path] = []
        take({path: all_tests[path]}, lambda name: rf"\b{name}_*\b")
    others = {p: x for p, x in all_tests.items() if p not in own and not FOR_ALL.match(base(ROOT / p))}
    take(others, lambda name: rf'"{name}_?["./]')
    take({p: all_tests[p] for p in found}, lambda name: rf"EXPECT.*[.:(, ]{name}_?\(")
    take({**others, **texts("tests/api", ".cpp")}, lambda name: rf"EXPECT.*[.:(, ]{name}_?\(", most=2)
    return {path: [names[name] for name in of_file] for path, of_file in found.items()}


def included(paths, folder):
    """The headers of src/<folder> that the files include."""
    found = []
    for path in paths:
        found += re.findall(rf'#include "({folder}/(?!hd\.h|traits\.h)\w+\.h)"', (ROOT / path).read_text())
    return sorted({f"src/{name}" for name in found})


@cache
def launchers():
    """{function of a header in src/ops that runs a kernel: the header's base name}."""
    body = re.compile(r"^\w[^;{}()]* (\w+)\([^;{}]*\) \{\n  run_kernel\(", re.M)
    return {
        name: base(ROOT / path)
        for path, text in texts("src/ops", ".h").items()
        for name in body.findall(text)
    }


def includes_of(folder, path):
    """The headers of a folder of src/ that a file there includes, and those that these include."""
    found, left = [], [path]
    while left:
        text = (ROOT / left.pop()).read_text()
        new = {f"src/{name}" for name in re.findall(rf'#include "({folder[4:]}/\w+\.h)"', text)}
        left += sorted(new - set(found))
        found += sorted(new - set(found))
    return found


@cache
def helpers(folder):
    """{header: its sources} of a folder of kernels, for headers that at most five other sources include."""
    sources = texts(folder, ".cpp", ".cu")
    users = {path: includes_of(folder, path) for path in sources}
    result = {}
    for header in texts(folder, ".h", ".cuh"):
        name = base(ROOT / header)
        start = name.partition("_")[0] + "_"  # index_move.cpp has functions of index_loop.h
        own = [path for path in sources if is_of(base(ROOT / path), name)
               or (base(ROOT / path).startswith(start) and header in users[path])]
        others = [path for path in users if header in users[path] and path not in own]
        if own and len(others) <= 5:
            result[header] = own
    return result


def kernel_rows(name, names):
    """The sources and tests of the kernels whose parameters are in seam/<name>.h."""
    for folder, title in (("src/kernels/cpu", "CPU kernels"), ("src/kernels/cuda", "CUDA kernels")):
        found = named(texts(folder, ".cpp", ".cpp.in", ".cu", ".cu.in"), name, names)
        if not found:
            continue
        yield joined(found), title
        behind = {
            source
            for path in found
            for header in includes_of(folder, path)
            for source in helpers(folder).get(header, [])
        }
        if others := sorted(behind - set(found)):
            yield joined(others), f"functions that these {title} call"
    tests = texts("tests/kernels", ".cpp")
    parameters = re.compile(rf"\b{''.join(part.capitalize() for part in name.split('_'))}Params\b")
    found = named(tests, name, names)
    found += [path for path in tests if path not in found and parameters.search(tests[path])]
    if found:
        yield joined(found), "tests of the CPU kernels"


def joined(paths):
    """Paths as one cell; the folder is named once."""
    return ", ".join(
        f"`{path}`" if i == 0 or path.rpartition("/")[0] != paths[0].rpartition("/")[0]
        else f"`{path.rpartition('/')[2]}`"
        for i, path in enumerate(paths)
    )


def family_rows(family):
    """[(files, their contents)] of a family of operators."""
    families = op_lists.families()
    of_sources = sources(family, families)
    rows = [(f"`{path}`", ", ".join(names)) for path, names in of_sources.items() if names]
    shared = [path for path, names in of_sources.items() if not names]
    shared += named(texts("src/ops", ".h"), family, families)
    if shared:
        rows.append((joined(shared), "structs and functions for these sources"))
    functors = named(texts("src/functors", ".h"), family, families)
    seams = [path for path in texts("src/seam", ".h") if base(ROOT / path) == family]
    functors += [path for path in included(seams, "functors") if path not in functors]
    others = [path for path in included(of_sources, "functors") if path not in functors]
    if functors:
        is_pointwise = f"X({family.capitalize()})" in texts("src/functors", ".h")[FAMILIES]
        ending = ", from which the build makes the kernels" if is_pointwise else " of the kernels"
        rows.append((joined(functors), "formulas" + ending))
    if others:
        rows.append((joined(others), "formulas of other families"))
    return rows + seam_rows(family, families, shared + list(of_sources)) + test_rows(family, families)


def seam_rows(family, families, files):
    """Rows of the seam headers that the files include, and of the kernels behind them."""
    names = {*families, *(base(ROOT / path) for path in texts("src/seam", ".h"))}
    seams = [base(ROOT / path) for path in included(files, "seam")]
    calls = {word for path in files for word in re.findall(r"\b(\w+)\(", (ROOT / path).read_text())}
    seams += [header for name, header in launchers().items() if name in calls and header in names]
    rows = []
    for name in sorted(set(seams) - {"pointwise"}, key=lambda name: (name != family, name)):
        if name in families and name != family:
            rows.append((f"`src/seam/{name}.h`", f"kernels of `{name}`"))
        else:
            rows += [(f"`src/seam/{name}.h`", "parameters of the kernels"), *kernel_rows(name, names)]
    return rows if family in seams else rows + list(kernel_rows(family, names))


def test_rows(family, families):
    """Rows of tests; the first row tests the operators that the other rows do not name."""
    found = operator_tests(family, families)
    main = [path for path, names in found.items() if base(ROOT / path) == family or not names]
    rest = {path: names for path, names in found.items() if path not in main}
    if not main and len(rest) == 1:
        main, rest = list(rest), {}
    rows = [(joined(main), "tests")] if main else []
    return rows + [(f"`{path}`", "tests of " + ", ".join(names)) for path, names in rest.items()]


def module_files(header, modules, headers):
    """A sentence about the sources and tests of a header's modules."""
    folders = {**texts("src/nn", ".cpp"), **texts("src/distributed", ".cpp")}
    of_name = named(folders, header, headers)
    if not of_name:
        of_name = [path for path in folders if re.search(rf"\b{modules[0]}\w*::", folders[path])]
    files = {path: text for folder in MODULE_TESTS for path, text in texts(folder, ".cpp").items()}
    subjects = {path: text for path, text in files.items() if "/subjects" in path}
    others = {path: text for path, text in files.items() if path not in subjects}

    def word(name):
        return rf"\b({name}|{re.sub('[123]d$', '', name)})\b"

    found = cover(modules, mentioned(modules, subjects, word))
    own = [p for p in subjects if p.endswith(f"/subjects_{header}.cpp") and p not in found]
    own += named(others, header, headers)
    if not found and not own:
        found = cover(modules, mentioned(modules, others, word))
    tests = [
        f"`{path}`" + (f" ({', '.join(names)})" if len(found) > 1 else "")
        for path, names in found.items()
    ]
    suites = re.compile(rf"^TEST\w*\(({'|'.join(modules)}),", re.M)
    own += [p for p in others if p not in own and p not in found and suites.search(others[p])]
    tests += [f"`{path}`" for path in own]
    return f"Sources: {joined(of_name + private_headers(of_name))}. Tests: {', '.join(tests)}."


def private_headers(sources):
    """The headers of src/nn that these sources include and few others do."""
    most = 4
    users = {path: includes_of("src/nn", path) for path in texts("src/nn", ".cpp")}
    common = {header for of_file in users.values() for header in of_file
              if sum(header in other for other in users.values()) > most}
    found = {header for path in sources for header in users.get(path, [])}
    return sorted(found - common)
