"""A process of its own that generates: `python -m tests.analysis.experiments.generates FOLDER PROMPTS`."""

import sys
import time

import django

if __name__ == "__main__":
    django.setup()
    from analysis.domain.experiments.remembering import Remembering
    from analysis.rag.generation import Options
    from analysis.rag.shapes import Message, Prompt

    Remembering(
        sys.argv[1],
        Options(batch_tokens=1, device="cpu"),
        study=None,
        check=lambda: time.sleep(0.05),  # between batches, so that a kill may fall there, too
    ).generate([Prompt((Message("user", f"the cat {i}"),), max_tokens=6) for i in range(int(sys.argv[2]))])
