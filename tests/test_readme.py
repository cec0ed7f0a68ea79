"""What README.md shows works: its Python, its commands and their options."""

import re

import pytest
from places import ROOT
from typer.testing import CliRunner

from pynes_ref.cli import app

README = (ROOT / "README.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_python_runs():
    source = "\n".join(blocks("python")).replace('"game.nes"', repr(str(ROOT / "test_roms" / "pinewood.nes")))
    names = {}
    exec(compile(source, "README.md", "exec"), names)
    assert names["frame"].shape == (240, 256)
    assert names["picture"].shape == (240, 256, 3)
    assert names["nes"].cycles > names["twin"].cycles  # one instruction later


def commands():
    for line in README.splitlines():
        if line.startswith("| `pynes-ref "):
            yield line.split("`")[1].removeprefix("pynes-ref ").split()[0]


@pytest.mark.parametrize("name", sorted(set(commands())))
def test_the_commands_exist(name):
    result = CliRunner().invoke(app, [name, "--help"])
    assert result.exit_code == 0
    for line in README.splitlines():
        if line.startswith(f"| `pynes-ref {name}"):
            for option in re.findall(r"--[a-z-]+", line):
                assert option in result.output, f"{name} has no {option}"


def test_every_command_is_in_the_readme():
    shown = set(commands())
    listed = {command.name or command.callback.__name__ for command in app.registered_commands}
    listed |= {group.name for group in app.registered_groups}
    assert listed - {"version"} <= shown


def test_the_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
