"""A small music language to the bytes of lib/sound.s.

    song NAME tempo=6            one song; tempo = video frames a sixteenth note
    A ... B ... C ... D ...      pulse 1, pulse 2, triangle, drums; a track may go on over several lines
    o4 > <   octave              l8      default length       c d+ e- f8. r4   notes and rests; c4&c8 = tie
    @2       instrument          %1      arpeggio (0 = none)  [ ... ]3         repeat     L   loop from here
Drums: k kick, s snare, h hat, o open hat, t tom, r rest. Without L a track ends and stays silent.
"""
import re

STEPS = {"c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11}
DRUMS = {"k": 0, "s": 1, "h": 2, "o": 3, "t": 4}
REST, TIE, INST, JUMP, ARP, STOP = 0x60, 0x61, 0xF0, 0xF1, 0xF2, 0xF3
LOWEST = 33         # MIDI A1, note 0 of the period table
TOKEN = re.compile(r"\s*(?:(o|l|@|%)(\d+)(\.?)|([<>L])|\[|\](\d+)|([a-gr])([+-]?)(\d*)(\.?)|(&)|(\|))")
DRUM_TOKEN = re.compile(r"\s*(?:(l)(\d+)(\.?)|(L)|\[|\](\d+)|([kshotr])(\d*)(\.?)|(\|))")


def expand(text):
    """Unroll [ ... ]n, innermost first."""
    inner = re.compile(r"\[([^\[\]]*)\](\d+)")
    while inner.search(text):
        text = inner.sub(lambda m: (m.group(1) + " ") * int(m.group(2)), text)
    return text


class Track:
    def __init__(self, tempo, label):
        self.tempo, self.label = tempo, label
        self.out, self.length, self.total = [], None, 0
        self.looped = False

    def ticks(self, number, dotted, default):
        whole = self.tempo * 16
        t = whole // int(number) if number else default
        return t * 3 // 2 if dotted else t

    def play(self, code, ticks):
        """`code` for `ticks` frames: the length is only written when it changes."""
        self.total += ticks
        while ticks > 0:
            part = min(ticks, 0x6F)
            if part != self.length:
                self.out.append(f"${0x80 | part:02X}")
                self.length = part
            self.out.append(f"${code:02X}")
            ticks -= part
            code = TIE if code != REST else REST

    def loop_here(self):
        self.out.append("@L")
        self.length, self.looped = None, True

    def finish(self):
        lines, row = [f"{self.label}:"], []
        for item in self.out:
            if item == "@L":
                if row:
                    lines.append("        .byte " + ",".join(row))
                row = []
                lines.append(f"{self.label}_loop:")
            else:
                row.append(item)
                if len(row) == 20:
                    lines.append("        .byte " + ",".join(row))
                    row = []
        if row:
            lines.append("        .byte " + ",".join(row))
        if self.looped:
            lines.append(f"        .byte ${JUMP:02X}\n        .addr {self.label}_loop")
        else:
            lines.append(f"        .byte ${STOP:02X}")
        return "\n".join(lines) + "\n"


def melody(track, text, shift):
    octave, default, pos, tie = 4, track.tempo * 4, 0, False
    text = expand(text)
    while text[pos:].strip():
        m = TOKEN.match(text, pos)
        if not m:
            raise ValueError(f"{track.label}: cannot read {text[pos:pos + 20]!r}")
        pos = m.end()
        kind, num, dot, mark, _, note, sharp, length, ndot, amp, _ = m.groups()
        if kind == "o":
            octave = int(num)
        elif kind == "l":
            default = track.ticks(num, dot, 0)
        elif kind == "@":
            track.out += [f"${INST:02X}", f"${int(num):02X}"]
        elif kind == "%":
            track.out += [f"${ARP:02X}", f"${int(num):02X}"]
        elif mark == ">":
            octave += 1
        elif mark == "<":
            octave -= 1
        elif mark == "L":
            track.loop_here()
        elif amp:
            tie = True
        elif note:
            ticks = track.ticks(length, ndot, default)
            if note == "r":
                code = REST
            else:
                code = 12 * (octave + 1) + STEPS[note] + {"+": 1, "-": -1, "": 0}[sharp] - LOWEST + shift
                if not 0 <= code < REST:
                    raise ValueError(f"{track.label}: note out of range: {note}{octave}")
            track.play(TIE if tie else code, ticks)
            tie = False


def drums(track, text):
    default, pos = track.tempo * 4, 0
    text = expand(text)
    while text[pos:].strip():
        m = DRUM_TOKEN.match(text, pos)
        if not m:
            raise ValueError(f"{track.label}: cannot read {text[pos:pos + 20]!r}")
        pos = m.end()
        kind, num, dot, mark, _, hit, length, hdot, _ = m.groups()
        if kind:
            default = track.ticks(num, dot, 0)
        elif mark:
            track.loop_here()
        elif hit:
            track.play(REST if hit == "r" else DRUMS[hit], track.ticks(length, hdot, default))


def compile_songs(text):
    """-> assembler source: note periods, song table, tracks."""
    songs = []
    for line in text.splitlines():
        line = line.split(";")[0].strip()
        if not line:
            continue
        if line.startswith("song "):
            words = line.split()
            songs.append((words[1], int(dict(w.split("=") for w in words[2:]).get("tempo", 6)), {}))
        else:
            key, body = line[0], line[1:]
            songs[-1][2][key] = songs[-1][2].get(key, "") + " " + body
    periods = [round(1789773 / (16 * 440 * 2 ** ((n + LOWEST - 69) / 12))) - 1 for n in range(REST)]
    src = '.segment "MUSIC"\n.export period_lo, period_hi, song_table\n'
    for name, part in (("lo", 0), ("hi", 8)):
        src += f"period_{name}:\n"
        vals = [(p >> part) & 255 for p in periods]
        for i in range(0, len(vals), 12):
            src += "        .byte " + ",".join(f"${v:02X}" for v in vals[i:i + 12]) + "\n"
    src += "song_table:\n"
    body = ""
    for i, (name, tempo, tracks) in enumerate(songs):
        src += f"        .addr {', '.join(f'song_{name}_{k}' for k in 'ABCD')}\n"
        src += f".export SONG_{name.upper()} = {i}\n"
        lengths = {}
        for k in "ABCD":
            t = Track(tempo, f"song_{name}_{k}")
            if k == "D":
                drums(t, tracks.get(k, ""))
            else:
                melody(t, tracks.get(k, ""), 12 if k == "C" else 0)     # a triangle sounds an octave lower
            lengths[k] = t.total
            body += t.finish()
        if len({v for v in lengths.values() if v}) > 1:
            raise ValueError(f"song {name}: tracks differ in length: {lengths}")
    return src + body
