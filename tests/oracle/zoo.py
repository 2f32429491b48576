#!/usr/bin/env python3
"""Writes tests/fixtures/zoo.txt: names and sizes of the parameters and buffers of torchvision's and
Hugging Face's models, and the outputs for known parameters (fill() here and in
tests/zoo/expected.cpp).

    .venv-peer/bin/python tests/oracle/zoo.py          (torch, torchvision and transformers from PyPI)
"""

from pathlib import Path

import torch
from torchvision import models
from torchvision.models.resnet import BasicBlock, Bottleneck
from torchvision.models.vgg import make_layers
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel


def small_vgg(batch_norm):
    """torchvision's classifier expects 512 channels; this one takes the 8 of a small network."""
    model = models.VGG(make_layers([4, "M", 8, "M"], batch_norm), num_classes=5)
    model.classifier[0] = torch.nn.Linear(8 * 7 * 7, 4096)
    return model


MODELS = {
    "resnet_basic": lambda: models.ResNet(BasicBlock, [1, 2, 1, 1], num_classes=5),
    "resnet_bottleneck": lambda: models.ResNet(Bottleneck, [1, 1, 2, 1], num_classes=5, groups=2, width_per_group=32),
    "vgg": lambda: small_vgg(False),
    "vgg_bn": lambda: small_vgg(True),
    "alexnet": lambda: models.AlexNet(num_classes=5),
    "mobilenet_v2": lambda: models.MobileNetV2(num_classes=5, width_mult=0.25),
    "vit": lambda: models.VisionTransformer(64, 16, 2, 2, 8, 12, num_classes=5, representation_size=6),
}


IDS = (torch.arange(2 * 7) * 5 % 20).reshape(2, 7)


def gpt2():
    return GPT2LMHeadModel(GPT2Config(vocab_size=20, n_positions=12, n_embd=16, n_layer=2, n_head=2))


def bert():
    return BertModel(
        BertConfig(
            vocab_size=20,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=24,
            max_position_embeddings=12,
        )
    )


def run_bert(model):
    mask = torch.ones_like(IDS)
    mask[1, 4:] = 0
    result = model(IDS, attention_mask=mask, token_type_ids=torch.arange(7).ge(3).long().expand(2, 7))
    return torch.cat([result.last_hidden_state.flatten(), result.pooler_output.flatten()])


LANGUAGE_MODELS = {"gpt2": (gpt2, lambda model: model(IDS).logits), "bert": (bert, run_bert)}


def state_of(model):
    """The state without GPT-2's output layer, which is the embedding's tensor."""
    return {name: tensor for name, tensor in model.state_dict().items() if name != "lm_head.weight"}


def fill(state):
    for k, (name, tensor) in enumerate(state.items()):
        if tensor.dim() == 0:
            continue
        wave = torch.sin(torch.arange(tensor.numel(), dtype=torch.float64) * 0.37 + k).reshape(tensor.shape)
        if tensor.dim() > 1:
            wave = wave * (2 / (tensor.numel() / tensor.shape[0]) ** 0.5)
        elif name.endswith(("weight", "running_var")):
            wave = wave * 0.1 + 1
        else:
            wave = wave * 0.1
        tensor.copy_(wave)


def write(out, name, model, run):
    model.eval()
    state = state_of(model)
    fill(state)
    print("model", name, file=out)
    for key, tensor in state.items():
        print(key, *tensor.shape, file=out)
    print("output", *(f"{v:.7g}" for v in run(model).flatten().tolist()), file=out)


def main():
    path = Path(__file__).resolve().parent.parent / "fixtures" / "zoo.txt"
    image = torch.sin(torch.arange(3 * 64 * 64) * 0.11).reshape(1, 3, 64, 64)
    with open(path, "w") as out, torch.no_grad():
        for name, make in MODELS.items():
            write(out, name, make(), lambda model: model(image))
        for name, (make, run) in LANGUAGE_MODELS.items():
            write(out, name, make(), run)
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
