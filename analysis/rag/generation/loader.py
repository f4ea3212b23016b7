"""Loading of generators from a language model's files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .. import checkpoints
from ..checkpoints import Checkpoint
from . import devices
from .devices import Precision


class UnsupportedGeneratorError(ValueError):
    """The model's files are not those of a language model that transformers knows."""


class BadOptionError(ValueError):
    """A generator has no such option, or the value is not valid."""


@dataclass(frozen=True)
class Options:
    """Generation options of a model in this process.

    Attributes
    ----------
    beams : int
        Beams of beam search for prompts at temperature 0; 1 is greedy search. Sampled prompts always use 1.
    precision : "auto", "full" or "half"
        See `devices.number_type`.
    device : str or None
        `cpu`, `cuda`, `cuda:1`; by default a CUDA device if there is one.
    batch_tokens : int or None
        Tokens in one batch; by default as many as the memory allows. Batches that do not fit are made smaller.
    longest : int or None
        Maximum number of tokens of prompt and answer together (of the prompt alone if an encoder reads it); never more
        than the model's positions.
    """

    beams: int = 1
    precision: Precision = "auto"
    device: str | None = None
    batch_tokens: int | None = None
    longest: int | None = None

    def __post_init__(self) -> None:
        for name in ("beams", "batch_tokens", "longest"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise BadOptionError(f"{name} must be a whole number of at least 1, not {value!r}.")
        if self.precision not in ("auto", "full", "half"):
            raise BadOptionError(f"precision must be auto, full or half, not {self.precision!r}.")

    @classmethod
    def read(cls, values: dict[str, Any]) -> Options:
        """Read options from a mapping.

        Raises
        ------
        BadOptionError
            If an option is not known or its value is not valid.
        """
        names = [field.name for field in fields(cls)]
        if unknown := sorted(set(values) - set(names)):
            raise BadOptionError(f"A model has no option {', '.join(unknown)}. Options: {', '.join(names)}.")
        return cls(**values)


@dataclass(frozen=True)
class PreparedModel:
    """A model with everything known before its weights are read.

    Attributes
    ----------
    torch, transformers : module
    checkpoint : Checkpoint
    options : Options
    config : transformers.PretrainedConfig
    device : torch.device
    kind : torch.dtype
        Number type of its weights.
    """

    torch: Any
    transformers: Any
    checkpoint: Checkpoint
    options: Options
    config: Any
    device: Any
    kind: Any

    @property
    def files(self) -> str:
        """Name and version of the files, and the number type if half precision; never a path of this machine."""
        path = Path(self.checkpoint.name)
        half = "" if self.kind is self.torch.float32 else str(self.kind).removeprefix("torch.")
        parts = (path.name if path.is_absolute() else str(path), self.checkpoint.version, half)
        return " ".join(part for part in parts if part)

    @property
    def name(self) -> str:
        """Name of the files with the search options: equal names give equal outputs."""
        beams = f" beams={self.options.beams}" if self.options.beams > 1 else ""
        longest = f" longest={self.options.longest}" if self.options.longest else ""
        return f"{self.files}{beams}{longest}"

    @property
    def number_bytes(self) -> int:
        """Size of one number in bytes."""
        return int(self.kind.itemsize)

    @property
    def size(self) -> int:
        """Approximate size of the loaded weights in bytes; the weights in a GGUF file are packed."""
        return self.checkpoint.size * (self.number_bytes * 2 if self.checkpoint.weights else 1)

    def load(self) -> Any:
        """Load the weights; see `load`."""
        from . import architectures

        is_encoder_decoder = bool(self.config.is_encoder_decoder)
        library = self.transformers
        factory = library.AutoModelForSeq2SeqLM if is_encoder_decoder else library.AutoModelForCausalLM
        source = _source(self.checkpoint)
        safe = {} if self.checkpoint.weights else {"use_safetensors": True}
        try:
            model = factory.from_pretrained(**source, **safe, dtype=self.kind)
        except ValueError as error:
            raise UnsupportedGeneratorError(
                f"{self.checkpoint.name} is of type {self.config.model_type}, which transformers cannot generate with: "
                f"{error}"
            ) from error
        tokenizer = library.AutoTokenizer.from_pretrained(**source)
        loaded = LoadedModel(self, model.eval().to(self.device), tokenizer)
        return architectures.Seq2Seq(loaded) if is_encoder_decoder else architectures.Causal(loaded)


@dataclass(frozen=True)
class LoadedModel:
    """A model on its device, with its tokenizer."""

    prepared: PreparedModel
    model: Any
    tokenizer: Any

    def limit(self) -> int | None:
        """Return the model's number of positions in tokens; None if unlimited, as with T5."""
        config = self.model.config
        limit = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
        # T5's positions are relative; its n_positions is only the length of its training texts.
        return None if hasattr(config, "relative_attention_num_buckets") else limit


def load(name: str, options: Options | None = None) -> Any:
    """Load a generator.

    Parameters
    ----------
    name : str
        `SmolLM2-135M-Instruct` (bundled), a folder, or a name on a hub. Encoder-decoder (T5, BART) or decoder-only
        (GPT-2, Llama), according to its configuration.
    options : Options, optional

    Returns
    -------
    architectures.Seq2Seq or architectures.Causal
        The generator can be reused, but only by one thread at a time.

    Raises
    ------
    checkpoints.NeuralPartsMissingError, checkpoints.ModelMissingError
    UnsupportedGeneratorError
        If it is not a language model.
    """
    return prepare(name, options).load()


def prepare(name: str, options: Options | None = None) -> PreparedModel:
    """Find a generator without reading its weights. Raises the same errors as `load`.

    Its name may be enough to find stored outputs, so that the weights need not be loaded.
    """
    options = options or Options()
    torch, transformers = _parts()
    checkpoint = checkpoints.find(name)
    try:
        config = transformers.AutoConfig.from_pretrained(**_source(checkpoint))
    except ValueError as error:
        raise UnsupportedGeneratorError(f"transformers does not support the model {name}: {error}") from error
    device = devices.choose(torch, options.device)
    kind = devices.number_type(torch, device, options.precision, getattr(config, "dtype", None))
    return PreparedModel(torch, transformers, checkpoint, options, config, device, kind)


def tokenizer(name: str) -> Any:
    """Read only a generator's tokenizer. Raises the same errors as `load`.

    Raises
    ------
    OSError, ValueError
        If its files hold no tokenizer.
    """
    _torch, transformers = _parts()
    return transformers.AutoTokenizer.from_pretrained(**_source(checkpoints.find(name)))


def _source(checkpoint: Checkpoint) -> dict[str, Any]:
    source: dict[str, Any] = {"pretrained_model_name_or_path": checkpoint.folder}
    return {**source, "gguf_file": checkpoint.weights} if checkpoint.weights else source


def _parts() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
        from transformers.utils import logging
    except ImportError as error:
        raise checkpoints.missing_parts() from error
    logging.disable_progress_bar()
    return torch, transformers
