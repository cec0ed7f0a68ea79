"""ROM headers: what is read, what is refused and in which words."""

import hashlib
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pynes_ref import ines
from pynes_ref.core.power import make_console
from pynes_ref.ines import KIB, MAX_FILE, RomError, inspect_rom, load_rom


def rom(mapper=0, prg=2, chr_=1, flags6=0, body=None, **bytes_at):
    """An iNES file; ``bN=value`` sets header byte N."""
    header = bytearray(16)
    header[:4] = b"NES\x1a"
    header[4], header[5] = prg, chr_
    header[6] = (mapper & 15) << 4 | flags6
    header[7] = mapper & 0xF0
    for key, value in bytes_at.items():
        header[int(key[1:])] = value
    if body is None:
        body = bytes((512 if flags6 & 4 else 0) + prg * 16 * KIB + chr_ * 8 * KIB)
    return bytes(header) + body


def nes2(mapper=0, submapper=0, prg=2, chr_=1, flags6=0, body=None, **bytes_at):
    data = bytearray(rom(mapper, prg, chr_, flags6, body, b8=submapper << 4 | mapper >> 8))
    data[7] |= 8
    for key, value in bytes_at.items():
        data[int(key[1:])] = value
    return bytes(data)


def refusal(data):
    with pytest.raises(RomError) as caught:
        load_rom(data)
    text = str(caught.value)
    assert text
    assert "\n" not in text
    assert len(text) < 250
    return text


def test_ines_fields():
    data = rom(mapper=4, prg=8, chr_=16, flags6=2 | 1)
    cart = load_rom(data)
    assert (cart.mapper, cart.submapper, cart.format, cart.region) == (4, 0, "iNES", "NTSC")
    assert (cart.prg_size, cart.chr_size, cart.prg_ram_size, cart.chr_ram_size) == (128 * KIB, 128 * KIB, 8 * KIB, 0)
    assert cart.battery
    assert cart.battery_range == (0, 8 * KIB)
    assert cart.mirroring == "mapper-controlled"
    assert cart.header_mirroring == 1
    assert cart.sha256 == hashlib.sha256(data).hexdigest()
    assert cart.size == len(data)


def test_memory_is_a_view_of_the_right_bytes():
    body = bytes([1]) * 512 + bytes([2]) * 16 * KIB + bytes([3]) * 8 * KIB
    cart = load_rom(rom(prg=1, chr_=1, flags6=4, body=body))
    assert set(cart.trainer) == {1}
    assert set(cart.prg) == {2}
    assert set(cart.chr) == {3}
    _, nes = make_console(cart)
    assert set(nes["prg_ram"][0x1000:0x1200]) == {1}
    assert not nes["prg_ram"][0x1200:].any()


def test_nes2_fields():
    cart = load_rom(nes2(mapper=1, prg=16, chr_=0, flags6=2, b10=0x77, b11=0x07, b12=2))
    assert (cart.format, cart.region) == ("NES 2.0", "multi-region")
    assert (cart.prg_ram_size, cart.prg_nvram_size, cart.chr_ram_size) == (16 * KIB, 8 * KIB, 8 * KIB)
    assert cart.battery_range == (8 * KIB, 8 * KIB)


def test_nes2_exponent_sizes():
    cart = load_rom(nes2(b4=13 << 2, b9=0x0F, body=bytes(16 * KIB)))
    assert cart.prg_size == 8 * KIB
    assert cart.chr_size == 8 * KIB
    cart = load_rom(nes2(mapper=2, b4=14 << 2 | 1, b5=0, b9=0x0F, b11=7, body=bytes(48 * KIB)))
    assert cart.prg_size == 48 * KIB


def test_mmc1_and_mmc3_have_ram_whatever_the_header_says():
    for mapper in (1, 4):
        assert load_rom(nes2(mapper=mapper)).prg_ram_size == 8 * KIB
        assert load_rom(nes2(mapper=mapper, b10=0x09)).prg_ram_size == 32 * KIB
    for mapper in (2, 3, 7):
        assert load_rom(nes2(mapper=mapper)).prg_ram_size == 0
    assert load_rom(nes2(mapper=0, b10=5)).prg_ram_size == 2 * KIB
    assert load_rom(nes2(mapper=4, submapper=1, b10=0x40, flags6=2)).battery_range == (0, KIB)


def test_dirty_headers():
    data = rom(mapper=1)[:7] + b"DiskDude!" + rom()[16:]
    cart = load_rom(data)
    assert (cart.mapper, cart.format) == (1, "archaic iNES")
    assert "ignored" in cart.notes[0]
    # A signature whose second letter looks like the NES 2.0 mark.
    data = rom(mapper=1)[:7] + b"hello you" + rom()[16:]
    assert load_rom(data).format == "archaic iNES"


@pytest.mark.parametrize(("flags6", "mirroring"), [(0, "horizontal"), (1, "vertical"), (8, "four-screen")])
def test_mirroring(flags6, mirroring):
    assert load_rom(rom(flags6=flags6)).mirroring == mirroring


def test_regions_are_notes():
    for region, name in ((1, "PAL"), (3, "Dendy")):
        cart = load_rom(nes2(b12=region))
        assert cart.region == name
        assert "NTSC timing" in cart.notes[0]


def test_trailing_bytes_are_a_note():
    assert "128 bytes" in load_rom(rom() + bytes(128)).notes[0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"NES", "13 bytes short"),
        (b"NES\x1a\x02", "11 bytes short"),
        (b"GIF89a" + bytes(100), "not an iNES file"),
        (b"PK\x03\x04" + bytes(100), "zip"),
        (rom()[:-1], "truncated: 1 bytes short"),
        (rom()[:16], "truncated: 40960 bytes short"),
        (rom(prg=0), "0 bytes of PRG"),
        (rom(mapper=5), "mapper 5 is not supported (supported: 0 (NROM), 1 (MMC1)"),
        (nes2(mapper=0x123), "mapper 291 is not supported"),
        (nes2(mapper=1, submapper=7), "submapper 7 of mapper 1 (MMC1)"),
        (rom(b7=1), "Vs. System"),
        (rom(b7=2), "PlayChoice-10"),
        (nes2(b7=8 | 3, b13=10), "extended console type 10"),
        (nes2(b4=63 << 2 | 3, b9=0x0F), "2^63 x 7 bytes of PRG ROM"),
        (nes2(b5=0xFF, b9=0xF0), "2^63 x 7 bytes of CHR ROM"),
        (nes2(b4=0xFF, b5=0xFF, b9=0xEE), "limit 64 MiB in all"),
        (nes2(b4=0, b5=0, b9=0x0F), "no multiple of 8 KiB"),
        (nes2(mapper=1, b10=0x99), "64 KiB of PRG RAM"),
        (nes2(mapper=1, b10=0x87), "chips of different sizes"),
        (nes2(chr_=0, b11=0x0A), "64 KiB of CHR RAM"),
        (rom(prg=4), "64 KiB of PRG ROM: NROM reaches at most 32 KiB"),
        (nes2(mapper=2, flags6=4), "trainer needs PRG RAM"),
    ],
)
def test_refusals(data, words):
    assert words in refusal(data)


def test_inspect_describes_what_load_refuses():
    cart = inspect_rom(rom(mapper=5, flags6=2))
    assert cart.mapper == 5
    assert cart.unsupported
    assert cart.board == ""
    with pytest.raises(ValueError, match="mapper 5"):
        make_console(cart)


def test_files(tmp_path):
    path = tmp_path / "a.nes"
    path.write_bytes(rom())
    assert load_rom(path) == load_rom(str(path)) == load_rom(rom())
    assert "No such file" in refusal(tmp_path / "none.nes")
    assert "not a regular file" in refusal(tmp_path)
    assert "cannot read" in refusal("a\0b")
    with (tmp_path / "big.nes").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    assert "limit 64 MiB" in refusal(tmp_path / "big.nes")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.nes")
        assert "not a regular file" in refusal(tmp_path / "pipe.nes")


def check(data):
    """Any bytes: a console or one line of refusal."""
    try:
        cart = inspect_rom(data)
    except RomError:
        refusal(data)
        return
    if cart.unsupported:
        assert refusal(data) == cart.unsupported[0]
        return
    mem, nes = make_console(cart)
    pages = nes["cart"]["cpu_page"]
    for window, page in enumerate(pages):
        if page >= 0 or window >= 16:
            assert 0 <= page + window * 2048 <= len(mem) - 2048
    for window, page in enumerate(nes["cart"]["ppu_page"]):
        assert 0 <= page + window * 1024 <= len(mem) - 1024


@settings(max_examples=1500, deadline=None)
@given(st.binary(min_size=12, max_size=12), st.integers(0, 5), st.integers(0, 3))
def test_fuzz_header(fields, size, keep):
    # ``keep`` leaves the sizes small so that deeper checks are reached too.
    fields = bytearray(fields)
    if keep:
        fields[0] %= 5
        fields[1] %= 3
        fields[5] = fields[5] % 16 if keep == 1 else 0
    check(b"NES\x1a" + bytes(fields) + bytes(size * 16 * KIB))


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=64))
def test_fuzz_bytes(data):
    check(data)


def test_a_chosen_submapper_takes_the_place_of_the_headers():
    plain = rom(mapper=4, prg=2, chr_=1)
    assert load_rom(plain).submapper == 0
    for data in (plain, nes2(mapper=4, submapper=0), nes2(mapper=4, submapper=3)):
        cart = load_rom(data, submapper=1)
        assert (cart.submapper, cart.board, cart.prg_ram_size) == (1, "HKROM (MMC6)", KIB)
        assert cart.sha256 == hashlib.sha256(data).hexdigest()
    assert load_rom(nes2(mapper=4, submapper=4), submapper=0).board == load_rom(plain).board


@pytest.mark.parametrize(("chosen", "words"), [(9, "choose one of these"), (16, "0 to 15"), (-1, "0 to 15")])
def test_a_chosen_submapper_that_is_none(chosen, words):
    with pytest.raises(RomError, match=words):
        load_rom(rom(mapper=4), submapper=chosen)


def test_a_mapper_without_a_name_of_its_own_is_called_like_its_first_board(monkeypatch):
    monkeypatch.delitem(ines.MAPPER_NAMES, 7)
    assert "7 (AxROM)" in refusal(rom(mapper=5))
    assert "mapper 7 (AxROM)" in refusal(nes2(mapper=7, submapper=9))
    assert load_rom(rom(mapper=7)).board == "AxROM"
    assert inspect_rom(rom(mapper=5)).board == ""
