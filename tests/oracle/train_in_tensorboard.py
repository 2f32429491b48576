#!/usr/bin/env python3
"""train_in_tensorboard.py <program hearth>: trains, and checks the data of the runs in TensorBoard.

Trains a grid of two learning rates and a network with blocks on synthetic data, resumes the
grid, and asks TensorBoard for the scalars, images, histograms, texts, graphs and hyperparameters of
each run. Needs the packages tensorboard, numpy and pillow. With the package torch-tb-profiler, PyTorch's
plugin for TensorBoard reads the trace of --profile.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from tensorboard_client import TensorBoard

try:
    from torch_tb_profiler.io import cache
    from torch_tb_profiler.profiler.loader import RunLoader
except ImportError:
    RunLoader = None

CELL_PIXELS = 92  # a cell of the confusion matrix (src/plot/cairo/cells_panel.cpp)
SCALARS = {"loss/step", "loss/epoch", "accuracy/training", "accuracy/test", "learning_rate",
           "seconds_per_step"}


def train(program, *arguments):
    subprocess.run([program, "train", *arguments], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def epochs_of(run):
    """The rows of a run in results.csv."""
    with open(run.parent / "results.csv", newline="") as file:
        return [row for row in csv.DictReader(file) if f"run-{row['run']}" == run.name]


def tags(board, plugin, run):
    return set(board.get(f"plugin/{plugin}/tags").get(run, {}))


def check_scalars(board, run, epochs):
    missing = SCALARS - tags(board, "scalars", run)
    if missing:
        yield f"the scalars {missing} are missing"
    for tag, column in (("loss/epoch", "loss"), ("accuracy/test", "test_accuracy")):
        points = board.get("plugin/scalars/scalars", run=run, tag=tag)
        shown = [value for _, _, value in points]
        wanted = [float(row[column]) for row in epochs]
        if len(shown) != len(wanted) or any(abs(a - b) > 1e-6 for a, b in zip(shown, wanted)):
            yield f"{tag} is {shown}, but results.csv has {wanted}"
    steps = [step for _, step, _ in board.get("plugin/scalars/scalars", run=run, tag="loss/step")]
    if steps != list(range(1, len(steps) + 1)):
        yield f"the steps are {steps}"


def check_pictures(board, run, classes):
    if {"images", "confusion matrix"} - tags(board, "images", run):
        return [f"the images are {tags(board, 'images', run)}"]
    if len(set(board.image(run, "images")[:, :, 0].ravel())) < 20:
        return ["the images are blank"]
    side = board.image(run, "confusion matrix").shape[0]
    return [] if side > CELL_PIXELS * classes else [f"the confusion matrix has {side} rows of pixels"]


def check_run(board, run, epochs, module):
    yield from check_scalars(board, run, epochs)
    yield from check_pictures(board, run, 10)
    histograms = tags(board, "histograms", run)
    for kind in ("weights/", "gradients/"):
        if sum(tag.startswith(kind) for tag in histograms) < 6:
            yield f"the histograms are {sorted(histograms)}"
    points = board.get("plugin/histograms/histograms", run=run, tag=sorted(histograms)[0])
    if len(points) != len(epochs):
        yield f"a histogram has {len(points)} steps"
    texts = board.get("plugin/text/tags").get(run, [])
    text = board.get("plugin/text/text", run=run, tag=texts[0])[0]["text"] if texts else ""
    if "epochs = " not in text:
        yield f"the text is {text!r}"
    if module not in board.raw("plugin/graphs/graph", run=run).decode():
        yield f"the graph has no {module}"


def check_hparams(board, runs):
    groups = board.get("plugin/hparams/session_groups", post={
        "experimentName": "", "allowedStatuses": ["STATUS_SUCCESS", "STATUS_UNKNOWN"],
        "colParams": [], "startIndex": 0, "sliceSize": 100})["sessionGroups"]
    by_name = {session["name"]: group for group in groups for session in group["sessions"]}
    if set(by_name) != set(runs):
        return [f"the table of hyperparameters has {sorted(by_name)}"]
    problems = []
    for name, epochs in runs.items():
        group = by_name[name]
        if abs(group["hparams"]["lr"] - float(epochs[0]["lr"])) > 1e-9:
            problems.append(f"{name}: lr is {group['hparams']['lr']}")
        metrics = {value["name"]["tag"]: value["value"] for value in group["metricValues"]}
        best = max(float(row["test_accuracy"]) for row in epochs)
        if abs(metrics["hparam/test_accuracy"] - best) > 1e-6:
            problems.append(f"{name}: the table has {metrics}, but the best accuracy is {best}")
    return problems


def check_trace(program, folder):
    """Yields the problems if PyTorch's plugin shows other steps or calls of operators than the profile has."""
    train(program, "--data", "synthetic", "--limit", "1000", "--epochs", "1", "--out",
          str(folder / "run"), "--profile", str(folder / "worker0.1700000000000000000.pt.trace.json"))
    profile, = RunLoader("run", str(folder), cache.Cache()).load().profiles.values()
    steps = [row[0] for row in profile.overview["steps"]["rows"]]
    if steps != ["3", "4", "5", "6", "7"]:
        yield f"the plugin for profiles shows the steps {steps}"
    calls = {row["name"]: row["calls"] for row in profile.operation_table_by_name["data"]}
    for name, count in (("aten::convolution", 10), ("aten::convolution_backward", 10),
                        ("aten::max_pool2d_with_indices", 10), ("aten::relu", 20)):
        if calls.get(name) != count:
            yield f"the plugin for profiles shows {calls.get(name)} calls of {name}"
    print(f"PyTorch's plugin: {len(steps)} steps, {len(calls)} operators")


def check(program, folder):
    train(program, "--data", "synthetic", "--limit", "1000", "--epochs", "2", "--lr", ".01,.002",
          "--out", str(folder / "grid"))
    train(program, "--data", "synthetic", "--limit", "60", "--epochs", "1", "--batch-size", "20",
          "--model", "mobilenet_v2", "--checkpoint-activations", "--out", str(folder / "blocks"))
    train(program, "--resume", str(folder / "grid"), "--epochs", "3")
    modules = {"grid/run-1": "TutorialCnn/Conv2d[conv1]/conv2d",
               "grid/run-2": "TutorialCnn/Linear[out]/linear",
               "blocks/run-1": "MobileNetV2/Sequential[features]/InvertedResidual[1]"}
    board = TensorBoard(folder)
    try:
        board.wait_for(*modules)
        runs = {run: epochs_of(folder / run) for run in modules}
        problems = []
        for run, module in modules.items():
            problems += [f"{run}: {text}" for text in check_run(board, run, runs[run], module)]
        problems += check_hparams(board, runs)
        for plugin in ("scalars", "histograms", "images"):
            count = sum(len(tags(board, plugin, run)) for run in modules)
            print(f"TensorBoard, {plugin}: {count} tags of {len(modules)} runs")
        return problems
    finally:
        board.process.terminate()
        board.process.wait()


def main():
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        problems = check(program, Path(folder))
    if RunLoader:
        with tempfile.TemporaryDirectory() as folder:
            problems += check_trace(program, Path(folder))
    for problem in problems:
        print(problem)
    print(f"train_in_tensorboard: {f'{len(problems)} problems' if problems else 'ok'}")
    return 1 if problems else 0


if __name__ == "__main__":  # the plugin starts processes that import this file
    sys.exit(main())
