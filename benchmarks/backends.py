"""How fast the encoder is in this package and elsewhere: CPU time of one core, and how far results are from ours.

python benchmarks/backends.py [SENTENCES.mrp] [--limit 300] [--skip NAME …]

MiniLM's body, embeddings to the output of the last layer, on sentences sorted by length in batches of at most 16.
The backends run one after the other, several times in turn, and the fastest turn of each counts.  ONNX Runtime and
OpenVINO are measured where they, onnx and onnxscript are installed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import describe
from torch import Tensor, nn

from perin.inference import SubwordEncoder
from perin.inference.arithmetic import Eager
from perin.inference.layers import Parameters
from perin.inference.tape import Tape
from perin.model.batches import BUDGET, MAX_BATCH_SIZE, cost, cut
from perin.native import library as native_library
from perin.network.encoders import encoder_folder, read_config, weights_path
from perin.network.encoders.encoder import Bert
from perin.network.inputs import Sequences
from perin.network.layers import Layout
from perin.parsing.reading import read_sentences

Backend = Callable[[Tensor, Layout], Tensor]
ROUNDS = 3


class LastLayer(nn.Module):
    """Ids and mask to the output of the last layer, by a model of the library."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        result: Tensor = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        return result


def ours() -> Bert:
    folder = encoder_folder("minilm")
    body = Bert(read_config(folder), None)
    body.load(weights_path(folder))
    return body.eval().requires_grad_(False)


def library(attention: str) -> LastLayer:
    from transformers import AutoModel

    return LastLayer(AutoModel.from_pretrained(encoder_folder("minilm"), attn_implementation=attention).eval())


def padded(model: Any) -> Backend:
    def run(ids: Tensor, layout: Layout) -> Tensor:
        return layout.pack(model(layout.pad(ids), layout.mask.long()))

    return run


def packed(body: nn.Module) -> Backend:
    return lambda ids, layout: body(ids, layout)[-1]


def without_torch(bits: int, *, native: bool) -> Backend:
    """The encoder in C, or in NumPy."""
    folder = encoder_folder("minilm")
    config = read_config(folder)
    weights = {f"body.{name}": weight.numpy() for name, weight in ours().state_dict().items()}
    depth, width = int(config["num_hidden_layers"]), int(config["hidden_size"])
    weights |= {"mixture.scores": np.zeros(depth), "pooling.bare": np.zeros(width)}
    weights |= {"pooling.norm.weight": np.ones(width), "pooling.norm.bias": np.zeros(width)}
    encoder = SubwordEncoder(Parameters(weights, bits=bits), config)

    def run(ids: Tensor, layout: Layout) -> Tensor:
        steps = Tape() if native else Eager()
        states = encoder.states(steps, ids.numpy(), Sequences(layout.lengths))
        return torch.from_numpy(steps.array(states[-1]))

    return run


def exported(folder: Path) -> Path:
    """The library's model as an ONNX file."""
    path = folder / "model.onnx"
    axes = {"ids": {0: "batch", 1: "length"}, "mask": {0: "batch", 1: "length"}}
    example = (torch.ones(2, 8, dtype=torch.long), torch.ones(2, 8, dtype=torch.long))
    torch.onnx.export(
        library("eager"), example, str(path), input_names=list(axes), dynamic_axes=axes, dynamo=False, opset_version=17
    )
    return path


def by_arrays(run: Callable[[dict[str, Any]], Any]) -> Backend:
    """A backend that takes and gives padded arrays."""
    return lambda ids, layout: layout.pack(
        torch.from_numpy(run({"ids": layout.pad(ids).numpy(), "mask": layout.mask.long().numpy()}))
    )


def onnx(quantised: bool) -> Backend:
    onnxruntime = importlib.import_module("onnxruntime")
    quantization = importlib.import_module("onnxruntime.quantization")
    with tempfile.TemporaryDirectory() as folder:
        path = exported(Path(folder))
        if quantised:
            whole, path = path, Path(folder) / "int8.onnx"
            quantization.quantize_dynamic(whole, path, weight_type=quantization.QuantType.QInt8, per_channel=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return by_arrays(lambda inputs: session.run(None, inputs)[0])


def openvino() -> Backend:
    core = importlib.import_module("openvino").Core()
    with tempfile.TemporaryDirectory() as folder:
        model = core.read_model(exported(Path(folder)))
        settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        compiled = core.compile_model(model, "CPU", settings)
    return by_arrays(lambda inputs: compiled(inputs)[0].copy())


BACKENDS: dict[str, Callable[[], Backend]] = {
    "perin, PyTorch": lambda: packed(ours()),
    "perin, C code": lambda: without_torch(32, native=True),
    "perin, NumPy": lambda: without_torch(32, native=False),
    "perin, 8 bits a row, C code": lambda: without_torch(8, native=True),
    "perin, 8 bits a row, NumPy": lambda: without_torch(8, native=False),
    "transformers, SDPA": lambda: padded(library("sdpa")),
    "transformers, eager": lambda: padded(library("eager")),
    "transformers, torch.compile": lambda: padded(torch.compile(library("sdpa"), dynamic=True)),
    "ONNX Runtime": lambda: onnx(False),
    "ONNX Runtime, 8 bits a tensor": lambda: onnx(True),
    "OpenVINO": openvino,
}


def batches(path: str, limit: int) -> list[tuple[Tensor, Layout]]:
    """Subword ids of sentences, sorted by length."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(encoder_folder("minilm") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = [item.text for item in read_sentences(path, "eng") if not isinstance(item, Exception)][:limit]
    ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    costs = [cost(len(row)) for row in ids]
    order = sorted(range(len(ids)), key=costs.__getitem__)
    return [
        (torch.tensor([id for index in batch for id in ids[index]]), Layout([len(ids[index]) for index in batch]))
        for batch in cut(order, costs, budget=BUDGET, max_batch_size=MAX_BATCH_SIZE)
    ]


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default="../shared/data/eds-eng/dev.mrp.gz")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--skip", nargs="*", default=[], help="backends to leave out")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(describe())
    data = batches(arguments.file, arguments.limit)
    count = sum(layout.batch for _, layout in data)
    names = [name for name in BACKENDS if name not in arguments.skip]
    if native_library() is None:
        names = [name for name in names if "C code" not in name]
    for package, title in (("onnxruntime", "ONNX"), ("openvino", "OpenVINO")):
        if any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxscript", package)):
            names = [name for name in names if title not in name]
    backends = {name: BACKENDS[name]() for name in names}
    results = {name: [backend(*batch) for batch in data] for name, backend in backends.items()}
    best = dict.fromkeys(names, float("inf"))
    for _ in range(ROUNDS):
        for name, backend in backends.items():
            before = time.process_time()
            for batch in data:
                backend(*batch)
            best[name] = min(best[name], time.process_time() - before)
    print(f"\n{'backend':<32}{'ms a sentence':>14}{'largest difference':>20}")
    for name in names:
        pairs = zip(results[name], results["perin, no padding"], strict=True)
        difference = max(float(np.abs((one - other).numpy()).max()) for one, other in pairs)
        print(f"{name:<32}{1000 * best[name] / count:>14.2f}{difference:>20.5f}", flush=True)


if __name__ == "__main__":
    main()
