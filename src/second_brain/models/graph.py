"""The encoder as an ONNX graph: BERT's post-norm transformer, fused as ONNX Runtime runs it fastest.

    rows (B, T, hidden)  word embeddings of the tokens, padded on the right
    lengths (B)          int32, the real tokens of each text
      -> tokens (B, T, hidden)  the last layer, one vector a token; rows of padding mean nothing
      -> pooled (B, hidden)     the mean over the real tokens, unit norm

The operators are fused here rather than by ONNX Runtime's optimizer, so that a session opens without
optimizing. The weights lie as float32 in a file beside the graph, which the session maps: 86 MB that are
read when first used, and shared by all processes.

Source: Devlin et al., BERT, NAACL 2019; Wang et al., Multilingual E5 Text Embeddings, 2024.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .weights import Floats, Weights

_FUSED = "com.microsoft"
_FUSED_OPERATORS = {"Attention", "BiasGelu", "SkipLayerNormalization"}
_OPSETS = {"": 20, _FUSED: 1}
_IR_VERSION = 9


def write_encoder(path: Path, weights: Weights) -> None:
    """Write the graph to ``path`` (``.onnx``) and its tensors beside it (``.bin``).

    Takes a second and some 300 MB of memory.
    """
    network = weights.network
    graph = _Graph()
    hidden = _embeddings(graph, weights)
    for layer in range(network.layers):
        last = layer == network.layers - 1
        hidden = _layer(graph, weights, f"l{layer}.", hidden, "tokens" if last else f"l{layer}.out")
    _pool(graph, hidden)

    def floats(name: str, *shape: str | int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "e5",
            inputs=[
                floats("rows", "B", "T", network.hidden),
                helper.make_tensor_value_info("lengths", TensorProto.INT32, ["B"]),
            ],
            outputs=[floats("tokens", "B", "T", network.hidden), floats("pooled", "B", network.hidden)],
            initializer=graph.tensors,
        ),
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()],
        ir_version=_IR_VERSION,
    )
    onnx.save_model(model, path, save_as_external_data=True, location=path.with_suffix(".bin").name)


class _Graph:
    """Nodes and tensors in the making; both methods return the name that they add."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def tensor(self, name: str, values: np.ndarray) -> str:
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        domain = _FUSED if operator in _FUSED_OPERATORS else ""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output


def _embeddings(graph: _Graph, weights: Weights) -> str:
    """Layer norm of word + position + type 0."""
    network = weights.network
    positions = weights.vector("emb.pos").reshape(network.positions, network.hidden)
    graph.tensor("emb.pos", positions + weights.vector("emb.type")[: network.hidden])
    graph.tensor("first", np.array([0], dtype=np.int64))
    graph.node("Shape", ["rows"], "width", start=1, end=2)
    graph.node("Slice", ["emb.pos", "first", "width", "first"], "positions")
    graph.node("Add", ["rows", "positions"], "emb.sum")
    scale = graph.tensor("emb.ln.w", weights.vector("emb.ln.w"))
    bias = graph.tensor("emb.ln.b", weights.vector("emb.ln.b"))
    return graph.node("LayerNormalization", ["emb.sum", scale, bias], "emb.out", epsilon=network.epsilon)


def _layer(graph: _Graph, weights: Weights, prefix: str, hidden: str, output: str) -> str:
    """Self-attention, then the feed-forward layer, each added to its input and normalized."""
    network = weights.network

    def vector(name: str) -> str:
        return graph.tensor(prefix + name, weights.vector(prefix + name))

    def transposed(name: str, columns: int) -> Floats:
        return weights.matrix(prefix + name, columns).T

    def normalized(residual: str, update: str, norm: str, bias: str, out: str) -> str:
        inputs = [residual, update, vector(f"{norm}.w"), vector(f"{norm}.b"), vector(bias)]
        return graph.node("SkipLayerNormalization", inputs, out, epsilon=network.epsilon)

    joint = [transposed(f"{part}.w", network.hidden) for part in "qkv"]
    joint_weights = graph.tensor(f"{prefix}qkv.w", np.concatenate(joint, axis=1))
    joint_bias = graph.tensor(f"{prefix}qkv.b", np.concatenate([weights.vector(f"{prefix}{part}.b") for part in "qkv"]))
    attention = graph.node(
        "Attention", [hidden, joint_weights, joint_bias, "lengths"], f"{prefix}att", num_heads=network.heads
    )
    projection = graph.tensor(f"{prefix}ao.w", transposed("ao.w", network.hidden))
    projected = graph.node("MatMul", [attention, projection], f"{prefix}ao")
    attended = normalized(hidden, projected, "aln", "ao.b", f"{prefix}mid")

    widen = graph.tensor(f"{prefix}fi.w", transposed("fi.w", network.hidden))
    widened = graph.node("MatMul", [attended, widen], f"{prefix}fi")
    activated = graph.node("BiasGelu", [widened, vector("fi.b")], f"{prefix}gelu")
    narrow = graph.tensor(f"{prefix}fo.w", transposed("fo.w", network.inner))
    narrowed = graph.node("MatMul", [activated, narrow], f"{prefix}fo")
    return normalized(attended, narrowed, "oln", "fo.b", output)


def _pool(graph: _Graph, tokens: str) -> str:
    """The sum over the real tokens, scaled to unit norm (so that dividing by their number is not needed)."""
    axis = graph.tensor("axis", np.array([1], dtype=np.int64))
    zero = graph.tensor("zero", np.array(0, dtype=np.int64))
    one = graph.tensor("one", np.array(1, dtype=np.int64))
    graph.node("Squeeze", ["width"], "width.scalar")
    graph.node("Range", [zero, "width.scalar", one], "places")
    graph.node("Cast", ["lengths"], "lengths.wide", to=TensorProto.INT64)
    graph.node("Unsqueeze", ["lengths.wide", axis], "lengths.column")
    graph.node("Less", ["places", "lengths.column"], "real")
    graph.node("Cast", ["real"], "real.float", to=TensorProto.FLOAT)
    graph.node("Unsqueeze", ["real.float", axis], "real.row")
    graph.node("MatMul", ["real.row", tokens], "sum.row")
    graph.node("Squeeze", ["sum.row", axis], "sum")
    return graph.node("LpNormalization", ["sum"], "pooled", axis=-1, p=2)
