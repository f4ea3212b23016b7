"""A process of its own that generates: `python -m tests.analysis.experiments.generator_process FOLDER PROMPTS`."""

import sys
import time

import django

if __name__ == "__main__":
    django.setup()
    from analysis.experiments.cached_generator import CachedGenerator
    from analysis.rag.generation import Options
    from analysis.rag.protocols import Message, Prompt

    CachedGenerator(
        sys.argv[1],
        Options(batch_tokens=1, device="cpu"),
        study=None,
        check=lambda: time.sleep(0.05),  # between batches, so that a kill may fall there, too
    ).generate([Prompt((Message("user", f"the cat {i}"),), max_tokens=6) for i in range(int(sys.argv[2]))])
