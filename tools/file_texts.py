"""file_texts.py: the files of a folder, their families, includes, first comments and the names that
they mention, and tables of files, for the page that tools/lists.py writes."""

import re
from functools import cache

from check_names import base_of, is_of
from declarations import ROOT


@cache
def texts(folder, *suffixes):
    """{path from the root: text} of the files in a folder and its subfolders."""
    files = sorted(path for path in (ROOT / folder).rglob("*") if path.name.endswith(suffixes))
    return {str(path.relative_to(ROOT)): path.read_text() for path in files}


@cache
def text_of(path):
    return (ROOT / path).read_text()


def family_of(path, names):
    """The longest of the names that the file's base name is or begins with, or its base name."""
    return max((n for n in names if is_of(base_of(path), n)), key=len, default=base_of(path))


def named(files, name, names):
    """The files of the family `name`: those whose base name is `name` or begins with it, but does
    not begin with a longer one of `names`."""
    return [p for p in files if is_of(base_of(p), name) and family_of(p, {*names, name}) == name]


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


def included(paths, folder):
    """The headers of src/<folder> that the files include."""
    found = []
    for path in paths:
        found += re.findall(rf'#include "({folder}/(?!hd\.h|traits\.h)\w+\.h)"', text_of(path))
    return sorted({f"src/{name}" for name in found})


@cache
def includes_of(folder, path):
    """The headers of a folder of src/ that a file there includes, and those that these include."""
    found, left = [], [path]
    while left:
        names = re.findall(rf'#include "({folder[4:]}/\w+\.(?:h|cuh))"', text_of(left.pop()))
        new = {f"src/{name}" for name in names}
        left += sorted(new - set(found))
        found += sorted(new - set(found))
    return found


def purpose(path, at_start=False):
    """The first sentence of a file's first comment, up to its first semicolon or colon. With
    `at_start`, only if the file begins with this comment."""
    comment = r"((?:// .*\n)+|(?:/// .*\n)+)"
    lines = (
        re.match(comment, text_of(path))
        if at_start
        else re.search("^" + comment, text_of(path), re.M)
    )
    if not lines:
        return ""
    words = re.sub(r"^/+ ", "", lines[1], flags=re.M).replace("\n", " ").strip()
    return re.split(r"[.;:] ", words + " ")[0].rstrip(".:").replace("|", "\\|").replace("*", "\\*")


def joined(paths):
    """Paths as one cell; a folder is named once."""
    folders = [path.rpartition("/")[0] for path in paths]
    return ", ".join(
        f"`{path.rpartition('/')[2]}`" if i and folders[i] == folders[i - 1] else f"`{path}`"
        for i, path in enumerate(paths)
    )


def table(head, rows):
    """The lines of a table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]
