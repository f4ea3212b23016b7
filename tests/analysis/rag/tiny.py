"""Models of random weights, made in a moment and of a few kilobytes."""

import json
from pathlib import Path

import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel

WORDS = ["a", "b", "c", "cat", "dog", "the", "sat", "on", "mat", "barks", "loud", "night", "##s", "##ly", "is", "of"]


def bert(folder: Path, *, layers: int = 3, seed: int = 0, positions: int = 32) -> Path:
    """A BERT that knows a few words."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=positions).save_pretrained(folder)
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=positions,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def roberta(folder: Path, *, layers: int = 2) -> Path:
    """A RoBERTa whose tokens are bytes and some pairs of them: words begin with a blank."""
    alphabet = sorted(ByteLevel.alphabet())
    vocabulary = {
        word: i for i, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", "<mask>", *alphabet, "Ġc", "at", "Ġcat"])
    }
    merges = [("Ġ", "c"), ("a", "t"), ("Ġc", "at")]
    folder.mkdir(parents=True)
    transformers.RobertaTokenizer(vocab=vocabulary, merges=merges, model_max_length=24).save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.RobertaConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=26, type_vocab_size=1,
        pad_token_id=1, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    transformers.RobertaModel(config).save_pretrained(folder)
    return folder


def change_settings(folder: Path, name: str, **values: object) -> None:
    """Change what a model's file of settings says."""
    path = folder / name
    found = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found | values))
