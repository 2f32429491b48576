#!/usr/bin/env python3
"""Writes tests/fixtures/stft_cases.txt: results of torch.stft, torch.istft and the window functions.

    .venv-peer/bin/python tests/oracle/stft_cases.py

A line is "<name> <sizes> <values>"; "<name>.grad" is the gradient of the input for the output gradient
cos(0), cos(1), cos(2), ... The signals are those of tests/ops/stft.cpp. A complex number is two values, its
real and imaginary parts.
"""

import warnings
from pathlib import Path

import torch

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


def signal(*sizes):
    count = torch.Size(sizes).numel()
    n = torch.arange(count, dtype=torch.float64)
    return (torch.sin(0.37 * n) + 0.3 * torch.cos(1.3 * n + 0.2 * torch.sin(n))).reshape(sizes)


def complex_signal(*sizes):
    return torch.complex(signal(*sizes), signal(*sizes).flip(-1) * 0.7)


def hann(n):
    return torch.hann_window(n, dtype=torch.float64)


STFT = {
    "plain": lambda: (signal(2, 21), dict(n_fft=8)),
    "unbatched": lambda: (signal(19), dict(n_fft=6, hop_length=3, window=hann(6))),
    "short_window": lambda: (signal(2, 21), dict(n_fft=8, win_length=5, window=hann(5))),
    "short_ones": lambda: (signal(2, 21), dict(n_fft=8, win_length=5)),
    "not_centred": lambda: (signal(2, 21), dict(n_fft=7, hop_length=4, center=False)),
    "aligned": lambda: (signal(2, 21), dict(n_fft=8, hop_length=2, win_length=4, window=hann(4),
                                            center=False, align_to_window=True)),
    "constant": lambda: (signal(2, 21), dict(n_fft=8, pad_mode="constant")),
    "replicate": lambda: (signal(2, 21), dict(n_fft=8, pad_mode="replicate")),
    "circular": lambda: (signal(2, 21), dict(n_fft=8, pad_mode="circular")),
    "normalized": lambda: (signal(2, 21), dict(n_fft=8, normalized=True, window=hann(8))),
    "twosided": lambda: (signal(2, 21), dict(n_fft=8, onesided=False)),
    "complex": lambda: (complex_signal(2, 21), dict(n_fft=8, window=hann(8))),
    "complex_window": lambda: (signal(21), dict(n_fft=8, window=complex_signal(8))),
}
ISTFT = {
    "plain": lambda: (complex_signal(2, 5, 6), dict(n_fft=8)),
    "unbatched": lambda: (complex_signal(4, 7), dict(n_fft=6, hop_length=3, window=hann(6))),
    "odd": lambda: (complex_signal(2, 4, 6), dict(n_fft=7, hop_length=2)),
    "short_window": lambda: (complex_signal(2, 5, 6), dict(n_fft=8, win_length=5, hop_length=2,
                                                           window=hann(5) + 0.1)),
    "not_centred": lambda: (complex_signal(2, 5, 6), dict(n_fft=8, center=False, window=hann(8) + 0.1)),
    "normalized": lambda: (complex_signal(2, 5, 6), dict(n_fft=8, normalized=True, window=hann(8))),
    "twosided": lambda: (complex_signal(2, 8, 6), dict(n_fft=8, onesided=False)),
    "complex": lambda: (complex_signal(2, 8, 6), dict(n_fft=8, onesided=False, return_complex=True,
                                                      window=complex_signal(8) + 0.5)),
    "truncated": lambda: (complex_signal(2, 5, 6), dict(n_fft=8, length=7)),
    "padded": lambda: (complex_signal(2, 5, 6), dict(n_fft=8, length=16)),
}
WINDOWS = {
    "hann": lambda: torch.hann_window(7, dtype=torch.float64),
    "hann_symmetric": lambda: torch.hann_window(7, False, dtype=torch.float64),
    "hamming": lambda: torch.hamming_window(6, dtype=torch.float64),
    "hamming_alpha": lambda: torch.hamming_window(6, False, 0.6, dtype=torch.float64),
    "hamming_beta": lambda: torch.hamming_window(6, True, 0.6, 0.3, dtype=torch.float64),
    "blackman": lambda: torch.blackman_window(7, dtype=torch.float64),
    "blackman_symmetric": lambda: torch.blackman_window(8, False, dtype=torch.float64),
    "bartlett": lambda: torch.bartlett_window(7, dtype=torch.float64),
    "bartlett_symmetric": lambda: torch.bartlett_window(8, False, dtype=torch.float64),
    "kaiser": lambda: torch.kaiser_window(7, dtype=torch.float64),
    "kaiser_beta": lambda: torch.kaiser_window(8, False, 3.5, dtype=torch.float64),
}


def as_real(t):
    return torch.view_as_real(t.resolve_conj()) if t.is_complex() else t


def line(name, tensor):
    tensor = as_real(tensor.detach())
    sizes = "x".join(map(str, tensor.shape))
    return f"{name} {sizes} " + ",".join(f"{v:.9g}" for v in tensor.flatten().tolist())


def lines_of_case(name, function, case):
    x, arguments = case()
    x.requires_grad_()
    y = as_real(function(x, **arguments))
    y.backward(torch.arange(y.numel(), dtype=torch.float64).cos().reshape(y.shape))
    return [line(name, y), line(name + ".grad", x.grad)]


def main():
    lines = []
    for name, case in STFT.items():
        lines += lines_of_case("stft." + name, lambda x, **a: torch.stft(x, return_complex=True, **a), case)
    for name, case in ISTFT.items():
        lines += lines_of_case("istft." + name, torch.istft, case)
    lines += [line("window." + name, make()) for name, make in WINDOWS.items()]
    path = Path(__file__).resolve().parent.parent / "fixtures" / "stft_cases.txt"
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
