"""Starts TensorBoard and queries its HTTP interface; for the scripts beside this file."""

import io
import json
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import numpy as np
from PIL import Image

START_LIMIT_S = 90


def pixels_of(png):
    with Image.open(io.BytesIO(png)) as image:
        return np.array(image.convert("RGBA"))


class TensorBoard:
    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--port", "0",
             "--host", "127.0.0.1", "--reload_interval", "1",
             "--samples_per_plugin", "scalars=1000000"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if match := re.search(r"http://127\.0\.0\.1:\d+", line):
                self.address = match[0]
                return
        raise SystemExit("TensorBoard did not start")

    def raw(self, path, post=None, **query):
        url = f"{self.address}/data/{path}?{urllib.parse.urlencode(query)}"
        body = None if post is None else json.dumps(post).encode()
        headers = {"Content-Type": "application/json"} if body else {}
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
            return answer.read()

    def get(self, path, post=None, **query):
        return json.loads(self.raw(path, post, **query))

    def wait_for(self, *runs):
        for _ in range(START_LIMIT_S):
            if set(runs) <= set(self.get("runs")):
                time.sleep(3)  # for TensorBoard to read the rest of the files
                return
            time.sleep(1)
        raise SystemExit(f"TensorBoard does not show {runs}: {self.get('runs')}")

    def image(self, run, tag):
        """The pixels of the last image of a tag."""
        query = urllib.parse.parse_qs(
            self.get("plugin/images/images", run=run, tag=tag, sample=0)[-1]["query"])
        return pixels_of(self.raw("plugin/images/individualImage",
                                  **{key: value[0] for key, value in query.items()}))
