"""The import rules of ARCHITECTURE.md, checked on the syntax trees."""

import ast

import pytest
from places import ROOT

# Bottom to top; a module of the core may import only from rows above its own.
LAYERS = [
    ["state", "ops"],
    # jit.py reaches the two others only when something is compiled or loaded.
    ["jit", "jit_link", "jit_load"],
    ["mappers.banking"],
    ["mappers.boards", "mappers.m*"],
    ["mappers.dispatch"],
    ["ppu*", "apu*", "dmc", "audio*", "pads"],
    ["bus"],
    ["clock"],
    ["dma"],
    ["events"],
    ["alu"],
    ["cpu"],
    ["frame", "power"],
]

# Which modules may assign to which section of the record.
WRITERS = {
    "ppu": {"ppu*", "frame", "power"},
    "apu": {"apu*", "dmc", "frame", "power"},
    "audio": {"audio*", "apu*", "frame", "power"},
    "cart": {"mappers.*", "power"},
    "pads": {"pads", "power"},
}


def modules(package):
    for path in sorted((ROOT / package).rglob("*.py")):
        name = path.relative_to(ROOT / package).with_suffix("").as_posix().replace("/", ".")
        yield name, path, ast.parse(path.read_text())


def matches(name, patterns):
    return any(name.startswith(p[:-1]) if p.endswith("*") else name == p for p in patterns)


def layer_of(name):
    exact = [i for i, row in enumerate(LAYERS) if name in row]
    if exact:
        return exact[0]
    found = [i for i, row in enumerate(LAYERS) if matches(name, row)]
    assert found, f"core/{name} has no layer: add it to LAYERS and to ARCHITECTURE.md"
    return found[0]


def imported(tree, package):
    """Absolute names of the modules a tree imports (``package`` = where relative imports start)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            stem = ".".join(base + ([node.module] if node.module else []))
            yield stem
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def test_the_core_imports_downwards():
    core = {name for name, _, _ in modules("pynes_ref/core")}
    wrong = []
    for name, _, tree in modules("pynes_ref/core"):
        if name.endswith("__init__"):
            continue
        package = "pynes_ref.core" + ("." + name.rsplit(".", 1)[0] if "." in name else "")
        for target in imported(tree, package):
            short = target.removeprefix("pynes_ref.core.")
            if short in core and short != name and layer_of(short) > layer_of(name):
                wrong.append(f"{name} imports {short}")
    assert not wrong


def test_the_core_holds_only_numpy_and_numba():
    allowed = {"numpy", "numba", "llvmlite", "ctypes", "functools", "warnings", "math", "dataclasses"}
    for name, _, tree in modules("pynes_ref/core"):
        package = "pynes_ref.core" + ("." + name.rsplit(".", 1)[0] if "." in name else "")
        for target in imported(tree, package):
            top = target.split(".")[0]
            inside = target.startswith("pynes_ref.core") or target.startswith("pynes_ref.jitcache")
            if name == "power":
                inside = inside or target.startswith("pynes_ref.ines") or top in {"hashlib", "__future__", "typing"}
            assert inside or top in allowed, f"core/{name} imports {target}"


def test_the_console_knows_neither_abi_nor_grader():
    for name, _, tree in modules("pynes_ref"):
        for target in imported(tree, "pynes_ref" + ("." + name.rsplit(".", 1)[0] if "." in name else "")):
            assert target.split(".")[0] not in {"abi", "grader"}, f"pynes_ref/{name} imports {target}"


def test_the_grader_opens_emulators_by_name():
    for name, _, tree in modules("grader"):
        for target in imported(tree, "grader" + ("." + name.rsplit(".", 1)[0] if "." in name else "")):
            assert not target.startswith("pynes_ref.core"), f"grader/{name} imports {target}"
            assert not target.startswith("pynes_ref.console") or name == "explain", f"grader/{name} imports {target}"


@pytest.mark.parametrize("package", ["pynes_ref", "abi", "grader"])
def test_typer_stays_in_the_command_modules(package):
    for name, path, tree in modules(package):
        if path.name.endswith("cli.py"):
            continue
        for target in imported(tree, package):
            assert target.split(".")[0] != "typer", f"{package}/{name} imports typer"


def written_sections(tree):
    """Sections of ``nes`` that a module assigns to, through ``nes.x.y = `` or an alias ``x = nes.x``."""
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        alias = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = node.value
                if isinstance(value, ast.Attribute) and getattr(value.value, "id", None) == "nes":
                    alias[node.targets[0].id] = value.attr
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else (
                [node.target] if isinstance(node, ast.AugAssign) else [])
            for target in targets:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    while isinstance(part, ast.Subscript):
                        part = part.value
                    if not isinstance(part, ast.Attribute):
                        continue
                    owner = part.value
                    if isinstance(owner, ast.Name) and owner.id in alias:
                        yield alias[owner.id]
                    elif isinstance(owner, ast.Attribute) and getattr(owner.value, "id", None) == "nes":
                        yield owner.attr


def test_only_a_chips_own_modules_write_its_section():
    wrong = []
    for name, _, tree in modules("pynes_ref/core"):
        for section in written_sections(tree):
            if section in WRITERS and not matches(name, WRITERS[section]):
                wrong.append(f"{name} writes nes.{section}")
    assert not wrong
