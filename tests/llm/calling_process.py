"""A process that asks: `python -m tests.llm.calling_process LEASE TEXT...`; prints each answer when it is stored."""

import signal
import sys

import django

if __name__ == "__main__":
    # A shell that runs the tests in the background has told its children to ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    django.setup()
    from crowdrag.llm import gateway
    from crowdrag.llm.models import Endpoint
    from crowdrag.llm.retry_policy import RetryPolicy
    from crowdrag.studies.models import Study

    gateway.complete_many(
        endpoint=Endpoint.objects.get(name="odd"),
        requests=[gateway.Request(messages=[{"role": "user", "content": text}]) for text in sys.argv[2:]],
        study=Study.objects.get(slug="s"),
        purpose="process",
        policy=RetryPolicy(lease=float(sys.argv[1]), poll=0.05),
        on_answer=lambda answer: print(answer.call, answer.text, answer.cached, flush=True),
    )
