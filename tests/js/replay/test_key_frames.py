"""The replay shows the text that the server rebuilds, from whichever key frame it starts."""

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.js import node
from tests.writing.replay.test_playback import edits
from writing.editor import codec
from writing.replay import merged_log, playback


def test_key_frames_give_what_playing_from_the_beginning_gives() -> None:
    with node.script("replay/rebuild_texts.js") as ask:

        @given(edits(), st.randoms(use_true_random=False))
        @settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))
        def check(events: list[Any], rng: random.Random) -> None:
            line = merged_log.MergedLog()
            merged_log._Clock(line).add(0, events, None)
            document = playback._text(line, [])
            texts = ["", *(text for _, text in codec.states(line.events))]
            order = [rng.randrange(len(texts)) for _ in range(2 * len(texts))]
            question = {"changes": document["changes"], "arrivals": document["arrivals"], "order": order}
            assert ask(question) == [texts[index] for index in order]

        check()
