#!/usr/bin/env python3
"""read_by_tensorboard.py <build folder>: checks the files of SummaryWriter with TensorBoard and PyTorch.

Runs tests/log/everything.cpp (in test_log) and the same calls of torch.utils.tensorboard, compares
the messages in their files, then starts TensorBoard on both folders and compares the data that its
plugins show. Also kills a process that logs, and resumes its run in another process. Needs the
packages torch, tensorboard and pillow.
"""

import io
import math
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from torch.utils.tensorboard import SummaryWriter

from tensorboard_client import START_LIMIT_S, TensorBoard, pixels_of

START = 1.7e9
ONLY_HEARTH = {"video", "figure", "figures"}  # PyTorch needs other packages for them


def waves(*sizes):
    return (torch.arange(math.prod(sizes), dtype=torch.float64) / 7).sin().view(sizes)


# ---- the calls of tests/log/everything.cpp

def add_scalars(writer):
    for i in range(100):
        writer.add_scalar("loss/train", 1.0 / (i + 1), i, START + i)
        writer.add_scalars("a/b", {"sin": math.sin(i / 5), "cos": math.cos(i / 5)}, i, START + i)
    writer.add_scalar("of a tensor", torch.tensor([[2.5]]), 3, START)
    writer.add_scalar("not a number", math.nan, 3, START)
    writer.add_scalar("infinite", -math.inf, 3, START)
    writer.add_scalar("new style", 0.1, 5, START, new_style=True)
    writer.add_scalar("double", 0.1, 5, START, new_style=True, double_precision=True)
    writer.add_scalar("without a step", 0.25, walltime=START)
    names = dict(Float="float32", Double="float64", Half="float16", BFloat16="bfloat16",
                 Byte="uint8", Char="int8", Short="int16", Int="int32", Long="int64", Bool="bool",
                 ComplexFloat="complex64", ComplexDouble="complex128")
    for name, dtype in names.items():
        tensor = torch.arange(6).view(2, 3).to(getattr(torch, dtype))
        writer.add_tensor(f"tensor/{name}", tensor, 1, START)


def add_histograms(writer):
    values = waves(10, 100) * torch.arange(1000, dtype=torch.float64).view(10, 100) / 100
    for bins in "tensorflow auto fd doane scott rice sturges sqrt".split():
        writer.add_histogram(f"histogram/{bins}", values, 1, bins, START)
    writer.add_histogram("histogram/30", values, 1, 30, START)
    writer.add_histogram("histogram/edges", values, 1, [-2, -1, 0.5, 3], START)
    writer.add_histogram("histogram/max", values, 1, "tensorflow", START, 10)
    writer.add_histogram("histogram/float", values.float(), 1, "tensorflow", START)
    writer.add_histogram("histogram/int", torch.arange(20), 1, "tensorflow", START)
    writer.add_histogram("histogram/equal", torch.ones(7), 1, "auto", START)
    damaged = values.clone()
    damaged[0, 0], damaged[0, 1] = math.nan, math.inf
    writer.add_histogram("histogram/nan", damaged, 1, "tensorflow", START)
    for step in range(5):
        writer.add_histogram("histogram/steps", values + step, step, "tensorflow", START + step)
    writer.add_histogram_raw("histogram/raw", -1, 2, 6, 3, 8, [0, 1, 2], [1, 2, 3], 1, START)


def add_images(writer):
    writer.add_image("image/chw", waves(3, 16, 20) * 1.5, 1, START)
    writer.add_image("image/hwc", (waves(16, 20, 3) * 100 + 100).to(torch.uint8), 1, START, "HWC")
    writer.add_image("image/gray", waves(1, 16, 20).float(), 1, START)
    writer.add_image("image/hw", waves(16, 20).float(), 1, START, "HW")
    writer.add_image("image/wh", waves(16, 20).float(), 1, START, "wh")
    writer.add_image("image/rgba", waves(4, 16, 20).abs(), 1, START)
    writer.add_images("image/batch", waves(10, 1, 8, 9).abs(), 1, START)
    writer.add_images("image/nhwc", waves(3, 8, 9, 3).abs(), 1, START, "NHWC")
    writer.add_audio("audio", waves(1, 4000).float(), 1, 8000, START)


def add_other_kinds(writer):
    writer.add_text("text", "# Title\n*some* **Markdown** ü", 1, START)
    writer.add_hparams({"lr": 0.1, "bsize": 32, "optimizer": "adam", "augment": True},
                       {"hparam/accuracy": 0.9, "hparam/loss": 0.3},
                       {"optimizer": ["adam", "sgd"], "lr": [0.1, 0.01]}, "trial", 7)
    labels, scores = waves(200) > 0, (waves(200) + 1.0001) / 2.1
    writer.add_pr_curve("pr", labels, scores.float(), 1, 127, None, START)
    writer.add_pr_curve("pr/weights", labels, scores, 1, 50, waves(200).abs().numpy(), START)
    counts = torch.arange(4, dtype=torch.float64)
    writer.add_pr_curve_raw("pr/raw", counts, counts + 1, counts + 2, counts + 3, counts / 4,
                            counts / 5, 1, 4, walltime=START)
    writer.add_custom_scalars({"Losses": {"both": ["Multiline", ["loss/train", "new style"]]},
                               "Bounds": {"margin": ["Margin", ["a", "b", "c"]]}})
    corners = waves(1, 4, 3)
    faces = torch.tensor([[[0, 2, 3], [0, 3, 1], [0, 1, 2], [1, 3, 2]]], dtype=torch.int32)
    writer.add_mesh("mesh", corners, (corners.abs() * 255).int(), faces,
                    {"camera": {"cls": "PerspectiveCamera", "fov": 75}}, 1, START)
    writer.add_mesh("points", corners, global_step=1, walltime=START)
    writer.add_embedding(waves(5, 3), list("abcde"), waves(5, 3, 6, 6).abs(), 2, "points/of ü")
    writer.add_embedding(waves(2, 3).float(), [["a", "1"], ["b", "2"]],
                         metadata_header=["name", "class"])


def write_resumed(folder):
    with SummaryWriter(folder) as writer:
        for step in range(10):
            writer.add_scalar("resumed", step, step, START + step)
    with SummaryWriter(folder, purge_step=6) as writer:
        for step in range(6, 12):
            writer.add_scalar("resumed", -step, step, START + 20)


def write_with_pytorch(folder):
    write_resumed(str(folder / "resumed"))
    with SummaryWriter(str(folder)) as writer:
        for add in (add_scalars, add_histograms, add_images, add_other_kinds):
            add(writer)
        model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                                    torch.nn.Linear(32, 3))
        writer.add_graph(model, waves(1, 1, 6, 6).float())


# ---- the files

def same(ours, theirs):
    """Whether parsed JSON agrees, with numbers to 1e-6; wall times and blob keys are ignored."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(
            key in ("wall_time", "blob_key") or same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return np.isclose(ours, theirs, rtol=1e-6, atol=1e-9, equal_nan=True)
    return ours == theirs


def content(value):
    """A Summary.Value as Python values that same() compares."""
    kind = value.WhichOneof("value")
    result = {"tag": value.tag, "kind": kind, "plugin": value.metadata.plugin_data.plugin_name}
    data = value.metadata.plugin_data.content
    result["data"] = str(HParamsPluginData.FromString(data)) if result["plugin"] == "hparams" else \
        data.hex()
    if kind == "simple_value":
        result["value"] = value.simple_value
    elif kind == "histo":
        histo = value.histo
        result["value"] = [histo.min, histo.max, histo.num, histo.sum, histo.sum_squares,
                           list(histo.bucket_limit), list(histo.bucket)]
    elif kind == "image":
        image = value.image
        result["value"] = [image.height, image.width, image.colorspace,
                           pixels_of(image.encoded_image_string).tolist()]
    elif kind == "audio":
        audio = value.audio
        result["value"] = [audio.sample_rate, audio.num_channels, audio.length_frames,
                           audio.content_type, audio.encoded_audio_string.hex()]
    elif kind == "tensor":
        tensor = value.tensor
        result["value"] = [tensor.dtype, [dim.size for dim in tensor.tensor_shape.dim]] + [
            list(numbers) for field, numbers in tensor.ListFields()
            if field.name.endswith("_val") and field.name != "string_val"
        ] + [text.decode() for text in tensor.string_val]
    return result


def logged(folder):
    """The values in a folder's files by subfolder, tag and step."""
    values = {}
    for file in sorted(folder.rglob("events.out.tfevents.*")):
        for event in LegacyEventFileLoader(str(file)).Load():
            for value in event.summary.value:
                key = (file.parent.relative_to(folder).as_posix(), value.tag, event.step)
                values.setdefault(key, []).append(content(value))
    return values


def compare_files(ours, theirs):
    ours, theirs = logged(ours), logged(theirs)
    problems = [f"only Hearth has {key}" for key in ours.keys() - theirs.keys()
                if key[1] not in ONLY_HEARTH]
    problems += [f"only PyTorch has {key}" for key in theirs.keys() - ours.keys()]
    common = ours.keys() & theirs.keys()
    for key in sorted(common):
        if not same(ours[key], theirs[key]):
            problems.append(f"{key} differs:\n  {str(ours[key])[:600]}\n  {str(theirs[key])[:600]}")
    print(f"files: {len(common)} values compared")
    return problems


# ---- TensorBoard

def shown_by_tag(board, plugin, route, run, **query):
    """The data that a plugin shows for each tag of a run."""
    tags = board.get(f"plugin/{plugin}/tags").get(run, {})
    return {tag: board.get(f"plugin/{plugin}/{route}", run=run, tag=tag, **query)
            for tag in tags if tag not in ONLY_HEARTH}


def shown_images(board, run):
    shown = shown_by_tag(board, "images", "images", run, sample=0)
    for images in shown.values():
        for image in images:
            query = urllib.parse.parse_qs(image.pop("query"))
            png = board.raw("plugin/images/individualImage",
                            **{key: value[0] for key, value in query.items()})
            image["pixels"] = pixels_of(png).tolist()
    return shown


def shown_curves(board, run):
    tags = board.get("plugin/pr_curves/tags").get(run, {})
    return {tag: board.get("plugin/pr_curves/pr_curves", run=run, tag=tag)[run] for tag in tags}


def shown_sound(board, run):
    shown = shown_by_tag(board, "audio", "audio", run, sample=0)
    return {tag: [{k: v for k, v in item.items() if k != "query"} for item in items]
            for tag, items in shown.items()}


def shown_meshes(board, run):
    shown = {}
    for tag, instances in board.get("plugin/mesh/tags").get(run, {}).items():
        parts = board.get("plugin/mesh/meshes", run=run, tag=tag, sample=0)
        shown[tag] = [instances, sorted(parts, key=lambda part: part["content_type"])]
    return shown


def shown_points(board, run):
    info = board.get("plugin/projector/info", run=run)
    shown = {}
    for entry in info["embeddings"]:
        name = entry["tensorName"]
        points = board.raw("plugin/projector/tensor", run=run, name=name)
        shown[name] = [entry, np.frombuffer(points, dtype=np.float32).tolist(),
                       board.raw("plugin/projector/metadata", run=run, name=name).decode()]
        if "sprite" in entry:
            sprite = board.raw("plugin/projector/sprite_image", run=run, name=name)
            shown[name].append(pixels_of(sprite).tolist())
    return shown


def shown_hparams(board, run):
    groups = board.get("plugin/hparams/session_groups", post={
        "experimentName": "", "allowedStatuses": ["STATUS_SUCCESS", "STATUS_UNKNOWN"],
        "colParams": [], "startIndex": 0, "sliceSize": 100})["sessionGroups"]
    return [[group["hparams"], [[metric["name"]["tag"], metric["value"]]
                                for metric in group["metricValues"]]]
            for group in groups if any(session["name"] == f"{run}/trial"
                                       for session in group["sessions"])]


def shown_charts(board, run):
    return board.get("plugin/custom_scalars/scalars", run=run, tag="loss/train")


def shown_series(board, run):
    tags = board.get("plugin/timeseries/tags")
    return {plugin: sorted(tags[plugin]["runTagInfo"].get(run, []))
            for plugin in ("scalars", "histograms")}


# The request to each plugin; check_own() asks for the graphs.
PLUGINS = {
    "scalars": lambda board, run: shown_by_tag(board, "scalars", "scalars", run),
    "histograms": lambda board, run: shown_by_tag(board, "histograms", "histograms", run),
    "distributions": lambda board, run: shown_by_tag(board, "distributions", "distributions", run),
    "images": shown_images,
    "audio": shown_sound,
    "text": lambda board, run: {tag: board.get("plugin/text/text", run=run, tag=tag)
                                for tag in board.get("plugin/text/tags").get(run, [])},
    "pr_curves": shown_curves,
    "mesh": shown_meshes,
    "projector": shown_points,
    "hparams": shown_hparams,
    "custom_scalars": shown_charts,
    "timeseries": shown_series,
}


def check_plugins(board):
    """Yields a problem unless exactly the plugins that have data were asked."""
    asked = {*PLUGINS, "graphs"}
    for _ in range(START_LIMIT_S):
        listing = board.get("plugins_listing")
        enabled = {name for name, plugin in listing.items() if plugin["enabled"]}
        if enabled == asked:
            return
        time.sleep(1)  # the projector finds its data on a thread that the first listing starts
    yield f"the plugins with data are {sorted(enabled)}, but asked were {sorted(asked)}"


def check_resumed(board, run):
    points = board.get("plugin/scalars/scalars", run=f"{run}/resumed", tag="resumed")
    shown = [(step, value) for _, step, value in points]
    if shown != [(step, step if step < 6 else -step) for step in range(12)]:
        yield f"the resumed run of {run} shows {shown}"


def check_own(board, run):
    """Checks the graph, video, figures and layout, which PyTorch does not write or writes otherwise."""
    graph = board.raw("plugin/graphs/graph", run=run).decode()
    for text in ("Sequential/Conv2d[0]/conv2d", 'op: "Parameter"', "Sequential/Linear[3]/linear"):
        if text not in graph:
            yield f"the graph lacks {text}"
    if not board.get("plugin/graphs/info")[run]["run_graph"]:
        yield "the graph is not listed"
    if b"device:CPU" not in board.raw("plugin/graphs/run_metadata", run=run, tag="step1"):
        yield "the graph has no metadata"
    image = board.get("plugin/images/images", run=run, tag="video", sample=0)[0]
    query = urllib.parse.parse_qs(image["query"])
    with Image.open(io.BytesIO(board.raw("plugin/images/individualImage",
                                         **{k: v[0] for k, v in query.items()}))) as video:
        if (video.n_frames, video.size, video.format) != (4, (32, 16), "PNG"):
            yield f"the video has {video.n_frames} frames of {video.size} as {video.format}"
        print(f"video: {video.n_frames} frames, {video.info.get('duration')} ms each")
    sizes = [board.image(run, tag).shape[:2] for tag in ("figure", "figures")]
    if sizes[0][0] < 400 or sizes[1] != (sizes[0][0], 2 * sizes[0][1]):
        yield f"the figures have sizes {sizes}"
    titles = [category["title"]
              for category in board.get("plugin/custom_scalars/layout")["category"]]
    if not {"Losses", "Bounds"} <= set(titles):
        yield f"the custom charts are {titles}"


def run_test(program, name, folder):
    """Starts one of test_log's disabled tests in a folder."""
    return subprocess.Popen([program, f"--gtest_filter=*DISABLED_{name}", "--gtest_brief=1",
                             "--gtest_also_run_disabled_tests"], cwd=folder)


def check_killed(program):
    """Four threads add scalars until kill -9; a second process resumes from step 50."""
    with tempfile.TemporaryDirectory() as folder:
        process = run_test(program, "EndlessScalars", folder)
        time.sleep(3)
        killed = time.time()
        process.kill()
        process.wait()
        board = TensorBoard(folder)
        try:
            for resumed in (False, True):
                if resumed and run_test(program, "ResumedScalars", folder).wait():
                    yield "the resumed process failed"
                board.wait_for(".")
                for tag in ("t0", "t1", "t2", "t3"):
                    points = board.get("plugin/scalars/scalars", run=".", tag=tag)
                    if [step for _, step, _ in points] != list(range(len(points))):
                        yield f"{tag}: the steps of a killed run are not 0, 1, …"
                    if any(step != value for _, step, value in points):
                        yield f"{tag}: a step has the value of another"
                    if points[-1][0] < killed - 1.2 or resumed and len(points) != 10000:
                        yield (f"{tag} has {len(points)} steps and ends "
                               f"{killed - points[-1][0]} s before the kill")
                    print(f"killed, {resumed=}: {len(points)} steps of {tag}")
        finally:
            board.process.terminate()
            board.process.wait()


def compare_shown(folder):
    board = TensorBoard(folder)
    problems = []
    try:
        board.wait_for("hearth", "pytorch", "hearth/trial", "pytorch/trial", "hearth/a_b_sin",
                       "hearth/resumed", "pytorch/resumed")
        for name, shown in PLUGINS.items():
            ours, theirs = shown(board, "hearth"), shown(board, "pytorch")
            if not ours:
                problems.append(f"{name}: TensorBoard shows nothing")
            elif not same(ours, theirs):
                problems.append(f"{name} differs:\n  {str(ours)[:1500]}\n  {str(theirs)[:1500]}")
            print(f"TensorBoard, {name}: {len(ours)} compared")
        problems += [*check_own(board, "hearth"), *check_plugins(board)]
        problems += [*check_resumed(board, "hearth"), *check_resumed(board, "pytorch")]
    finally:
        board.process.terminate()
        board.process.wait()
    return problems


def main():
    program = Path(sys.argv[1]).resolve() / "test_log"
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "hearth", Path(folder) / "pytorch"
        ours.mkdir()
        if run_test(program, "WriteForTheOracle", ours).wait():
            raise SystemExit("test_log failed")
        write_with_pytorch(theirs)
        problems = compare_files(ours, theirs) + compare_shown(Path(folder))
    problems += check_killed(program)
    print("\n".join(problems) or "tensorboard: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
