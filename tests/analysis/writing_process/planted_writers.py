"""Logs of planted writers: whoever made them is known, so what is found can be checked."""

import numpy as np

SENTENCES = [
    f"{start} {verb} the {thing} of the {place} [{number}]. "
    for number, (start, verb, thing, place) in enumerate(
        zip(
            ["Historians", "Farmers", "Many cities", "Two surveys", "Engineers", "Newer studies", "Some critics"] * 2,
            ["describe", "doubt", "support", "measured", "rebuilt", "explain", "question"] * 2,
            ["growth", "decline", "harbours", "water", "bridges", "weather", "schools"] * 2,
            ["valley", "coast", "old towns", "northern plains", "river", "islands", "capital"] * 2,
            strict=True,
        )
    )
]
FOREIGN = "A large language model would be delighted to help with a comprehensive overview of this fascinating topic."
PASSAGES = [
    "The harbour of the old town was built in 1702 and enlarged twice before the railway reached the northern coast.",
    "Rainfall in the valley has declined by a fifth since measurements began, and farmers have turned to other crops.",
    "雪は山の上に降り、秋になると葉は落ちる。",
]


class Writer:
    """Types with a rhythm of its own into a log."""

    def __init__(self, rng, *, interval=180.0, spread=0.6):
        self.rng, self.interval, self.spread = rng, interval, spread
        self.events = [["a", 0, 1_700_000_000_000, 1280, 800, False]]
        self.text, self.ms = "", 0

    def wait(self, ms):
        self.ms += int(ms)

    def splice(self, position, deleted, inserted, source):
        self.events.append(["s", self.ms, position, deleted, inserted, source, ""])
        self.text = self.text[:position] + inserted + self.text[position + deleted :]

    def key(self, letter):
        self.wait(max(25, self.rng.lognormal(np.log(self.interval), self.spread)))
        self.splice(len(self.text), 0, letter, "typed")

    def back(self):
        self.wait(max(25, self.rng.lognormal(np.log(self.interval), self.spread)))
        self.splice(len(self.text) - 1, 1, "", "deleted")

    def think(self, seconds):
        self.wait(1000 * seconds)

    def paste(self, text, *, place=None, position=None):
        self.wait(300)
        if place is not None:
            self.events.append(["p", self.ms, place, len(text), 0])
        self.splice(len(self.text) if position is None else position, 0, text, "pasted")

    def leave(self, seconds):
        self.wait(400)
        self.events.append(["v", self.ms, 0])
        self.think(seconds)
        self.events.append(["v", self.ms, 1])


def composer(rng):
    """A person who thinks before sentences, mistypes, and takes words back."""
    writer = Writer(rng)
    for sentence in SENTENCES:
        if rng.random() < 0.7:
            writer.think(2 + rng.exponential(6))
        for letter in sentence:
            if letter.isalpha() and rng.random() < 0.05:
                writer.key("x")
                writer.back()
            writer.key(letter)
    return writer


def transcriber(rng):
    """A person who copies a text from a sheet beside the keyboard: pauses come anywhere, not at sentences."""
    writer = Writer(rng, interval=160.0)
    for sentence in SENTENCES:
        for place, letter in enumerate(sentence):
            if place and rng.random() < 0.01:
                writer.think(2 + rng.exponential(1))
            writer.key(letter)
    return writer


def robot(rng):
    """A program that types."""
    writer = Writer(rng, interval=100.0, spread=0.05)
    for sentence in SENTENCES:
        for letter in sentence:
            writer.key(letter)
    return writer


def paster(rng):
    """A person who starts, goes to another tab and comes back with a text."""
    writer = Writer(rng)
    for letter in SENTENCES[0]:
        writer.key(letter)
    writer.leave(40)
    writer.think(2)
    writer.paste(FOREIGN, place=-2)
    return writer
