"""op_calls.py: the kernels that a source of operators launches, and the operators of other sources
that it calls, for the page that tools/lists.py writes."""

import re
from functools import cache

import op_lists
from check_names import defined, stem, without_anonymous
from file_texts import included, named, text_of, texts

PARAMS = re.compile(r"\b(\w+)Params\b")
# A definition at the start of a line, up to the next one.
BLOCK = re.compile(r"^(?:template <.*>\n)?(\w(?:.|\n(?![\w#/]))*)", re.M)
NAME = re.compile(r"(?:struct|class) (\w+)|[^({;=]*?\b(\w+)\(")


@cache
def kernels():
    """The names of all kernels that have parameters of their own."""
    return set(re.findall(r"^  X\((\w+)\)", text_of("src/seam/table.h"), re.M)) - {"Pointwise"}


def operators(family):
    """{name without a form's suffix: name to show} of a family: copy -> copy_ if the family has no
    `copy`."""
    names = [op.name.removesuffix("_out") for op in op_lists.operators(family)]
    return {stem(name): stem(name) if stem(name) in names else name for name in names}


@cache
def all_operators():
    """{operator without suffix: its family}."""
    return {name: family for family in op_lists.families() for name in operators(family)}


def sources(family):
    """{source: the operators that it defines} of a family. Macros build some names with ##; these
    match patterns, unless a source of the family spells them out."""
    files = named(texts("src/ops", ".cpp"), family, op_lists.families())
    found = {path: defined(text_of(path)) for path in files}
    spelled_out = {name for names, _ in found.values() for name in names}
    return {
        path: [
            shown
            for name, shown in operators(family).items()
            if name in names
            or (name not in spelled_out and any(pattern.fullmatch(name) for pattern in patterns))
        ]
        for path, (names, patterns) in found.items()
    }


@cache
def shared_files():
    """The headers, and the sources without operators, whose functions other sources use."""
    shared = [path for f in op_lists.families() for path, names in sources(f).items() if not names]
    shared.append("src/ops/index.cpp")  # belongs to no family
    return [*texts("src/seam", ".h"), *texts("src/ops", ".h"), *shared]


@cache
def launchers():
    """{function or struct of a shared file: the kernels that it launches}."""
    found = {}
    for path in shared_files():
        text, of_file = text_of(path), dict(found)
        # Repeated, because a function may call one that is defined later in the file.
        for _ in range(3):
            for name, words in blocks(text):
                launches = launched(words).union(*(of_file[word] for word in words & set(of_file)))
                if launches:
                    of_file[name] = launches | of_file.get(name, set())
        public = {
            name for name, _ in blocks(without_anonymous(text) if path.endswith(".cpp") else text)
        }
        found.update({name: launches for name, launches in of_file.items() if name in public})
    return found


@cache
def blocks(text):
    """[(name, its words)] of the functions and structs of a file."""
    found = [(NAME.match(block), block) for block in BLOCK.findall(text)]
    of_name = [(match[1] or match[2], block) for match, block in found if match]
    return [(name, words_in(block)) for name, block in of_name if not name.startswith("HEARTH_")]


@cache
def code_of(path):
    """A file's code without comments and string literals."""
    return without_comments_and_strings(text_of(path))


def without_comments_and_strings(code):
    return re.sub(r'//.*|"(?:[^"\\\n]|\\.)*"', "", code)


def words_in(code):
    return set(re.findall(r"(?<!std::)\b[A-Za-z]\w*", without_comments_and_strings(code)))


def launched(words):
    return {
        word.removesuffix("Params")
        for word in words
        if word.removesuffix("Params") in kernels() and word.endswith("Params")
    }


def kernels_of(path):
    """The kernels that a source launches, itself or by functions and structs of shared files."""
    words = words_in(text_of(path))
    return sorted(launched(words).union(*(launchers()[word] for word in words & set(launchers()))))


@cache
def pointwise_families():
    """The families whose kernels the build makes from formulas."""
    listed = re.findall(r"X\((\w+)\)", text_of("src/functors/families.h"))
    return [family for family in op_lists.families() if family.capitalize() in listed]


def layout_families():
    """The families of simple ops on metadata and memory (views, copies, fills, queries), which most
    sources call."""
    return {"copy", "create", "query", "reshapes", "views", "windows"}


@cache
def called_families():
    """{family: {operator without suffix: operator}} of the families whose calls are listed:
    neither those of formulas nor layout_families()."""
    left_out = layout_families().union(pointwise_families())
    return {family: operators(family) for family in op_lists.families() if family not in left_out}


def called(path, own):
    """{family: its operators that a source calls}, without the operators `own` of the source."""
    code = re.sub(r"\.all\(\)(?!\.item)", "", code_of(path))  # Invocation::all, not the operator
    code = re.sub(r"(?:\bvector<\w+>|\bDims) \w+\(", "(", code)  # definitions of variables
    called_names = re.findall(r"(?:(\w+|>)::)?\b(\w+)\(", code)
    words = {stem(name) for scope, name in called_names if scope in ("", "hearth", "by_name")}
    found = {
        family: [shown for name, shown in names.items() if name in words and shown not in own]
        for family, names in called_families().items()
    }
    return {family: names for family, names in found.items() if names}
