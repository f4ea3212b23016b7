"""Models of random weights, made in a moment and of a few kilobytes."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.analysis.rag.neural import torch, transformers

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
    alphabet = sorted(pytest.importorskip("tokenizers").pre_tokenizers.ByteLevel.alphabet())
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


def t5(folder: Path, *, seed: int = 0) -> Path:
    """A T5 whose tokens are letters and the few words."""
    letters = [chr(letter) for letter in range(33, 127)]
    pieces = ["<pad>", "</s>", "<unk>", "▁", *(f"▁{word}" for word in WORDS if not word.startswith("##")), *letters]
    folder.mkdir(parents=True)
    transformers.T5Tokenizer(
        vocab=[(piece, -float(i > 2) * (1 + (len(piece) < 3))) for i, piece in enumerate(pieces)], extra_ids=0
    ).save_pretrained(folder)
    torch.manual_seed(seed)
    config = transformers.T5Config(
        vocab_size=len(pieces), d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2, initializer_factor=4.0,
        pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
    )  # fmt: skip
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def _bytewise(folder: Path, **options: object) -> int:
    """A tokenizer of bytes, as GPT-2's; returns how many tokens it has. The last one ends a text."""
    alphabet = sorted(pytest.importorskip("tokenizers").pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: i for i, word in enumerate([*alphabet, "Ġc", "at", "Ġcat", "<|endoftext|>"])}
    merges = [("Ġ", "c"), ("a", "t"), ("Ġc", "at")]
    folder.mkdir(parents=True)
    tokenizer = transformers.GPT2Tokenizer(vocab=vocabulary, merges=merges)
    for name, value in options.items():
        setattr(tokenizer, name, value)
    tokenizer.save_pretrained(folder)
    return len(vocabulary)


def gpt2(folder: Path, *, positions: int = 512, seed: int = 0) -> Path:
    """A GPT-2, which was taught no chat: positions are learnt."""
    words = _bytewise(folder)
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=words, n_positions=positions, n_embd=16, n_layer=2, n_head=2, initializer_range=0.3,
        bos_token_id=words - 1, eos_token_id=words - 1,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


CHAT = (
    "{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)


def llama(folder: Path, *, chat: str = CHAT, seed: int = 0) -> Path:
    """A Llama that chats: positions are rotations, keys and values are shared by heads."""
    words = _bytewise(folder, chat_template=chat)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=words, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512, initializer_range=0.3,
        bos_token_id=words - 1, eos_token_id=words - 1,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def classifier(folder: Path, labels: Sequence[str], *, positions: int = 32, seed: int = 0) -> Path:
    """A BERT that says which of these labels a pair of texts has."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=positions).save_pretrained(folder)
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=positions, id2label=dict(enumerate(labels)), initializer_range=0.3,
        label2id={label: i for i, label in enumerate(labels)},
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def change_settings(folder: Path, name: str, **values: object) -> None:
    """Change what a model's file of settings says."""
    path = folder / name
    found = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found | values))


def masked(folder: Path, *, seed: int = 0, positions: int = 32) -> Path:
    """A BERT that predicts words, as SPLADE is one; weights are large enough that some logits are above 0."""
    bert(folder, positions=positions)
    torch.manual_seed(seed)
    config = transformers.BertConfig.from_pretrained(folder, initializer_range=0.5)
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    return folder
