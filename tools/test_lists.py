"""test_lists.py: the tests of each operator of a family, for the page of tools/lists.py."""

import re
from collections import Counter
from functools import cache

from check_names import FUNCTION, is_of, stem
from file_texts import base_of, cover, joined, mentioned, named, purpose, text_of, texts
from op_calls import all_operators, operators

# The names of files with tests of one property of several operators, and of several, many or all.
FOR_SEVERAL = re.compile(r"(complex|libtorch)_|(complex|kinks|values|other_names)$")
FOR_MANY = re.compile(
    rf"{FOR_SEVERAL.pattern}|(op|forms|oracle|large)_|(forms|fuzz|undefined|autocast|large)$"
)

# A comparison whose result is only a mask.
MASK = re.compile(r"(\b(?:where|masked_\w+)\((?:\w+\(\w+\)|\w+))\.(?:gt|ge|lt|le|eq|ne)\(")


@cache
def code(folder):
    """{file: code} of a folder of tests: without comments, and without the calls of functions and
    variables of the file's own."""
    found = {}
    for path, text in texts(folder, ".cpp").items():
        text = re.sub(r'("(?:[^"\\\n]|\\.)*")|//.*', lambda match: match[1] or "", text)
        own = {*re.findall(r"\bauto&* (\w+) = \[", text), *FUNCTION.findall(text)}
        own &= set(all_operators())
        found[path] = re.sub(rf"(?<![\w.:])(?:{'|'.join(own)})\(", "(", text) if own else text
    return found


def operator_tests(family, families):
    """{file of tests: the operators that it tests}. These are the files of the family's name, with
    the operators that they mention. Each operator that is left goes to another file with a row of
    it, else to a file found so far with an expectation about it, else to another file with such an
    expectation, if at most two files have one."""
    names, all_tests = operators(family), code("tests/ops")
    own = named(all_tests, family, families)
    own.sort(key=lambda path: base_of(path) != family)
    found, left = {}, list(names)

    def take(files, pattern, most=None):
        """Moves operators from `left` to files in which the pattern finds them, unless it finds them
        in more than `most` files."""
        mentions = mentioned(left, files, pattern)
        in_many = {n for n in left if most and sum(n in of for of in mentions.values()) > most}
        for path, of_file in cover([n for n in left if n not in in_many], mentions).items():
            found.setdefault(path, []).extend(of_file)
        left[:] = [n for n in left if not any(n in of_file for of_file in found.values())]

    for path in own:
        found[path] = []
        take({path: all_tests[path]}, lambda name: rf"\b{name}_*\b")
    others = {p: x for p, x in all_tests.items() if p not in own and not FOR_MANY.match(base_of(p))}
    take(others, lambda name: rf'"{name}_?(?:"(?!\))|[./])')
    take({p: all_tests[p] for p in found}, lambda name: rf"EXPECT.*[.:(, ]{name}_*\(")
    take(
        {**others, **code("tests/api")}, lambda name: rf"EXPECT.*[.:(, ]{name}_*\(", most=2
    )
    return {path: [names[name] for name in of_file] for path, of_file in found.items()}


@cache
def cases():
    """{file: the code that names what it tests}: its rows, the names of its tests, the statements
    with an expectation and the first words of its fixture."""
    pattern = re.compile(
        r"^TEST.*|(?:EXPECT|ASSERT|expect)_.*(?:\n {6,}.*)*|\{+\"[\w.]+\".*|"
        r"(?:COMPLEX_\w+|UNARY)\(\w+.*|\.covers = .*",
        re.M,
    )
    found = {}
    for path, text in code("tests/ops").items():
        fixtures = re.findall(r'fixture_path\("(\w+_cases\.txt)"\)', text)
        lines = "\n".join(text_of(f"tests/fixtures/{name}") for name in fixtures)
        rows_of_fixture = [f"case {name}" for name in sorted(set(re.findall(r"^\w+", lines, re.M)))]
        found[path] = MASK.sub(r"\1(", "\n".join(pattern.findall(text) + rows_of_fixture))
    return found


@cache
def common():
    """The operators that many tests call, to make inputs and to compare results."""
    tests = [set(re.findall(r"\b(\w+)\(", text)) for text in texts("tests/ops", ".cpp").values()]
    counts = Counter(stem(word) for words in tests for word in words)
    return {name for name, count in counts.items() if 6 * count > len(tests)}


def more_tests(family, families, listed):
    """{file: the operators of the family that it tests} for the family's files and for those of
    FOR_SEVERAL, without the operators of `listed`, which has the same form."""
    names = operators(family)
    own = named(cases(), family, families)

    def is_told(name):
        return len(name) > 2 and name != "gradient"  # a word for what the tests of all operators do

    def pattern(name):
        camel = "".join(part.capitalize() for part in name.split("_"))
        found = rf'(?m)"{name}_?(?:"(?!\))|[./])|(?:COMPLEX_\w+|UNARY)\({name}\b'
        short = name.removeprefix(family + "_")
        found += rf"|^case {name if short in all_operators() else f'({name}|{short})'}$"
        found += rf"|, \w*(?<![a-z]){camel}(?:s|ers)?(?![a-z])" if is_told(name) else ""
        return found if name in common() else found + rf"|(?<![\w:]){name}(?:_error)?_*\("

    files = {p: x for p, x in cases().items() if p in own or FOR_SEVERAL.match(base_of(p))}
    return {
        path: [names[n] for n in names if n in of_file and names[n] not in listed.get(path, [])]
        for path, of_file in mentioned(names, files, pattern).items()
    }


def rows(family, families):
    """Rows of tests; the first row tests the operators that the other rows do not name."""
    found = operator_tests(family, families)
    main = [path for path in found if base_of(path) == family]
    rest = {path: names for path, names in found.items() if path not in main}
    if not main and len(rest) == 1:
        main, rest = list(rest), {}
    if main:
        yield joined([*main, *headers_of(main)]), "tests"
    more = more_tests(family, families, rest)
    for path, names in rest.items():
        also = more.pop(path, [])
        contents = ["tests of " + ", ".join(names)] if names else []
        contents += ["also tests of " + ", ".join(also)] if also else []
        yield joined([path, *headers_of([path])]), "; ".join(contents) or "tests: " + purpose(path)
    for path, names in more.items():
        if names and path not in main:
            yield f"`{path}`", "also tests of " + ", ".join(names)
    if large := large_tests(family):
        yield joined(large), "large calls of the kernels"


def large_tests(family):
    """The files with large calls of a family's kernels."""
    seams = [text for path, text in texts("src/seam", ".h").items() if is_of(base_of(path), family)]
    kernels = re.findall(r"struct (\w+)Params", "\n".join(seams))
    return [
        path
        for path, text in texts("tests/ops", ".cpp").items()
        if base_of(path).startswith("large_") and any(f'"{kernel}"' in text for kernel in kernels)
    ]


def headers_of(paths):
    """The headers beside these tests that few others include, and the Python files that write their
    fixtures."""
    most = 5
    own = "\n".join(text_of(path) for path in paths)
    headers = set(re.findall(r'#include "(tests/ops/\w+\.h)"', own))
    tests = texts("tests/ops", ".cpp").values()
    few = [name for name in headers if sum(f'"{name}"' in text for text in tests) <= most]
    return sorted(few) + sorted(
        {f"tests/oracle/{name}.py" for name in re.findall(r"(\w+_cases)\.(?:py|txt)", own)}
    )
