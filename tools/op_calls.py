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
    exact = {path: defined(text_of(path), str)[0] for path in files}
    spelled_out = {name for names, _ in found.values() for name in names}
    return {
        path: [
            as_used(name, shown, exact[path])
            for name, shown in operators(family).items()
            if name in names
            or (name not in spelled_out and any(pattern.fullmatch(name) for pattern in patterns))
        ]
        for path, (names, patterns) in found.items()
    }


def as_used(name, shown, used):
    """The operator as a file shows it that defines or calls the names `used`: with the suffix of the
    form in place if it has only this one, and the form is declared by itself."""
    is_in_place = name not in used and f"{name}_" in used and f"{name}_" in declared_names()
    return f"{name}_" if is_in_place else shown


@cache
def declared_names():
    """The names of all operators as they are declared."""
    return {op.name for family in op_lists.families() for op in op_lists.operators(family)}


@cache
def names_with(*macros):
    """The operators without suffix that only these macros declare."""
    of = {}
    for family in op_lists.families():
        for op in op_lists.operators(family):
            of.setdefault(stem(op.name), set()).add(op.macro)
    return {name for name, found in of.items() if found <= set(macros)}


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


def without_local_names(code):
    """Code without the names of the functions and variables that it declares; a word stands before
    a declared name."""
    words = r"(?!(?:return|co_return|co_yield|else|do|and|or|not|throw|case)\b)"
    code = re.sub(rf"(?:(?<![\w>&*]){words}\b\w+|(?<=\S)[>&*]) +(?:\w+::)*\w+\(", "(", code)
    local = set(re.findall(r"\bauto&* (\w+) = \[", code))
    return re.sub(rf"(?<![\w.:])(?:{'|'.join(local)})\(", "(", code) if local else code


def calls_of(code):
    """The operators that code calls, freely or as a method, as it writes them."""
    code = re.sub(r"\.all\(\)(?!\.item)", "", code)  # Invocation::all, not the operator
    found = re.findall(r"(\.|(?:\w+|>)::|)\b(\w+)\(", without_local_names(code))
    functions = names_with("HEARTH_FUNCTION", "HEARTH_QUALIFIED")
    methods = names_with("HEARTH_METHOD_ONLY", "HEARTH_INPLACE")
    return {
        name
        for before, name in found
        if (before == "." and stem(name) not in functions)
        or (before in ("", "hearth::", "by_name::") and stem(name) not in methods)
    }


def called(path, own):
    """{family: its operators that a source calls}, without the operators `own` of the source."""
    used = calls_of(code_of(path)) - defined(text_of(path), str)[0]
    words = {stem(name) for name in used}
    found = {
        family: [
            as_used(name, shown, used)
            for name, shown in names.items()
            if name in words and as_used(name, shown, used) not in own
        ]
        for family, names in called_families().items()
    }
    return {family: names for family, names in found.items() if names}
