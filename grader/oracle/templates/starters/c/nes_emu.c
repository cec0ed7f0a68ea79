/* Where an emulator begins: it keeps the ABI (spec/ABI.md), shows a blank screen and is silent. */
#include "nes_emu.h"

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#define EXPORT(name) __attribute__((visibility("default")))
#endif

static uint8_t rom[NES_ROM_BUFFER_SIZE];
static uint16_t picture[NES_WIDTH * NES_HEIGHT];
static int16_t sound[8192];
static uint32_t keys;
static int made;     /* samples that nobody has asked for yet */
static int calls;    /* of emu_run_frame since power-on */
static int64_t owed; /* parts of a sample left over from the frames before */

static int power_on(void)
{
    for (int i = 0; i < NES_WIDTH * NES_HEIGHT; i++)
        picture[i] = 0;
    keys = 0, made = 0, calls = 0, owed = 0;
    return 1;
}

EXPORT(emu_init) int emu_init(void) { return 1; }
EXPORT(emu_rom_buffer) uint8_t *emu_rom_buffer(void) { return rom; }

EXPORT(emu_load_rom) int emu_load_rom(int len)
{
    if (len < 16 || rom[0] != 'N' || rom[1] != 'E' || rom[2] != 'S' || rom[3] != 0x1A)
        return 0;
    return power_on();
}

EXPORT(emu_reset) int emu_reset(void) { return power_on(); }
EXPORT(emu_set_keys) void emu_set_keys(uint32_t held) { keys = held; }

EXPORT(emu_run_frame) void emu_run_frame(void)
{
    if (calls++ == 0)
        return; /* call 0 runs nothing */
    /* A frame is 29780.5 CPU cycles of 1/1789773 s; the first 17 samples are dropped. */
    owed += (int64_t)59561 * 22050;
    int count = (int)(owed / 1789773) - (calls == 2 ? 17 : 0);
    owed %= 1789773;
    while (count-- > 0 && made < 8192)
        sound[made++] = 0;
    (void)keys; /* the rest is yours */
}

EXPORT(emu_framebuffer) uint16_t *emu_framebuffer(void) { return picture; }
EXPORT(emu_audio_buffer) int16_t *emu_audio_buffer(void) { return sound; }
EXPORT(emu_audio_rate) int emu_audio_rate(void) { return NES_AUDIO_RATE; }

EXPORT(emu_audio_samples) int emu_audio_samples(void)
{
    int count = made;
    made = 0;
    return count;
}
