"""declared_names.py: the classes, functions, types and macros that the headers of include/hearth and
compat declare."""

import functools
import re

from declarations import HEADERS, ROOT, read

DECLARATION = re.compile(
    r"^[ \t]*(?:template <[^\n]*>[ \t]*\n?[ \t]*)?(?:"
    r"(?:class|struct|enum class|enum)[ \t]+(?:HEARTH_API[ \t]+)?(?P<type>\w+)\b(?![^{;\n]*;)"
    r"|using[ \t]+(?:\w+::)*(?P<alias>\w+)[ \t]*[=;]"
    r"|#define[ \t]+(?P<macro>\w+)"
    r"|(?!return\b|else\b|throw\b|//)[\w:<>,&*\[\] ]+[ &*>](?P<function>\w+)\("
    r")",
    re.M,
)


def names_of(path):
    """The names that a header declares."""
    return [match[match.lastgroup] for match in DECLARATION.finditer(read(path))]


@functools.cache
def headers_of_names():
    """{name: header}; a header of include/hearth comes before one of compat."""
    declared = {}
    compat = ROOT / "compat"
    files = [(path, path.relative_to(HEADERS)) for path in sorted(HEADERS.rglob("*.h"))]
    files += [(path, path.relative_to(ROOT)) for path in sorted(compat.rglob("*.h"))]
    for path, shown in files:
        for name in names_of(path):
            declared.setdefault(name, shown.as_posix())
    return declared
