"""module_lists.py: the files of each header of modules, for the page that tools/lists.py writes."""

import re
from functools import cache

from check_names import MACRO, PASTED, stem
from declarations import functions_of, modules_of
from file_texts import base_of, cover, includes_of, joined, mentioned, named, text_of, texts
from op_calls import all_operators, as_used, code_of, layout_families, op_lists, operators

TESTS = ("tests/nn", "tests/parallel", "tests/distributed")
# Tests of options and errors of many modules.
VALUES = "tests/nn/values.cpp"
# Families of operators that modules call beside the one that computes their result.
HELPERS = {
    "arithmetic",
    "bounds",
    "cat",
    "compare",
    "division",
    "gather",
    "logic",
    "masked",
    "math",
    "minmax",
    "nonzero",
    "order",
    "products",
    "random",
    "range",
    "reduce",
    "scatter",
    "statistics",
    "take",
}
# A function that a header or a source has at the start of a line.
FUNCTION = re.compile(r"^(?:HEARTH_API )?(?:\w[\w:<>,& ]* )?(?!HEARTH_)(\w+)\(", re.M)


def module_lines(header, nn):
    """A list of the files of a header of modules; `nn` are the texts of all headers by name."""
    modules = [name for name, _, _ in modules_of(nn[header])]
    files = sources(header, modules, nn)
    others = sorted({f"`nn/{other}.h`" for other in headers_of_options(header, nn)})
    lines = [f"- Options: {', '.join(others)}."] if others else []
    lines.append(f"- Sources: {joined(files)}.")
    if files[0].startswith("src/nn") and (of_family := families_of(nn[header], files)):
        lines.append("- Operators: " + "; ".join(of_family) + ".")
    if parts := contained(header, nn, files):
        lines.append("- Contains: " + ", ".join(parts) + ".")
    return [*lines, "- Tests: " + ", ".join(tests(header, modules, nn)) + ".", ""]


def contained(header, nn, files):
    """The modules of other headers that the modules of a header have as members, or that its sources
    create."""
    code = "\n".join(code_of(path) for path in (f"include/hearth/nn/{header}.h", *files))
    return [
        f"{name} (`nn/{other}.h`)"
        for other, text in nn.items()
        if other != header
        for name, _, _ in modules_of(text)
        if re.search(rf"(?m)^  {name} \w+[;,{{]|\b{name}\({name}Options|register_module\(.*\b{name}\(", code)
    ]


def headers_of_options(header, nn):
    """The other headers that declare the options of a header's modules."""
    for _, _, options in modules_of(nn[header]):
        declared = re.compile(
            rf"^(?:template .*\n)?(?:struct|using) (?:HEARTH_API )?{options}\b", re.M
        )
        if options != "NoOptions" and not declared.search(nn[header]):
            yield from (other for other, text in nn.items() if declared.search(text))


def sources(header, modules, headers):
    """The sources of a header, and the private headers and sources that few others use."""
    folder = texts("src/nn", ".cpp")
    found = named(folder, header, headers)
    declared = set(FUNCTION.findall(text_of(f"include/hearth/nn/{header}.h")))
    found += [
        path
        for path, text in folder.items()
        if path not in found
        and f'"hearth/nn/{header}.h"' in text
        and declared & set(FUNCTION.findall(text))
    ]
    if not found:  # in a folder of its own
        others = texts("src/distributed", ".cpp")
        own = next(path for path in others if re.search(rf"\b{modules[0]}\w*::", others[path]))
        return sorted(texts(own.rpartition("/")[0], ".h", ".cpp"))
    private = private_headers(found)
    behind = [re.sub(r"h$", "cpp", path) for path in private if base_of(path) not in headers]
    helpers = [name for name in helpers_of(header, headers) if f"src/nn/{name}.cpp" in folder]
    behind += [f"src/nn/{name}.cpp" for name in helpers]
    behind = [path for path in behind if path in folder and path not in found]
    return found + private + behind + [f"include/hearth/nn/{name}.h" for name in helpers]


def helpers_of(header, headers):
    """The headers without modules that a header of modules includes, if few include them."""
    most = 3

    def included(text):
        return set(re.findall(r'#include "hearth/nn/(\w+)\.h"', text))

    return [
        name
        for name in sorted(included(headers[header]))
        if not modules_of(headers[name])
        and sum(name in included(text) for text in headers.values()) <= most
    ]


def private_headers(files):
    """The headers of src/nn that these sources include, if few sources do."""
    most = 4
    users = {path: includes_of("src/nn", path) for path in texts("src/nn", ".cpp")}
    common = {
        header
        for of_file in users.values()
        for header in of_file
        if sum(header in other for other in users.values()) > most
    }
    found = {header for path in files for header in users.get(path, [])}
    return sorted(found - common)


@cache
def option_names():
    """The names of options, which are called like operators."""
    headers = "\n".join(texts("include/hearth/nn", ".h").values())
    return set(re.findall(r"HEARTH_(?:ARG|CHOICE)\([^;]*?, (\w+)\)", headers))


def calls_in(path):
    """The operators without suffix that a source calls, also by macros that build their names."""
    code = FUNCTION.sub("", code_of(path))
    members = set(re.findall(r"^ +\w[\w:<>]* (\w+)\([^;]*\) const \{", code, re.M))
    called = re.findall(r"(?<!std::)(?<!>::)(?<!functional::)(?<![.\w])(\w+)\(|hearth::(\w+)", code)
    names = {word for of_match in called for word in of_match if word}
    names |= set(re.findall(r"\.(\w+)\(", code)) - option_names()
    for pasted in {name for _, _, body in MACRO.findall(code) for name in PASTED.findall(body)}:
        parts = re.compile(re.sub(r"##\w+##", "[0-9]+", pasted))
        names |= {name for name in all_operators() if parts.fullmatch(name)}
    names |= {word for word in re.findall(r"\w+_cell\b", code)}  # not called, but chosen
    return {word for word in names - members if stem(word) in all_operators()}


def families_of(text, files):
    """The operators that the functions of a header and its sources call, by family."""
    used = {
        name
        for path in files
        for name in calls_in(path)
        if all_operators()[stem(name)] not in HELPERS | layout_families()
    }
    found = {stem(name) for name in used}
    if any("hearth::op(" in text_of(path) for path in files):  # a macro's parameter
        found |= {name for name in map(stem, functions_of(text)) if name in all_operators()}
    by_family = {}
    for name in sorted(found):
        by_family.setdefault(all_operators()[name], []).append(
            as_used(name, operators(all_operators()[name])[name], used)
        )
    return [f"`{family}` ({', '.join(names)})" for family, names in sorted(by_family.items())]


def subjects_of(modules, subjects):
    """{one of the files subjects*.cpp, which create modules for tests: the modules that it names}. If
    a file has a case of the module's name, only such files count."""

    def word(name):
        last = re.search("[A-Z][a-z]*([123]d)?$", name)  # Pad1d, to which macros prepend the kind
        return rf"\b({name}|{re.sub('[123]d$', '', name)})\b" + (rf"|##{last[0]}\b" if last else "")

    def case(name):
        return rf'"{"_?".join(name.lower())}(_\w*)?"'

    named_ = mentioned(modules, subjects, word)
    cases = mentioned(modules, subjects, case)
    found = {path: named_[path] & cases[path] for path in subjects}
    left = [name for name in modules if not any(name in names for names in found.values())]
    for path, names in cover(left, named_).items():
        found[path] |= set(names)
    return {path: [n for n in modules if n in names] for path, names in found.items() if names}


def tests(header, modules, headers):
    """The files with tests of a header's modules, with the modules if they are not all."""
    files = {path: text for folder in TESTS for path, text in texts(folder, ".cpp").items()}
    subjects = {path: text for path, text in files.items() if "/subjects" in path}
    others = {path: text for path, text in files.items() if path not in subjects}
    found = subjects_of(modules, subjects)
    own = [p for p in subjects if p.endswith(f"/subjects_{header}.cpp") and p not in found]
    own += named(others, header, headers)
    if not found and not own:
        found = cover(modules, mentioned(modules, others, lambda name: rf"\b{name}\b"))
    suites = re.compile(rf"^TEST\w*\(({'|'.join(modules)}),", re.M)
    own += [p for p in others if p not in own and p not in found and suites.search(others[p])]
    found[VALUES] = [name for name in modules if re.search(rf"\b{name}\b", files[VALUES])]
    return [
        with_cases(path) + (f" ({', '.join(names)})" if len(names) < len(modules) else "")
        for path, names in found.items()
        if names
    ] + [with_cases(path) for path in own]


def with_cases(path):
    """A file of tests; one of subjects*.cpp with the Python file that its first line names."""
    cases = re.search(r"tests/oracle/\w+\.py", text_of(path).partition("\n")[0])
    return f"`{path}`" + (f" with `{cases[0]}`" if cases and "/subjects" in path else "")
