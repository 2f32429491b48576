"""kernel_lists.py: the files of the kernels of a family of operators, with the kernels that each
source runs, for the page that tools/lists.py writes."""

import re
from functools import cache

from check_names import SHARED, is_of, without_anonymous
from file_texts import base_of, family_of, includes_of, joined, named, purpose, text_of, texts

RUN = re.compile(r"^void run\(const (\w+)Params\s*&", re.M)
SOURCES, HEADERS = (".cpp", ".cu"), (".h", ".cuh")
TEMPLATES = (".cpp.in", ".cu.in")
FOLDERS = {"src/kernels/cpu": "CPU", "src/kernels/cuda": "CUDA"}
# A declaration in a namespace or a class; not a statement of a function's body.
DECLARED = re.compile(
    r"^ {0,2}(?!return|throw|else)(?:\w[\w:<>,&* ]*[ &*](?=\w+\()|(?=[A-Z]))"
    r"(\w+)\([^;{}]*\)[ a-z]*;",
    re.M,
)
CONSTANT = re.compile(r"^extern const \w+ (\w+);", re.M)
DEFINED = re.compile(
    r"^\w[^\n;{}()=]*?\b(\w+)\([^;{}]*\)(?: const)?(?: noexcept)?(?:\s:[^;{]*)? \{", re.M
)


def groups(files):
    """{source: its own files}: the source, and the headers and templates whose names begin with its
    name. A file that fits several sources belongs to the one with the longest name, a file that
    fits none to the first source."""
    sources = sorted(path for path in files if path.endswith(SOURCES))
    found = {path: [path] for path in sources}
    for path in files:
        fitting = [source for source in sources if is_of(base_of(path), base_of(source))]
        if path not in sources and sources:
            found[max(fitting, key=lambda s: len(base_of(s)), default=sources[0])].append(path)
    return found


@cache
def calls_of(path):
    """The names that a file calls."""
    return set(re.findall(r"\b(\w+)(?:<[\w, ]*>)?[({]", text_of(path)))


@cache
def definitions(path):
    """The functions and constants that a source defines for other files."""
    text = without_anonymous(text_of(path))
    return {*DEFINED.findall(text), *re.findall(r"^constexpr \w+ (\w+) =", text, re.M)}


@cache
def families_that_include(folder, names):
    """{header: the families of kernels whose sources include it}."""
    found = {}
    for path in texts(folder, *SOURCES, *TEMPLATES):
        for header in includes_of(folder, path):
            found.setdefault(header, set()).add(family_of(path, names))
    return found


def others_behind(folder, files, name, names):
    """The headers of other families and of libraries that the family's files include, if few other
    families do, and the sources that define what the files use of them."""
    users = families_that_include(folder, frozenset(names))
    found = set()
    for header in sorted({h for path in files for h in includes_of(folder, path)} - set(files)):
        is_shared = any(is_of(base_of(header), shared) for shared in SHARED[folder].split())
        if len(users.get(header, {name}) - {name}) > (3 if is_shared else 5):
            continue
        behind = sources_behind(folder, header, files)
        family = family_of(header, names)
        found |= {header, *behind}
        for path in (path for path in behind if not RUN.search(text_of(path))):
            own = {
                h
                for h in includes_of(folder, path)
                if is_of(base_of(h), base_of(path)) or family_of(h, names) == family
            }
            parts = {part for h in own for part in sources_behind(folder, h, [path])}
            found |= own | {part for part in parts if is_of(base_of(part), base_of(path))}
    return sorted(found - set(files))


def sources_behind(folder, header, files):
    """The other sources that define the header's constants, or functions of the header that the
    files, or these sources, call."""
    declared = set(DECLARED.findall(text_of(header))) - {"run"}
    constants = set(CONSTANT.findall(text_of(header)))
    found, left = [], [path for path in files if header in includes_of(folder, path)]
    while left:
        called = (declared & calls_of(left.pop())) | constants
        new = [
            source
            for source in texts(folder, *SOURCES)
            if header in includes_of(folder, source)
            and source not in [*files, *found]
            and called & definitions(source)
        ]
        found += new
        left += new
    return found


def headers_of_both(name, names):
    """The headers in src/kernels itself, for CPU and CUDA kernels, that the family's files include."""
    found = set()
    for folder in FOLDERS:
        for path in named(texts(folder, *SOURCES, *HEADERS, *TEMPLATES), name, names):
            for other in [path, *includes_of(folder, path)]:
                found |= set(re.findall(r'#include "(kernels/\w+\.h)"', text_of(other)))
    return [f"src/{header}" for header in sorted(found)]


def rows(name, names):
    """The files and tests of the kernels whose parameters are in seam/<name>.h."""
    for folder, title in FOLDERS.items():
        files = named(texts(folder, *SOURCES, *HEADERS, *TEMPLATES), name, names)
        of_source = groups(files)
        if not of_source:
            continue
        runs = {path: RUN.findall(texts(folder, *SOURCES)[path]) for path in of_source}
        for path in sorted(of_source, key=lambda path: not runs[path]):
            cell = joined(of_source[path])
            if runs[path]:
                yield cell, f"{title} kernels: " + ", ".join(sorted(runs[path]))
            else:
                yield cell, f"part of the {title} kernels: " + part_of(
                    folder, path, of_source[path]
                )
        if others := others_behind(folder, files, name, names):
            yield joined(others), f"other files that these {title} kernels use"
    for header in headers_of_both(name, names):
        content = purpose(header).removesuffix(", for CPU and CUDA kernels").removesuffix(", for host and device")
        yield f"`{header}`", f"for CPU and CUDA kernels: {content[:1].lower() + content[1:]}"
    yield from test_rows(name, names)


def part_of(folder, path, own):
    """The purpose of a source that runs no kernel, from its first comment or its header's."""
    header = re.sub(r"\.\w+$", ".h", path)
    text = (
        purpose(path, at_start=True) or (purpose(header) if header in own else "") or purpose(path)
    )
    text = text or "functions that they call"
    return text[0].lower() + text[1:] if not text[1:2].isupper() else text


def test_rows(name, names):
    tests = texts("tests/kernels", ".cpp")
    parameters = re.compile(rf"\b{''.join(part.capitalize() for part in name.split('_'))}Params\b")
    found = named(tests, name, names)
    found += [path for path in tests if path not in found and parameters.search(tests[path])]
    if found:
        yield joined(found), "tests of the CPU kernels"
