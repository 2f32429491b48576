"""Reads the lists of operators, include/hearth/ops/*.inc."""

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent.parent / "include" / "hearth" / "ops"
DECLARATION = re.compile(
    r"((?:^[ \t]*//[^\n]*\n)*)^(HEARTH_\w+)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)\s*;?$", re.M
)
WITHOUT_RESULT = ("HEARTH_ALL_FORMS", "HEARTH_OUT", "HEARTH_INPLACE")  # their results are tensors
WITH_RESULT = ("HEARTH_METHOD", "HEARTH_METHOD_ONLY", "HEARTH_FUNCTION", "HEARTH_QUALIFIED")


class Operator(NamedTuple):
    list: str  # the base name of its list
    comment: str  # lines that begin with ///
    macro: str
    result: str
    name: str
    parameters: str  # without self, if the macro adds it


def split_first(text, count):
    """The first `count` arguments of a macro as a list, and the other arguments as one text."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += {"(": 1, "<": 1, "{": 1, ")": -1, ">": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0 and len(parts) < count:
            parts.append(" ".join(text[start:i].split()))
            start = i + 1
    rest = " ".join(text[start:].split())
    return (parts, rest) if len(parts) == count else (parts + [rest], "")


def families():
    """The base names of the lists."""
    return sorted(path.stem for path in FOLDER.glob("*.inc") if path.stem not in ("as_methods", "list"))


def operators(family):
    """The operators that a list declares, in its order."""
    found, comment = [], ""
    for lines, macro, arguments in DECLARATION.findall((FOLDER / f"{family}.inc").read_text()):
        assert macro in WITHOUT_RESULT + WITH_RESULT, f"{family}.inc: unknown macro {macro}"
        own = [line.strip() for line in lines.splitlines() if re.match(r"\s*///(?!<)", line)]
        comment = "\n".join(own) or comment  # holds for all declarations up to the next comment
        result, count = ("Tensor", 1) if macro in WITHOUT_RESULT else ("", 2)
        parts, rest = split_first(arguments, count)
        found.append(Operator(family, comment, macro, result or parts[0], parts[-1], rest))
    return found
