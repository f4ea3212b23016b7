"""The real local model writes here too."""

from tests.llm.conftest import local_model_url

__all__ = ["local_model_url"]
