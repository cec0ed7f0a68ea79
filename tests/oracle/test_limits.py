"""Names, tokens, buckets and usage, without a server."""

from __future__ import annotations

import json
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.oracle import served
from grader.oracle.limits import Buckets, OverBudget, Tokens, Usage


def test_a_bucket_fills_again():
    now = [0.0]
    buckets = Buckets(rate=2.0, burst=3, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 0]
    assert buckets.take("a") == pytest.approx(0.5)
    assert buckets.take("b") == 0
    now[0] = 0.4
    assert buckets.take("a") == pytest.approx(0.1)
    now[0] = 0.6
    assert buckets.take("a") == 0
    now[0] = 1000.0
    assert [bool(buckets.take("a")) for _ in range(4)] == [False, False, False, True]


def test_tokens():
    tokens = Tokens(["one", "two"])
    assert tokens.name_of("Bearer one") not in (None, tokens.name_of("Bearer two"))
    assert tokens.name_of("bearer one") == tokens.name_of("Bearer  one ")
    for wrong in ("", "one", "Basic one", "Bearer", "Bearer on", "Bearer onetwo", "Bearer \xe9", "Bearer \udc80"):
        assert tokens.name_of(wrong) is None
    assert "one" not in str(vars(tokens))


def test_usage_is_kept(tmp_path):
    path = tmp_path / "usage.json"
    usage = Usage(path, budget=10)
    usage.reserve("a", 8)
    with pytest.raises(OverBudget, match="2 frames are left"):
        usage.reserve("a", 3)
    usage.add("a", -3)
    usage.add("b", 100)
    usage.save()
    assert path.stat().st_size == Usage.BLOCK
    assert (Usage(path).frames("a"), Usage(path).frames("b"), Usage(path).frames("c")) == (5, 100, 0)
    assert os.listdir(tmp_path) == ["usage.json"]
    path.write_text("{")
    with pytest.raises(OSError, match="not a usage file"):
        Usage(path)


def test_a_budget_holds_under_threads():
    usage = Usage(None, budget=1000)
    refused = []

    def take():
        for _ in range(100):
            try:
                usage.reserve("a", 3)
            except OverBudget:
                refused.append(1)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert usage.frames("a") == 999
    assert len(refused) == 800 - 333


@given(st.text(max_size=40) | st.lists(st.sampled_from(["..", ".", "a", "", "/", "\\", "C:", "\0"])).map("/".join))
def test_no_name_leads_outside(tmp_path_factory, name):
    base = tmp_path_factory.getbasetemp() / "served"
    (base / "inside" / "a").mkdir(parents=True, exist_ok=True)
    (base / "inside" / "a" / "a").write_bytes(b"in")
    (base / "a").write_bytes(b"out")
    try:
        data = served.read_rom(base / "inside", name, 100)
    except (served.BadName, served.NoSuchRom):
        return
    assert data == b"in"
    assert json.dumps(name) == '"a/a"'
