; Controller 1. A DMC sample fetch can clock the controller once too often (2A03, all NTSC revisions), so the pad
; is read until two readings agree: https://www.nesdev.org/wiki/Controller_reading_code
.include "nes.inc"
.export pad_read
.exportzp pad_held, pad_new
.zeropage
pad_held: .res 1
pad_new:  .res 1
pad_last: .res 1
pad_a:    .res 1
.code
; Out: pad_held = keys down now, pad_new = keys that were up at the call before. Clobbers A, Y.
pad_read:
        lda pad_held
        sta pad_last
        jsr strobe
@again: lda pad_held
        sta pad_a
        jsr strobe
        lda pad_held
        cmp pad_a
        bne @again
        eor pad_last
        and pad_held
        sta pad_new
        rts
strobe: lda #1
        sta JOY1
        sta pad_held            ; the 1 falls out of the top after eight shifts
        lsr a
        sta JOY1
@bit:   lda JOY1
        lsr a                   ; only D0 (the original NES pad)
        rol pad_held
        bcc @bit
        rts
