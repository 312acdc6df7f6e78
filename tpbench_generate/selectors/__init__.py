"""Turn selectors that run a model: one file each. Importing this loads no model library; applying one does."""

from __future__ import annotations

from tpbench_data.selectors.base import Selector
from tpbench_generate.selectors.dense_topk import DenseTopK
from tpbench_generate.selectors.dycp import DyCP, DyCPBudget
from tpbench_generate.selectors.embedding_mmr import EmbeddingMMR
from tpbench_generate.selectors.h2o_proxy import H2OProxy
from tpbench_generate.selectors.llmlingua2 import LLMLingua2

MODEL_SELECTORS: dict[str, type[Selector]] = {
    kind.name: kind for kind in (H2OProxy, EmbeddingMMR, LLMLingua2, DenseTopK, DyCP, DyCPBudget)
}
"""Method name -> class."""
