"""declarations.py: reads the modules and functions that the headers of include/hearth declare, for
the pages that tools/lists.py and tools/nn_list.py write."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "hearth"
# The /// comment above a declaration.
DOC = r"((?:[ \t]*///(?!<)[^\n]*\n)*)"


def read(path):
    """A header with its own macros expanded."""
    return expanded(path.read_text())


def expanded(text):
    """The text with the calls of its own macros, at the start of a line, replaced by their bodies. A
    definition is valid up to the next #define of the same name."""
    macros, out = {}, []
    define = re.compile(r"#define (\w+)(\([^)]*\))?[ \t]*(?:\\\n)?((?:.*\\\n)*.*)\n?")
    for part in re.split(r"^(?=#define )", text, flags=re.M):
        match = define.match(part)
        if match:
            names = [name.strip() for name in (match[2] or "()")[1:-1].split(",")]
            body = re.sub(r"[ \t]*\\\n(?:  )?", "\n", match[3])
            macros[match[1]] = (match[2] is not None, names, re.sub(r"^  ", "", body))
            out.append(match[0])
            part = part[match.end() :]
        for name, (has_parameters, names, body) in reversed(macros.items()):
            part = replaced(part, name, has_parameters, names, body)
        out.append(part)
    return "".join(out)


def replaced(text, name, has_parameters, names, body):
    """The text with one macro expanded."""
    if not has_parameters:
        return re.sub(rf"^\s*{name};?$", lambda _: body + ";", text, flags=re.M)

    last = {"end": -1, "doc": ""}

    def call(match):
        """The body, with the call's comment before the class that the body declares. Adjacent calls
        share one comment."""
        doc = match[1] or (last["doc"] if match.start() == last["end"] else "")
        last.update(end=match.end(), doc=doc)
        arguments = split_arguments(match[2])
        result = body
        for i, parameter_name in enumerate(names):
            rest = parameter_name == "..."
            value = ", ".join(arguments[i:]) if rest else (arguments[i : i + 1] or [""])[0]
            word = "__VA_ARGS__" if rest else parameter_name
            result = re.sub(rf"\b{word}\b", lambda _, v=value: v, result)
        declared = re.sub(r"^(?=class )", lambda _: doc, result, count=1, flags=re.M)
        return (declared if declared != result else doc + result).replace("##", "") + ";\n"

    calls = rf"{DOC}^{name}\(((?:[^()]|\([^()]*\))*)\);?[ \t]*(?:///<.*)?\n"
    return re.sub(calls, call, text, flags=re.M)


def body_after(text, start):
    """The text between the braces that open at or after `start`."""
    first = text.index("{", start)
    depth = 0
    for i in range(first, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[first + 1 : i]
    return text[first:]


def split_arguments(text):
    """Splits a parameter list at its outer commas."""
    parts, depth, part = [], 0, ""
    for character in text:
        depth += {"(": 1, "<": 1, "{": 1, ")": -1, ">": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    return [" ".join(p.split()) for p in [*parts, part] if p.strip()]


def modules_of(text):
    """[(name, comment, class of options)] of a header, in its order."""
    found = []
    for match in re.finditer(DOC + r"HEARTH_STATELESS_MODULE\((\w+), ([\w:]+), [^)]*\);", text):
        found.append((match.start(), match[2], match[1], match[3].split("::")[-1]))
    # Losses that a macro of another header declares.
    for match in re.finditer(DOC + r"^HEARTH_LOSS\((\w+)[^)]*\);", text, re.M):
        found.append((match.start(), match[2], match[1], match[2] + "Options"))
    holders = re.findall(r"^HEARTH_MODULE\((\w+)\);", text, re.M)
    holders += re.findall(r"^class (?:HEARTH_API )?(\w+) : public ModuleHolder<", text, re.M)
    for name in holders:
        head = r"^(?:template <[^<>]*>\n)?(?:class|struct) (?:HEARTH_API )?"
        match = re.search(DOC + head + rf"{name}Impl\b[^;]", text, re.M)
        if match:
            found.append((match.start(), name, match[1], name + "Options"))
    # Holders with constructors of their own.
    for match in re.finditer(DOC + r"^class HEARTH_API (Lazy(\w+)) : public \w+ \{", text, re.M):
        found.append((match.start(), match[2], match[1], match[3] + "Options"))
    return [row[1:] for row in sorted(found)]


def functions_of(text, namespace="functional"):
    """{name: parameters} of the functions of a namespace, of the first overload of each."""
    found = {}
    for block in re.finditer(rf"^namespace (?:\w+::)*{namespace} \{{", text, re.M):
        body = re.sub(
            r"^namespace (\w+) \{.*?^\}  // namespace \1\n",
            "",
            body_after(text, block.start()),
            flags=re.M | re.S,
        )
        for name, parameters in re.findall(
            r"^(?:HEARTH_API|template <[^{};]*>)\s[\w:<>, &]+?\s(\w+)\(((?:[^()]|\([^()]*\))*)\)",
            body,
            re.M,
        ):
            found.setdefault(name, parameters)
        for name in re.findall(r"^using hearth::(\w+);", body, re.M):
            found.setdefault(name, "")
    return found
