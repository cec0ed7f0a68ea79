"""Sound of the player: resampling and the queue's level under clock drift."""

import numpy as np
import pytest

from pynes_ref.player_sound import CHUNK, MAX_BEND, TARGET, Feed, Resampler


def tone(count, frequency=1000.0, start=0):
    return np.rint(12_000 * np.sin(2 * np.pi * frequency * (start + np.arange(count)) / 44_100)).astype(np.int16)


class Queue:
    """A device that takes chunks at its own speed; counts what it had to invent."""

    def __init__(self):
        self.samples = np.zeros(0, dtype=np.int16)
        self.played = []
        self.missing = 0
        self.owed = 0.0

    def level(self):
        return len(self.samples)

    def put(self, samples):
        self.samples = np.concatenate([self.samples, samples])

    def pass_time(self, samples):
        self.owed += samples
        while self.owed >= CHUNK:
            self.owed -= CHUNK
            part, self.samples = self.samples[:CHUNK], self.samples[CHUNK:]
            self.missing += CHUNK - len(part)
            self.played.append(part)


@pytest.mark.parametrize("ratio", [1.0, 1.004, 0.9951])
def test_a_resampled_tone_stays_a_tone(ratio):
    resample = Resampler()
    blocks = [resample(tone(734, start=734 * n), ratio) for n in range(40)]
    out = np.concatenate(blocks).astype(np.float64)
    assert len(out) == pytest.approx(40 * 734 * ratio, abs=20)
    places = (np.arange(len(out)) / ratio) - 8
    expected = 12_000 * np.sin(2 * np.pi * 1000 * places / 44_100)
    error = (out - expected)[100:]
    assert np.sqrt(np.mean(error**2)) < 12_000 * 0.005


def test_silence_stays_silence():
    assert not Resampler()(np.zeros(734, dtype=np.int16), 1.003).any()


@pytest.mark.parametrize("drift", [0.997, 0.9995, 1.0, 1.0005, 1.003])
def test_the_queue_neither_runs_dry_nor_full(drift):
    queue, rng = Queue(), np.random.default_rng(1)
    feed = Feed(queue)
    levels, late = [], 0.0
    for n in range(4000):
        feed.add(tone(734 if n % 5 else 733, start=n * 734))
        levels.append(queue.level())
        later = rng.exponential(150)  # a frame comes 3 ms late on average, at times 20
        queue.pass_time(733.8 * drift + later - late)
        late = later
    assert queue.missing == 0
    assert max(levels) < 3 * TARGET
    assert abs(np.mean(levels[2000:]) - 734 - TARGET) < TARGET * 0.1


def test_after_running_dry_it_starts_again_softly_behind_a_reserve():
    queue = Queue()
    feed = Feed(queue)
    feed.add(tone(734))
    queue.pass_time(44_100)
    assert queue.level() == 0
    feed.add(np.full(734, 10_000, dtype=np.int16))
    assert queue.level() >= TARGET + 700
    assert not queue.samples[:TARGET].any()
    assert np.abs(np.diff(queue.samples.astype(int))).max() < 1000


def test_stopping_fades_out_once():
    queue = Queue()
    feed = Feed(queue)
    feed.stop()
    assert queue.level() == 0
    feed.add(np.full(734, 10_000, dtype=np.int16))
    feed.stop()
    level = queue.level()
    feed.stop()
    assert queue.level() == level
    assert queue.samples[-1] == 0
    assert np.abs(np.diff(queue.samples[TARGET + 140 :].astype(int))).max() < 500


def test_a_device_that_takes_nothing_is_not_fed_for_ever():
    queue = Queue()
    feed = Feed(queue)
    for _ in range(1000):
        feed.add(tone(734))
    assert queue.level() < 5 * TARGET + 1000


def test_a_device_that_starts_late_does_not_stay_late():
    queue = Queue()
    feed = Feed(queue)
    for n in range(200):
        feed.add(tone(734, start=n * 734))
        queue.pass_time(0 if n < 20 else 734)
    assert TARGET / 2 < queue.level() < 1.5 * TARGET + 734
    assert queue.missing == 0


def test_the_bend_is_small():
    assert MAX_BEND <= 0.005
