#!/usr/bin/env python3
"""lists.py [--check]: writes docs/lists.md. The page has the modules, losses, functions,
optimizers, schedulers and classes for data loading with their options, from the public headers, and
the files of each family of operators and of each header of modules. With --check, fails if the page
is not current."""

import re
import sys
from pathlib import Path

import file_lists
import module_lists
import op_lists
from declarations import (
    DOC,
    HEADERS,
    ROOT,
    body_after,
    functions_of,
    modules_of,
    read,
    split_arguments,
)
from file_texts import table

PAGE = ROOT / "docs" / "lists.md"
TITLES = {
    "rnn": "Recurrent networks",
    "rnn_cell": "Recurrent cells",
    "conv": "Convolutions",
    "linear": "Linear and shape",
    "activation": "Activations",
    "pooling": "Pooling",
    "normalization": "Normalization",
    "dropout": "Dropout",
    "embedding": "Embeddings",
    "embedding_bag": "Embeddings of bags",
    "loss": "Losses",
    "margin_loss": "Losses with a margin",
    "likelihood_loss": "Negative log-likelihoods",
    "adaptive": "Adaptive softmax",
    "distance": "Distances",
}
# Modules whose operator has another name.
OPERATORS = {"BCELoss": "binarycrossentropy", "BCEWithLogitsLoss": "binarycrossentropywithlogits"}
CONTAINERS = ("sequential", "module_list", "module_dict", "parameter_list", "functional_module")
SCHEDULERS = "(?:LRScheduler|CompositeScheduler)"
CONSTANTS = {"kMean": "mean", "kSum": "sum", "kZeros": "zeros", "kTanh": "tanh"}


def sentence(comment):
    """A /// comment as one line of a table."""
    words = " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())
    return words.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").strip()


def parameter(text):
    """`const Tensor& input = {}` as `input`; a number or name as default stays."""
    declared, _, default = text.partition(" = ")
    name = re.search(r"(\w+)$", declared)
    name = name[1].rstrip("_") if name else declared
    return (
        name if default in ("", "{}", "nullptr", "std::nullopt") else f"{name} = {shown(default)}"
    )


def shown(value):
    value = re.sub(r"ExpandingArray<\w+>\((\w+)\)", r"\1", value.strip())
    return CONSTANTS.get(value, value)


def signature(name, parameters):
    return f"{name}({', '.join(parameter(p) for p in split_arguments(parameters))})"


class Options:
    """All classes of options: their constructors' parameters, and the options with defaults."""

    def __init__(self, texts):
        self.classes, self.aliases = {}, {}
        for text in texts:
            for match in re.finditer(
                r"^(?:template <[^>]*>\s*)?struct (?:HEARTH_API )?(\w*Options\w*)\b[^;{]*\{",
                text,
                re.M,
            ):
                body = body_after(text, match.start())
                name = match[1]
                options = re.findall(
                    r"HEARTH_(?:ARG|CHOICE)\(([^()]*(?:\([^()]*\))?[^()]*?),\s+(\w+)(?:, \d+[^()]*)?\)"
                    r"\s*(?:=\s*(?!\s*std::nullopt)([^;]*)|= std::nullopt)?;",
                    body,
                )
                made = re.search(rf"\b{name}\(((?:[^()]|\([^()]*\))*)\)\s*:", body)
                self.classes[name] = (
                    split_arguments(made[1]) if made else [],
                    [(option, re.sub(r"/\*.*?\*/|\s+", " ", default, flags=re.S).strip()) for _, option, default in options],
                )
            for alias, target, argument in re.findall(
                r"^using (\w*Options) =\s*(?:detail::)?(\w+)(?:<(.*)>)?;", text, re.M
            ):
                self.aliases[alias] = (target, argument)

    def find(self, name):
        """(constructor's parameters, [(option, default)]), or None."""
        argument = ""
        while name in self.aliases:
            name, argument = self.aliases[name]
        if name not in self.classes:
            return None
        parameters, options = self.classes[name]

        # The options of Adam and AdamW are one template with the parameter kDecoupled.
        def resolved(default):
            choice = re.fullmatch(r"kDecoupled \? (.*) : (.*)", default.strip())
            if choice:
                return choice[1] if argument == "true" else choice[2]
            return default

        return parameters, [(option, resolved(default)) for option, default in options]

    def described(self, name, with_constructor_options=False):
        """The options with their defaults for a table, without those that the constructor takes."""
        found = self.find(name)
        if not found:
            return ""
        taken = set() if with_constructor_options else {parameter(p).split(" ")[0] for p in found[0]}
        return ", ".join(
            f"`{option} = {shown(default)}`" if default else f"`{option}`"
            for option, default in found[1]
            if option not in taken and not option.startswith("_")
        )


def operator_docs():
    """Operators' comments by name, without the name's underscores."""
    docs = {}
    for family in op_lists.families():
        for op in op_lists.operators(family):
            docs.setdefault(op.name.replace("_", ""), op.comment + "\n")
    return docs


def module_rows(text, options, docs):
    rows = []
    for name, comment, options_class in modules_of(text):
        found = options.find(options_class)
        parameters = [parameter(p) for p in found[0]] if found else []
        if name.startswith("Lazy"):
            parameters = parameters[1:]  # the number of inputs
        # Modules that contain another one take it before the options.
        if re.search(rf"\b{name}Impl\((?:std::shared_ptr<M>|Sequential) \w+,", text):
            parameters = ["module"] + parameters
        if not found:
            plain = re.search(
                rf"(?:explicit )?\b{name}Impl\(((?:[^()]|\([^()]*\))*)\)(?: :|;|\s*\{{)", text
            )
            parameters = split_arguments(plain[1]) if plain else []
            parameters = [parameter(p) for p in parameters]
        description = sentence(comment) or sentence(docs.get(OPERATORS.get(name, name.lower()), ""))
        rows.append((f"`{name}({', '.join(parameters)})`", description, options.described(options_class)))
    return rows


def function_rows(text):
    rows = []
    for name, parameters in functions_of(text).items():
        kind = re.search(r"const (\w+Options)&", parameters)
        rows.append((f"`{signature(name, parameters)}`", f"`{kind[1]}`" if kind else ""))
    return rows


def without_details(text):
    return re.sub(r"^namespace detail \{.*?^\}  // namespace detail\n", "", text, flags=re.M | re.S)


def constructor_rows(text, base, options):
    """A row for each class derived from `base`, a regular expression: its constructor, comment and,
    with `options`, the options of its class of options."""
    text = without_details(text)
    rows = []
    for match in re.finditer(
        DOC
        + r"^(?:template <[^{};]*>\n)?(?:class|struct) (?:HEARTH_API )?"
        + rf"(\w+) : (?:public )?{base}(?!\w)[^;{{]*\{{",
        text,
        re.M,
    ):
        name = match[2]
        if re.fullmatch(base, name):
            continue
        made = re.search(
            rf"(?<![~\w]){name}\(((?:[^()]|\([^()]*\))*)\)\s*[:;{{]",
            body_after(text, match.start()),
        )
        parameters = [p for p in split_arguments(made[1]) if "last_epoch" not in p] if made else []
        described = options.described(name + "Options") if options else ""
        rows.append(
            (f"`{name}({', '.join(parameter(p) for p in parameters)})`", sentence(match[1]), described)
        )
    return rows


def class_rows(text, names):
    """The classes and aliases with a comment, outside detail namespaces."""
    text = without_details(text)
    rows = {}
    for comment, name in re.findall(
        DOC + r"^(?:template <[^{};]*>\n)?(?:class|struct|using) (?:HEARTH_API )?" rf"({names})\b",
        text,
        re.M,
    ):
        if comment:
            rows.setdefault(name, (f"`{name}`", sentence(comment)))
    return list(rows.values())


def page():
    paths = sorted((HEADERS / "nn").glob("*.h"))
    nn = {path.stem: read(path) for path in paths}
    optim = {path.stem: read(path) for path in sorted((HEADERS / "optim").glob("*.h"))}
    data = {path.stem: read(path) for path in sorted((HEADERS / "data").glob("*.h"))}
    options = Options([*nn.values(), *optim.values(), *data.values()])
    docs = operator_docs()
    out = [
        "# Modules, losses, optimizers and their options; families of operators",
        "",
        "Written by `tools/lists.py` from the headers in `include/hearth`, the sources and the tests; `make check` compares.",
        "Operators are in [ops.md](ops.md). An option `name = value` of a class `X` is set by",
        "`XOptions(…).name(value)`: `nn::Conv2d(nn::Conv2dOptions(3, 8, 3).padding(1))`. "
        "An option without a value is",
        "not set, or has the value that the description names.",
        "",
        "## Modules",
        "",
        "The header of each section has the modules, their options and functions, unless the section names another; "
        "a module that derives from another one has its sources and operators too, and so has one that contains modules (`Contains`). The operators are those that compute; helpers such as `cat` and `sum` "
        "are left out.",
        "",
        "`tests/nn/against_pytorch.cpp` compares modules with PyTorch, except containers and those for several devices or processes: the `subjects*.cpp` create "
        "them, and `tests/fixtures/nn_cases.txt` has PyTorch's values. `tests/oracle/nn_cases.py` writes that "
        "file with the cases in it and in the other `nn_cases*.py`. `tests/nn/values.cpp` tests errors and "
        "options of modules, `Printing` in `tests/nn/containers.cpp` their texts. `src/nn/choice.cpp` instantiates the options that take values of several types, and "
        "`src/core/multiply_adds.cpp` counts the multiply-adds for `nn::summary`; `tests/nn/summary.cpp` tests "
        "both.",
        "",
        "The functions of every module (registration, hooks, state dicts, copies, archives) are in "
        "`include/hearth/nn/{module,hooks,cloneable}.h` and `src/nn/{module,hooks,state_dict,clone,archive,"
        "traversal}.cpp`; `tests/nn/{module,calls,backward_hooks,state,loading}.cpp` test them.",
        "",
    ]
    for stem, text in nn.items():
        rows = module_rows(text, options, docs) if stem not in CONTAINERS and stem != "loss" else []
        if rows:
            title = TITLES.get(stem, stem.replace("_", " ").capitalize())
            out += [f"### {title} (`nn/{stem}.h`)", ""]
            out += module_lists.module_lines(stem, nn)
            out += table(("module", "computes", "options"), rows)
    out += ["### Containers", ""]
    out += ["Sources: `src/nn/` and the header's name. Tests: `tests/nn/containers.cpp`.", ""]
    rows = [
        row
        for stem in CONTAINERS
        for name, comment, _ in modules_of(nn[stem])
        for row in [(f"`{name}`", sentence(comment), f"`nn/{stem}.h`")]
    ]
    out += table(("module", "holds", "header"), rows)
    out += ["## Losses (`nn/loss.h`)", ""]
    out += module_lists.module_lines("loss", nn)
    out += table(("module", "computes", "options"), module_rows(nn["loss"], options, docs))
    out += [
        "## Functions of `nn::functional`",
        "",
        "`FuncOptions` have the options of the modules, and what the modules keep as parameters.",
        "",
    ]
    out += table(
        ("function", "options"), [row for text in nn.values() for row in function_rows(text)]
    )
    for title, stem in (("Initial values, `nn::init`", "init"), ("`nn::utils`", "utils")):
        rows = {}
        for comment, name, parameters, after in re.findall(
            DOC + r"^HEARTH_API\s[\w:<>, ]+?\s(\w+)\(((?:[^()]|\([^()]*\))*)\);[ \t]*(?:///<(.*))?",
            nn[stem],
            re.M,
        ):
            if not name.startswith("_"):
                rows.setdefault(
                    name, (f"`{signature(name, parameters)}`", sentence(comment or after))
                )
        out += [f"## {title} (`nn/{stem}.h`)", ""] + table(("function", "effect"), rows.values())
    out += ["## Optimizers", ""]
    rows = []
    for stem, text in optim.items():
        for name, description, _ in constructor_rows(text, "Optimizer", None):
            name = name.split("(")[0].strip("`")
            described = options.described(name + "Options", with_constructor_options=True)
            rows.append((f"`{name}`", description, described, f"`optim/{stem}.h`"))
    out += table(("optimizer", "step", "options", "header"), rows)
    out += ["## Schedulers", ""]
    out += table(
        ("scheduler", "learning rate", "options", "header"),
        [
            (*row, f"`optim/{stem}.h`")
            for stem, text in optim.items()
            for row in constructor_rows(text, SCHEDULERS, options)
        ],
    )
    out += ["## Data loading", "", "### Loader (`data/dataloader.h`)", ""]
    out += table(
        ("options of `DataLoaderOptions(batch_size)`",), [(options.described("DataLoaderOptions"),)]
    )
    out += ["### Datasets", ""]
    names = r"\w*(?:Dataset|MNIST|Subset|CSV|BatchedTensors|TextWindows|LabelledText)"
    out += table(
        ("dataset", "content", "header"),
        [
            (*row, f"`data/{stem}.h`")
            for stem in ("datasets", "mnist", "chunk", "csv", "text")
            for row in class_rows(data[stem], names)
        ],
    )
    out += table(("options of `CSVOptions()`",), [(options.described("CSVOptions"),)])
    out += ["### Samplers (`data/samplers.h`)", ""]
    out += table(
        ("sampler", "order"),
        [
            (name, description)
            for name, description, _ in constructor_rows(
                data["samplers"], r"(?:Sampler<\w*>|detail::\w+)", None
            )
        ],
    )
    out += ["### Transforms (`data/transforms.h`)", ""]
    out += table(("transform", "effect"), class_rows(data["transforms"], r"\w+"))
    out += ["### Text (`data/text.h`, `data/vocab.h`)", ""]
    names = r"\w*Vocab\w*|TokenCounter|Tokenizer|Whitespace|BasicEnglish|Characters|Bytes|Pad\w+|Join\w+"
    rows = [row for stem in ("vocab", "text") for row in class_rows(data[stem], names)]
    out += table(("class", "purpose"), rows)
    out += table(("options of `VocabOptions()`",), [(options.described("VocabOptions"),)])
    return "\n".join([*out, *file_lists.section()]).rstrip() + "\n"


def write_or_check(path, text):
    """Writes a generated page or, if the script was called with --check, compares it. Returns the
    exit code."""
    if "--check" not in sys.argv[1:]:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        script = Path(sys.argv[0]).name
        print(f"{path.relative_to(ROOT)} is not current: run tools/{script}", file=sys.stderr)
        return 1
    return 0


def main():
    return write_or_check(PAGE, page())


if __name__ == "__main__":
    sys.exit(main())
