//! Where an emulator begins: it keeps the ABI (spec/ABI.md), shows a blank screen and is silent.

const rate = 44100;
const pixels = 256 * 240;

var rom: [8 * 1024 * 1024]u8 = undefined;
var console: Console = .{};

const Console = struct {
    picture: [pixels]u16 = @splat(0),
    sound: [8192]i16 = @splat(0),
    keys: u32 = 0,
    /// Samples that nobody has asked for yet.
    made: usize = 0,
    /// Calls of emu_run_frame since power-on.
    calls: usize = 0,
    /// Parts of a sample left over from the frames before.
    owed: usize = 0,

    fn runFrame(self: *Console) void {
        self.calls += 1;
        if (self.calls == 1) return; // call 0 runs nothing
        // A frame is 29780.5 CPU cycles of 1/1789773 s; the first 17 samples are dropped.
        self.owed += 59561 * 22050;
        const dropped: usize = if (self.calls == 2) 17 else 0;
        const count = self.owed / 1789773 - dropped;
        self.owed %= 1789773;
        const end = @min(self.made + count, self.sound.len);
        @memset(self.sound[self.made..end], 0);
        self.made = end;
        // The rest is yours.
    }
};

export fn emu_init() i32 {
    return 1;
}

export fn emu_rom_buffer() [*]u8 {
    return &rom;
}

export fn emu_load_rom(len: i32) i32 {
    if (len < 16 or rom[0] != 'N' or rom[1] != 'E' or rom[2] != 'S' or rom[3] != 0x1A) return 0;
    return emu_reset();
}

export fn emu_reset() i32 {
    console = .{};
    return 1;
}

export fn emu_set_keys(keys: u32) void {
    console.keys = keys;
}

export fn emu_run_frame() void {
    console.runFrame();
}

export fn emu_framebuffer() [*]u16 {
    return &console.picture;
}

export fn emu_audio_buffer() [*]i16 {
    return &console.sound;
}

export fn emu_audio_samples() i32 {
    defer console.made = 0;
    return @intCast(console.made);
}

export fn emu_audio_rate() i32 {
    return rate;
}
