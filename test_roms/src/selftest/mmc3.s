; Self-checking ROM: MMC3 with 128 KiB PRG, 32 KiB CHR ROM and 8 KiB RAM. nesdev.org/wiki: "MMC3". The interrupt counter is
; clocked by hand, by moving the PPU's address from $0000 to $1000 (A12 rises), and once by rendering. Nothing here depends
; on the chip's revision (which differ in what a latch of 0 does).
.include "nes.inc"
.include "shell.inc"

.segment "HEADER"
        NES20_HEADER 8, 4, 4, 0, 0, 7, 0, 0

.macro REG n, value
        lda #n
        sta $8000
        lda #value
        sta $8001
.endmacro

.code
board_init:
board_done:
        sta $E000
        lda #$80
        sta $A001
        REG 6, 0
        REG 7, 1
        REG 0, 28               ; the face in pattern table 0
        REG 1, 30
        rts

.rodata
mark:   .byte $D9
title_text: .byte "SELF TEST: MMC3", 0
tests:  .addr n_prg, t_prg, n_mode, t_mode, n_chr, t_chr, n_inv, t_inv, n_mirror, t_mirror, n_ram, t_ram
        .addr n_count, t_count, n_again, t_again, n_off, t_off, n_reload, t_reload, n_line, t_line
        .addr 0
n_prg:  .byte "PRG BANKS", 0
n_mode: .byte "PRG SWAPPED", 0
n_chr:  .byte "CHR BANKS", 0
n_inv:  .byte "CHR INVERTED", 0
n_mirror: .byte "MIRRORING", 0
n_ram:  .byte "RAM PROTECT", 0
n_count:.byte "IRQ COUNTER", 0
n_again:.byte "IRQ REPEATS", 0
n_off:  .byte "IRQ DISABLE", 0
n_reload: .byte "IRQ RELOAD", 0
n_line: .byte "IRQ SCANLINE", 0

.code
t_prg:  ldx #13
@next:  lda #6
        sta $8000
        stx $8001
        txa
        ora #$A0
        cmp $8000
        bne @bad
        cmp $9FFF
        bne @bad
        lda #7
        sta $8000
        stx $8001
        txa
        ora #$A0
        cmp $A000
        bne @bad
        cmp $BFFF
        bne @bad
        dex
        bpl @next
        lda $C000               ; the last but one is fixed
        EXPECT $AE, 15
        lda mark
        EXPECT $D9, 16
        REG 6, $4F              ; six bits; beyond the ROM's size the high ones do not count
        lda mark - $6000
        EXPECT $D9, 17
        PASS
@bad:   inx
        txa
        rts
; Bit 6 of $8000: $8000 and $C000 change places.
t_mode: REG 6, 4
        REG 7, 5
        lda #$46
        sta $8000
        lda $8000
        sta t0
        lda $A000
        sta t1
        lda $C000
        sta t2
        lda #$06
        sta $8000
        lda t0
        EXPECT $AE, 1
        lda t1
        EXPECT $A5, 2
        lda t2
        EXPECT $A4, 3
        lda $8000
        EXPECT $A4, 4
        lda $C000
        EXPECT $AE, 5
        PASS
.macro CHR_MARKS
        REG 0, 5                ; 2 KiB: pages 4 and 5, the lowest bit does not count
        REG 1, 8
        REG 2, 11
        REG 3, 13
        REG 4, 17
        REG 5, 23
.endmacro
; The byte at the end of every 1 KiB, from the page numbers in `where`
look:   ldx #0
@next:  bit PPUSTATUS
        txa
        asl a
        asl a
        ora #3
        sta PPUADDR
        lda #$F0
        sta PPUADDR
        lda PPUDATA
        lda PPUDATA
        sta t0,x
        inx
        cpx #6
        bne @next
        lda #$1B
        bit PPUSTATUS
        sta PPUADDR
        lda #$F0
        sta PPUADDR
        lda PPUDATA
        lda PPUDATA
        sta t6
        VREAD $1FF0
        sta t7
        ldx #7
@same:  lda t0,x
        cmp (ptr),y
        bne @bad
        dey
        dex
        bpl @same
        lda #0
        rts
@bad:   inx
        txa
        rts
.rodata
straight: .byte $44, $45, $48, $49, $4B, $4D, $51, $57
turned: .byte $4B, $4D, $51, $57, $44, $45, $48, $49
.code
.macro LOOK table
        lda #<table
        sta ptr
        lda #>table
        sta ptr+1
        ldy #7
        jsr look
.endmacro
t_chr:  CHR_MARKS
        LOOK straight
        rts
t_inv:  CHR_MARKS
        lda #$80
        sta $8000
        LOOK turned
        ldx #0
        stx $8000
        rts
t_mirror:
        lda #0
        sta $A000
        VWRITE $2040, $60
        VWRITE $2440, $64
        VREAD $2840
        EXPECT $60, 1
        VREAD $2C40
        EXPECT $64, 2
        lda #1
        sta $A000
        VREAD $2440
        EXPECT $60, 3
        VREAD $2840
        EXPECT $64, 4
        PASS
; $A001 bit 6 forbids writes.
t_ram:  lda #$5A
        sta $7000
        lda #$C0
        sta $A001
        lda #$A5
        sta $7000
        lda $7000
        ldx #$80
        stx $A001
        EXPECT $5A, 1
        lda #$A5
        sta $7000
        lda $7000
        EXPECT $A5, 2
        PASS

; A rises of A12
rises:  tax
@next:  lda #0
        sta PPUADDR
        sta PPUADDR
        nop
        nop
        nop
        lda #$10
        sta PPUADDR
        lda #0
        sta PPUADDR
        dex
        bne @next
        sta PPUADDR             ; and low again
        sta PPUADDR
        rts
count:  inc t0
        sta $E000
        sta $E001
        rti
.macro IRQ_START latch
        IRQ_TO count
        bit PPUSTATUS
        lda #1
        jsr rises
        lda #0
        sta t0
        sta $E000
        lda #latch
        sta $C000
        sta $C001
        sta $E001
        cli
.endmacro
.macro RISES n, irqs, check
        lda #n
        jsr rises
        lda t0
        EXPECT irqs, check
.endmacro

; The first clock loads 3, then 2, 1, 0: the interrupt comes with the fourth.
t_count:IRQ_START 3
        RISES 3, 0, 1
        RISES 1, 1, 2
        PASS
; At 0 the next clock loads again.
t_again:IRQ_START 3
        RISES 4, 1, 1
        RISES 3, 1, 2
        RISES 1, 2, 3
        RISES 8, 4, 4
        lda #1                  ; a new latch counts from the next load on
        sta $C000
        RISES 2, 5, 5
        RISES 2, 6, 6
        PASS
; Disabled it counts on, silent; $E000 also takes back one that is waiting.
t_off:  IRQ_START 3
        sta $E000
        RISES 4, 0, 1
        sta $E001
        RISES 3, 0, 2
        RISES 1, 1, 3
        sei
        RISES 4, 1, 4
        sta $E000
        cli
        nop
        nop
        lda t0
        EXPECT 1, 5
        PASS
; $C001 makes the next clock a load, whatever the counter.
t_reload:
        IRQ_START 3
        RISES 2, 0, 1
        sta $C001
        RISES 3, 0, 2
        RISES 1, 1, 3
        PASS
; Background at $0000, sprites at $1000: one clock a line. A latch of 99, loaded on the pre-render line, strikes on line
; 98. The time from there to the next VBL (line 241) is 142.3 lines of 113.67 cycles: loops of 15 cycles, 7 more every 256.
t_line: REG 0, 28
        IRQ_TO @strike
        jsr wait_vbl
        lda #0
        sta t0
        sta t1
        sta t2
        lda #0
        sta PPUSCROLL
        sta PPUSCROLL
        lda #$08
        sta PPUCTRL
        lda #$0A
        sta PPUMASK
        jsr wait_vbl
        sta $E000
        lda #99
        sta $C000
        sta $C001
        sta $E001
        cli
@wait:  lda t2
        beq @wait
@loop:  inc t0
        bne :+
        inc t1
:       bit PPUSTATUS
        bpl @loop
        lda #0
        sta PPUMASK
        sta PPUCTRL
        lda t1                  ; 16180 / 15.03 = 1076 = $434
        EXPECT $04, 1
        lda t0
        cmp #$2B
        EXPECT_IF bcs, 2
        cmp #$3A
        EXPECT_IF bcc, 3
        PASS
@strike:inc t2
        sta $E000
        rti
