"""Language models in this process as generators: `load` one and use it like any other. docs/guides/gpu.md."""

from .loader import Options, load

__all__ = ["Options", "load"]
