"""A corpus is checked on load, and every fault is in one list."""

from __future__ import annotations

import corpus_maker
import pytest

from grader.manifest import CorpusError, load_corpus


def faults(folder, **options):
    with pytest.raises(CorpusError) as error:
        load_corpus(folder, **options)
    return error.value.faults


def test_a_good_corpus(tmp_path):
    corpus = load_corpus(corpus_maker.make(tmp_path / "c"))
    assert [case.id for case in corpus.cases] == ["one", "two", "game"]
    game = corpus.cases[2]
    assert game.rom_path.name == "any name.nes"  # found by hash, not by name
    assert game.keys[:10] == bytes(10)
    assert game.keys[10:20] == b"\1" * 10
    assert game.keys[30:60] == b"\x82" * 30
    assert len(game.keys) == 90
    assert corpus.cases[1].scoring_mode == "frame_mean"  # the default
    assert corpus.config.fuel_per_frame == 5_000_000
    assert corpus.notes == ()
    assert [case.id for case in corpus.only(["game", "one"]).cases] == ["one", "game"]
    for wanted, line in (
        ("qqq", "there is no testcase 'qqq'; there are one, two, game"),
        ("gama", "there is no testcase 'gama'; did you mean game?"),
    ):
        with pytest.raises(CorpusError) as error:
            corpus.only(["one", wanted])
        assert str(error.value) == line


def test_the_shared_corpus_is_good(shared):
    corpus = load_corpus(shared / "corpus")
    assert len(corpus.cases) == 25
    assert any("1 event past the end (frame 5419" in note for note in corpus.notes)


def test_all_faults_at_once(tmp_path):
    cases = corpus_maker.entries()
    bad = [
        {**cases[0], "id": "one"},
        {**cases[0], "section": "sound", "id": "a"},
        {**cases[0], "rom_sha256": "00" * 32, "id": "b"},
        {**cases[0], "rom_sha256": "xyz", "id": "c"},
        {**cases[0], "id": "../escape"},
        {**cases[0], "id": "d", "frames": 0},
        {**cases[0], "id": "e", "frames": "many"},
        {**cases[0], "id": "f", "scoring_mode": "guess"},
        {**cases[0], "id": "g", "replay": "../../etc/passwd"},
        {**cases[0], "id": "h", "replay": "nothing.txt"},
        {**cases[0], "id": "i", "replay": "broken.txt"},
        {**cases[0], "id": "j", "replay": "game.txt", "frames": 30},
        {**cases[0], "id": "k", "subsystem": "dma"},
        {"id": "l"},
        "m",
    ]
    config = """
section_weights: {procedural: 0.5, replay: 0.6, audio: 0.2, smell: 0.1}
subsystem_weights:
  procedural: {cpu: 0.5, ppu: -0.5}
  replay: {gameplay: 1.0}
  audio: {game_audio: 0.5, apu: 0.5}
fuel_per_frame: 0
speed: 11
"""
    folder = corpus_maker.make(tmp_path / "c", [*cases, *bad], config)
    (folder / "replays" / "broken.txt").write_text("0 00\nten 01\n")
    found = "\n".join(faults(folder))
    for expected in (
        "one: duplicate id",
        "a: unknown section 'sound'",
        "b: no ROM under roms/ has SHA-256 0000",
        "c: rom_sha256 must be 64 hexadecimal digits",
        "'../escape': an id is letters",
        "d: frames must be from 1",
        "e: frames must be a int, not 'many'",
        "f: unknown scoring_mode 'guess'",
        "g: the replay '../../etc/passwd' is outside replays/",
        "nothing.txt: No such file",
        "broken.txt, line 2: the frame must be a whole number, not 'ten'",
        "j: replay game.txt: 2 events past the end (frame 30; the testcase has 30 frames)",
        "k: procedural/dma has no weight",
        "l: section is missing",
        "testcase 17: not an object",
        "section_weights: they add up to 1.4, not 1",
        "weight of ppu must be a number of at least 0, not -0.5",
        "fuel_per_frame must be a whole number from 1",
        "unknown setting 'speed'",
    ):
        assert expected in found, expected


def test_a_weight_without_a_testcase(tmp_path):
    """NES Eval counts it as 0, so that nobody can score 1; here it is a fault unless told otherwise."""
    cases = [case for case in corpus_maker.entries() if case["id"] != "two"]
    folder = corpus_maker.make(tmp_path / "c", cases)
    assert faults(folder) == ["grader.yaml: procedural/ppu has weight 0.5 but no testcase, so nobody could score 1"]
    assert len(load_corpus(folder, allow_empty_weights=True).cases) == 2


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "line 1: not JSON"),
        ('{"testcases": [\n{"id": }]}', "line 2: not JSON"),
        ("[1, 2]", "expected"),
        ('{"testcases": {}}', "expected"),
        ('{"testcases": []}', "there are no testcases"),
        ("\udcff", "testcases.json"),
    ],
)
def test_broken_manifests(tmp_path, text, fault):
    folder = corpus_maker.make(tmp_path / "c")
    (folder / "testcases.json").write_text(text, errors="surrogateescape")
    assert any(fault in line for line in faults(folder))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: [", "grader.yaml, line"),
        ("- 1\n- 2", "expected settings"),
        ("section_weights: 3", "expected names with their weights"),
        ("subsystem_weights: 3", "subsystem_weights must list"),
        ("fuel_load_rom: true", "fuel_load_rom must be a whole number"),
        ("section_weights: {procedural: .nan, replay: 1}", "must be a number of at least 0"),
        ("!!python/object/apply:os.system ['true']", "not YAML"),
    ],
)
def test_broken_settings(tmp_path, text, fault):
    folder = corpus_maker.make(tmp_path / "c", config=text)
    assert any(fault in line for line in faults(folder, allow_empty_weights=True))


def test_missing_things(tmp_path):
    assert faults(tmp_path / "nowhere") == ["no such folder"]
    (tmp_path / "empty").mkdir()
    assert "testcases.json: No such file or directory" in faults(tmp_path / "empty")
    folder = corpus_maker.make(tmp_path / "c")
    (folder / "grader.yaml").unlink()
    assert "default weights" in load_corpus(folder, allow_empty_weights=True).notes[0]
    assert any("elsewhere.yaml: no such file" in line for line in faults(folder, config=tmp_path / "elsewhere.yaml"))
