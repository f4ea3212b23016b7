"""The one training loop: rate, order, early stopping; a killed training ends with the weights of an undisturbed one."""

import multiprocessing
import os
import signal
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from analysis.rag.uplift_rag import training_loop
from analysis.rag.uplift_rag.training_loop import Checkpoint, Schedule, Task, TrainingMemoryError
from tests.analysis.rag.neural import torch

N = 10


def model(seed: int = 0):
    """A regression with dropout, so that torch's random state matters."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1))


def data():
    rng = np.random.default_rng(7)
    inputs = rng.normal(size=(N, 4))
    return torch.tensor(inputs, dtype=torch.float32), torch.tensor(inputs.sum(axis=1), dtype=torch.float32)


def task(net, rng: np.random.Generator, held_out=None, most: int = N) -> Task:
    """Examples with noise from `rng`, of a strength that is drawn before each epoch."""
    inputs, targets = data()
    strength = [0.0]

    def loss(batch):
        if len(batch) > most:
            raise torch.OutOfMemoryError
        noise = torch.tensor(rng.normal(size=len(batch)) * strength[0], dtype=torch.float32)
        return ((net(inputs[list(batch)])[:, 0] - targets[list(batch)] - noise) ** 2).mean()

    return Task(
        net, N, training_loop.in_parts(loss), "buy memory", held_out,
        before_epoch=lambda: strength.__setitem__(0, float(rng.uniform())), state=lambda: strength,
        restore=lambda state: strength.__setitem__(0, state[0]), message="noise",
    )  # fmt: skip


SCHEDULE = Schedule(epochs=4, learning_rate=1e-2, batch=3, warm_up=0.2, weight_decay=0.1)


def trained(checkpoint=None, report=lambda *_said: None, held_out=None, schedule=SCHEDULE, seed=0):
    net, rng = model(seed), np.random.default_rng(3)
    course = training_loop.run(
        task(net, rng, held_out), schedule, rng=rng, report=report, checkpoint=checkpoint
    )  # fmt: skip
    return weights(net), course, rng.random()


def weights(net) -> np.ndarray:
    return torch.cat([each.detach().flatten() for each in net.parameters()]).numpy()


class StoppedError(Exception):
    """Somebody stopped the training."""


def test_steps_are_those_of_torch(monkeypatch):
    """Order, rate, clipping and decay as a plain loop has them; the number at once changes nothing."""
    net, rng = model(), np.random.default_rng(3)
    net[1].p = 0.0
    plain, plain_rng = model(), np.random.default_rng(3)
    plain[1].p = 0.0
    training_loop.run(task(net, rng), SCHEDULE, rng=rng)

    expected = task(plain, plain_rng)
    plain_rng.integers(2**63)  # torch's seed
    optimizer = torch.optim.AdamW(plain.parameters(), lr=1e-2, weight_decay=0.1, foreach=False)
    steps = 4 * 4
    for epoch in range(4):
        expected.before_epoch()
        order = plain_rng.permutation(N).tolist()
        for i, start in enumerate(range(0, N, 3)):
            step = epoch * 4 + i
            for group in optimizer.param_groups:
                group["lr"] = 1e-2 * (step / 3 if step < 3 else (steps - step) / (steps - 3))
            optimizer.zero_grad()
            expected.gradients(order[start : start + 3], 3)
            torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
            optimizer.step()
    np.testing.assert_allclose(weights(net), weights(plain), atol=1e-6)


@pytest.mark.parametrize("stop_at", range(1, 17))
def test_a_stopped_training_goes_on_to_the_same_weights(tmp_path: Path, stop_at):
    held_out = lambda: 1.0  # noqa: E731
    expected = trained(held_out=held_out)
    checkpoint = Checkpoint(tmp_path / "a.pt", seconds=1e9)

    def stop(done, _total, _message):
        if done == stop_at:
            raise StoppedError

    with pytest.raises(StoppedError):
        trained(checkpoint, stop, held_out)
    seen = []
    found = trained(checkpoint, lambda done, *_said: seen.append(done), held_out)
    np.testing.assert_array_equal(found[0], expected[0])
    assert (found[1], found[2]) == (expected[1], expected[2])
    assert seen == list(range(stop_at + 1, 17))


def _work(folder: Path) -> None:
    torch.set_num_threads(1)
    clock = count()
    trained(Checkpoint(folder / "a.pt", seconds=1, clock=lambda: next(clock)), lambda *_said: time.sleep(0.01))
    (folder / "done").touch()


@pytest.mark.extended
def test_a_training_that_is_killed_again_and_again_ends_with_the_same_weights(tmp_path: Path):
    expected = trained()
    context, rng, kills = multiprocessing.get_context("fork"), np.random.default_rng(0), 0
    while not (tmp_path / "done").exists():
        process = context.Process(target=_work, args=(tmp_path,))
        process.start()
        process.join(rng.uniform(0.02, 0.2))
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.join()
        assert kills < 200
    seen = []
    found = trained(Checkpoint(tmp_path / "a.pt"), lambda done, *_said: seen.append(done))
    np.testing.assert_array_equal(found[0], expected[0])
    assert seen == []  # nothing was left to do
    assert kills > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pt", "done"]


def test_a_checkpoint_of_another_training_or_a_damaged_one_is_not_used(tmp_path: Path):
    checkpoint = Checkpoint(tmp_path / "a.pt")
    other = trained(checkpoint, seed=1)[0]
    np.testing.assert_array_equal(trained(checkpoint)[0], trained()[0])
    assert np.abs(other - trained()[0]).max() > 0.1
    checkpoint.path.write_bytes(checkpoint.path.read_bytes()[:-100])
    np.testing.assert_array_equal(trained(checkpoint)[0], trained()[0])


def test_a_full_disk_does_not_end_a_training(tmp_path: Path):
    (tmp_path / "file").touch()
    np.testing.assert_array_equal(trained(Checkpoint(tmp_path / "file" / "a.pt"))[0], trained()[0])


def test_the_best_epoch_is_used_and_survives_a_stop(tmp_path: Path):
    schedule = Schedule(epochs=4, learning_rate=1e-2, batch=3, patience=2)

    def watched(losses):
        given = iter(losses)
        return lambda: next(given)

    only_first = Schedule(epochs=1, learning_rate=1e-2, batch=3)
    found, course, _next = trained(schedule=schedule, held_out=watched([1.0, 3.0, 2.0]))
    assert (course.best, course.held_out) == (0, [1.0, 3.0, 2.0])

    def stop(done, _total, _message):
        if done == 10:
            raise StoppedError

    checkpoint = Checkpoint(tmp_path / "a.pt")
    with pytest.raises(StoppedError):
        trained(checkpoint, stop, watched([1.0, 3.0]), schedule)
    again, course, _next = trained(checkpoint, held_out=watched([2.0]), schedule=schedule)
    np.testing.assert_array_equal(again, found)
    assert course.held_out == [1.0, 3.0, 2.0]
    # The rate of a single epoch falls faster, so only the number of epochs with weights differs.
    assert np.abs(trained(schedule=only_first)[0] - found).max() > 0


def test_short_memory_takes_fewer_at_once_to_the_same_weights():
    found = []
    for most in (N, 2, 1):
        net, rng = model(), np.random.default_rng(3)
        net[1].p = 0.0
        course = training_loop.run(task(net, rng, most=most), SCHEDULE, rng=rng)
        found.append((weights(net), course.losses))
    for other, losses in found[1:]:
        np.testing.assert_allclose(other, found[0][0], atol=1e-5)
        np.testing.assert_allclose(losses, found[0][1], rtol=1e-4)
    net, rng = model(), np.random.default_rng(3)
    with pytest.raises(TrainingMemoryError, match="buy memory"):
        training_loop.run(task(net, rng, most=0), SCHEDULE, rng=rng)
