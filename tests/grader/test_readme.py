"""What grader/README.md shows is what its commands print."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from places import ROOT

README = (ROOT / "grader" / "README.md").read_text("utf-8")
EXAMPLES = re.findall(r"```\n\$ grader (.*?)\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("readme")


def test_every_option_beside_the_score_has_an_example():
    assert {"--strict", "--also", "--hints"} <= {word for arguments, _ in EXAMPLES for word in arguments.split()}


@pytest.mark.parametrize(("arguments", "printed"), EXAMPLES)
def test_the_examples(arguments, printed, place):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "grader.cli", *arguments.split(), "--cache", "cache"]
    done = subprocess.run(
        command, env=environment, cwd=place, text=True, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "".join(line.rstrip() + "\n" for line in done.stdout.splitlines()) == printed
