"""Tiny feature models with random weights, made from nothing: an encoder and a LLMLingua-2 token classifier."""

from __future__ import annotations

import json
from pathlib import Path

from tiny_models import tiny_tokenizer

SENTENCES = (
    "I want a hotel in Paris for 2 people.",
    "The price is $45.00, call 01223 351241.",
    "Change the date to the 5th of May!",
    "Is there a table at half past six?",
    "好的，我要去厦门。",
)


def tiny_encoder(folder: Path) -> Path:
    """Writes a sentence-transformers model: two BERT layers over bytes, mean pooling, unit length."""
    import torch
    from transformers import BertConfig, BertModel

    tokenizer = tiny_tokenizer(None)
    torch.manual_seed(0)
    model = BertModel(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=256,
            initializer_range=0.5,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    (folder / "1_Pooling").mkdir(parents=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    files = {
        "modules.json": [
            {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for place, (path, kind) in enumerate(modules)
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def tiny_llmlingua2(folder: Path) -> Path:
    """Writes an XLM-R token classifier and a unigram tokenizer; the folder's name tells llmlingua the family."""
    import torch
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaForTokenClassification

    backend = Tokenizer(models.Unigram())
    backend.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")]
    )
    backend.decoder = decoders.Metaspace()
    backend.train_from_iterator(
        SENTENCES * 5,
        trainers.UnigramTrainer(
            vocab_size=300,
            special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
            unk_token="<unk>",
            initial_alphabet=[chr(code) for code in range(33, 127)],
            show_progress=False,
        ),
    )
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        cls_token="<s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
    )
    torch.manual_seed(0)
    model = XLMRobertaForTokenClassification(
        XLMRobertaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=514,
            num_labels=2,
            initializer_range=0.3,
            type_vocab_size=1,
        )
    )
    place = folder / "tiny-xlm-roberta-large"
    place.mkdir(parents=True)
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place
