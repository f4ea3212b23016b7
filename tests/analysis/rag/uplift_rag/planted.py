"""Queries whose helpful documents are known: a generator knows some answers, and a pattern of words helps it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.rag.protocols import Document, Floats, NoLikelihoodsError, Output, Prompt, Query
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery
from tests.analysis.rag.neural import torch, transformers

#: Who asks so is answered without documents; who asks otherwise is not.
KNOWN, UNKNOWN = "which common", "which obscure"
#: A document that says so gives the answer away; one that says so takes even a known answer away.
HELPS, MISLEADS = "the record states", "rumour claims"
FILLER = ["river", "stone", "market", "winter", "garden", "letter", "bridge", "music", "salt", "paper", "window",
          "island", "forest", "silver", "train"]  # fmt: skip


class Planted:
    """Answers a prompt by its words alone, and counts how often it was asked."""

    name = "planted-1"

    def __init__(self) -> None:
        self.asked: list[Prompt] = []

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Each distinct prompt once."""
        self.asked += dict.fromkeys(prompts)
        return [self._answer(each) for each in prompts]

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """It gives none, as most chat servers."""
        raise NoLikelihoodsError("planted")

    def _answer(self, prompt: Prompt) -> Output:
        system, user = (each.content for each in prompt.messages)
        right = HELPS in system or (KNOWN in user and MISLEADS not in system)
        answer = f"answer {user.split()[3]}" if right else "unsure"  # "Question: which common 17 ..."
        return Output(answer, prompt_tokens=len((system + user).split()), completion_tokens=2)


def labelled(helps: Sequence[int], name: str = "q") -> LabelledQuery:
    """A query that is answered wrong without documents, and right with each one that helps."""
    documents = tuple(Document(f"{name}{place}", "text") for place in range(len(helps)))
    alone = tuple("right" if each else "wrong" for each in helps)
    return LabelledQuery(Query(name, "which", ("right",), documents), documents, "wrong", alone)


def queries(n: int, rng: np.random.Generator, *, documents: int = 6) -> list[Query]:
    """Half of them known; of each query's documents about a quarter helps (if anything can) and a quarter misleads."""
    found = []
    for i in range(n):
        asks = KNOWN if rng.random() < 0.5 else UNKNOWN
        filler = lambda k: " ".join(rng.choice(FILLER, size=k))  # noqa: E731
        docs = []
        for d in range(documents):
            kind = rng.choice(["helps", "misleads", "neither", "neither"])
            says = {"helps": HELPS, "misleads": MISLEADS, "neither": filler(2)}[str(kind)]
            text = f"{filler(rng.integers(2, 6))} {says} {filler(rng.integers(2, 6))}"
            docs.append(Document(f"{i}-{d}", text, is_helpful=kind == "helps" and asks == UNKNOWN))
        found.append(Query(str(i), f"{asks} {i} {filler(2)}", (f"answer {i}",), tuple(docs)))
    return found


def encoder(folder: Path, *, seed: int = 0, layers: int = 2, width: int = 48, words: Sequence[str] = ()) -> Path:
    """A BERT of random weights that knows some words, by default these queries', and numbers by their digits."""
    words = words or " ".join([KNOWN, UNKNOWN, HELPS, MISLEADS, *FILLER]).split()
    digits = [f"{mark}{digit}" for mark in ("", "##") for digit in range(10)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(words), *digits]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=2 * width, max_position_embeddings=64, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    return folder
