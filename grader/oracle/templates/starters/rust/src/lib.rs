//! Where an emulator begins: it keeps the ABI (spec/ABI.md), shows a blank screen and is silent.

use std::ptr::{addr_of, addr_of_mut};

const ROM_BYTES: usize = 8 * 1024 * 1024;
const AUDIO_RATE: i32 = 44_100;

struct Console {
    picture: [u16; 256 * 240],
    sound: [i16; 8192],
    keys: u32,
    made: usize, // samples that nobody has asked for yet
    calls: u64,  // of emu_run_frame since power-on
    owed: u64,   // parts of a sample left over from the frames before
}

impl Console {
    const fn new() -> Self {
        Console { picture: [0; 256 * 240], sound: [0; 8192], keys: 0, made: 0, calls: 0, owed: 0 }
    }

    fn run_frame(&mut self) {
        self.calls += 1;
        if self.calls == 1 {
            return; // call 0 runs nothing
        }
        // A frame is 29780.5 CPU cycles of 1/1789773 s; the first 17 samples are dropped.
        self.owed += 59_561 * 22_050;
        let count = (self.owed / 1_789_773) as usize - if self.calls == 2 { 17 } else { 0 };
        self.owed %= 1_789_773;
        let end = (self.made + count).min(self.sound.len());
        self.sound[self.made..end].fill(0);
        self.made = end;
        // The rest is yours.
    }
}

static mut ROM: [u8; ROM_BYTES] = [0; ROM_BYTES];
static mut CONSOLE: Console = Console::new();

/// The ABI is single-threaded, and no reference outlives the call that made it.
fn console() -> &'static mut Console {
    unsafe { &mut *addr_of_mut!(CONSOLE) }
}

#[no_mangle]
pub extern "C" fn emu_init() -> i32 {
    1
}

#[no_mangle]
pub extern "C" fn emu_rom_buffer() -> *mut u8 {
    addr_of_mut!(ROM).cast()
}

#[no_mangle]
pub extern "C" fn emu_load_rom(len: i32) -> i32 {
    let rom: &[u8; ROM_BYTES] = unsafe { &*addr_of!(ROM) };
    if len < 16 || rom[..4] != *b"NES\x1a" {
        return 0;
    }
    emu_reset()
}

#[no_mangle]
pub extern "C" fn emu_reset() -> i32 {
    *console() = Console::new();
    1
}

#[no_mangle]
pub extern "C" fn emu_set_keys(keys: u32) {
    console().keys = keys;
}

#[no_mangle]
pub extern "C" fn emu_run_frame() {
    console().run_frame();
}

#[no_mangle]
pub extern "C" fn emu_framebuffer() -> *mut u16 {
    console().picture.as_mut_ptr()
}

#[no_mangle]
pub extern "C" fn emu_audio_buffer() -> *mut i16 {
    console().sound.as_mut_ptr()
}

#[no_mangle]
pub extern "C" fn emu_audio_samples() -> i32 {
    std::mem::take(&mut console().made) as i32
}

#[no_mangle]
pub extern "C" fn emu_audio_rate() -> i32 {
    AUDIO_RATE
}
