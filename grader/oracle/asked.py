"""What the server is asked and what it answers: the models behind its OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from grader.oracle.oneshot import FORMATS

Name = Annotated[str, Field(max_length=1024, description="a ROM in the server's folder", examples=["game.nes"])]
Image = Annotated[str, Field(max_length=12 * 1024 * 1024, description="the ROM itself, base64")]
Hex = Annotated[str, StringConstraints(pattern=r"^(0[xX])?[0-9a-fA-F]{1,2}$")]
Whole = Annotated[int, BeforeValidator(lambda v: int(v) if isinstance(v, float) and v.is_integer() else v)]
"""An integer as JSON has it: 3.0 is one, "3" and true are none."""
Keys = Annotated[Whole, Field(ge=0, le=255)] | Hex


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class Rom(_Body):
    """Exactly one of the two."""

    rom: Name | None = None
    rom_base64: Image | None = None


class Ask(Rom):
    """A run from power-on; or, with ``args``, a command line whose files are in ``files`` (see grader.oracle.argv)."""

    frames: Annotated[Whole, Field(ge=0, le=1_000_000_000)] = 60
    replay: Annotated[str, Field(max_length=8 * 1024 * 1024)] = ""
    start: Annotated[Whole, Field(ge=0, le=1_000_000_000, alias="from")] = 0
    dump: Literal["none", "final", "all"] = "none"
    image: Literal["ppm", "png", "none"] = "ppm"
    audio: bool = False
    args: Annotated[list[Annotated[str, Field(max_length=4096)]], Field(max_length=32)] | None = None
    files: Annotated[dict[str, Image], Field(max_length=8)] | None = None


class SetKeys(_Body):
    """Bits 0 to 7: A B Select Start Up Down Left Right; a number, or hexadecimal digits."""

    keys: Keys


class RunFrame(_Body):
    """``keys``: set them first."""

    count: Annotated[Whole, Field(ge=1, le=1_000_000_000)] = 1
    keys: Keys | None = None


class Error(BaseModel):
    """What is wrong, in one line."""

    error: str


class Health(BaseModel):
    """It answers."""

    ok: bool
    service: str


class Formats(BaseModel):
    """What pictures and sound look like."""

    abi_version: int
    width: int
    height: int
    framebuffer_bytes: int
    framebuffer_format: str
    framebuffer_rgba_bytes: int
    audio_format: str
    audio_rate: int
    key_bits: str


class Info(Formats):
    """Formats, limits, usage."""

    frames_used: int
    budget: int | None
    max_frames: int
    max_sessions: int
    sessions: int
    rom_bytes: int
    idle_seconds: float
    timeout_seconds: float


class Started(BaseModel):
    """A new session."""

    id: str
    rom: str
    info: Formats


class Done(BaseModel):
    """That was done."""

    ok: bool


class KeysSet(Done):
    """Keys hold from frame ``cur_frame`` on."""

    cur_frame: int


class Ran(KeysSet):
    """``cur_frame`` frames have been run in all."""

    framebuffer_bytes: int
    pending_audio_samples: int


class State(BaseModel):
    """A session's state."""

    id: str
    rom: str
    cur_frame: int
    events: int
    keys: int
    pending_audio_samples: int


class Summary(BaseModel):
    """A run's summary and, base64, the files asked for."""

    frames_executed: int
    from_frame: int
    frames_used_total: int
    audio_rate: int
    audio_samples: int
    last_frame_sha256: str
    files: dict[str, str] = {}


class Printed(BaseModel):
    """What a command line would have printed and written."""

    stdout: str
    stderr: str
    returncode: int
    duration_s: float
    files: dict[str, str] = {}


def keys_of(keys: int | str) -> int:
    """Keys as a number."""
    return keys if isinstance(keys, int) else int(keys, 16)


def formats() -> Formats:
    """The fixed part of every ``info``."""
    return Formats(**FORMATS)
