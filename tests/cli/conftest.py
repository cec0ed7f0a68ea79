"""Fixture: the command in this process."""

import sys

import pytest
from commands import Result

from pynes_ref import cli


@pytest.fixture
def run(monkeypatch, capfd):
    """``run("info", path)`` runs the command in this process."""

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["pynes-ref", *map(str, arguments)])
        capfd.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        return Result(code, *capfd.readouterr())

    return command
