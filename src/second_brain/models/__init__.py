"""I have texts; what vectors, what scores, what answer?

Useful for: turning notes, passages and questions into vectors that can be compared, offline, with the
multilingual model whose weights are installed as a package; counting the tokens of a text as that model
sees them; a fast, deterministic embedder for tests.
Not for: deciding what to embed (chunking), keeping vectors (index), comparing and mixing them (ranking).

    weights    the installed 4-bit weights, mapped
    tokenizer  text to token ids
    graph      the encoder as an ONNX graph, written once
    cache      folders of built files, whole or absent
    e5         the bundled embedder
    projection its token vectors as bits, for late interaction
    hashing    an embedder without a model, for tests
    endpoint   JSON to a model behind HTTP
    rerank     cross-encoders: behind HTTP, or of the hub
    chat       a chat model behind an OpenAI-compatible endpoint

Nothing is imported here, so that asking for one part loads only that part.
"""
