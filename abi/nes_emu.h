/* nes_emu.h - the ten-function ABI of an NES emulator. ABI.md is the whole definition.
 *
 * WebAssembly: a wasm32 module that exports these names and its "memory", and needs no imports.
 * Native: a shared library that exports these names with C linkage.
 * Everything is single-threaded; pointers stay the module's own.
 */
#ifndef NES_EMU_H
#define NES_EMU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NES_WIDTH 256
#define NES_HEIGHT 240
#define NES_AUDIO_RATE 44100
#define NES_ROM_BUFFER_SIZE (8u * 1024u * 1024u)

enum nes_key { /* controller 1, the order in which it shifts them out */
    NES_A = 1 << 0,
    NES_B = 1 << 1,
    NES_SELECT = 1 << 2,
    NES_START = 1 << 3,
    NES_UP = 1 << 4,
    NES_DOWN = 1 << 5,
    NES_LEFT = 1 << 6,
    NES_RIGHT = 1 << 7
};

/* Set up; called once, first. 1 = done, 0 = failed. */
int emu_init(void);

/* Where the caller writes the ROM image: NES_ROM_BUFFER_SIZE bytes or more, the same place for ever. */
uint8_t *emu_rom_buffer(void);

/* Take the first len bytes of that buffer as an iNES or NES 2.0 image and power on. 1 = done, 0 = refused. */
int emu_load_rom(int len);

/* Power off and on again: exactly the state after emu_load_rom (not the Reset button). 1 = done. */
int emu_reset(void);

/* Buttons held from now on until the next call; a pressed button is a 1. */
void emu_set_keys(uint32_t keys);

/* Run to the end of the frame. The first call after power-on runs nothing: see ABI.md, "Call 0". */
void emu_run_frame(void);

/* The last finished picture: 256 x 240, row by row, (emphasis << 6) | colour. Does not move after a load. */
uint16_t *emu_framebuffer(void);

/* The samples that emu_audio_samples has just counted: mono, signed 16 bit. */
int16_t *emu_audio_buffer(void);

/* How many samples there are since its previous call (it drains). */
int emu_audio_samples(void);

/* NES_AUDIO_RATE. */
int emu_audio_rate(void);

/* Optional. How many frames to run and throw away after loading; leave it out unless you wrap an emulator
 * that cannot help it. */
int emu_boot_frames(void);

#ifdef __cplusplus
}
#endif

#endif
