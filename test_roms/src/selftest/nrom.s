; Self-checking ROM: NROM-128 with 8 KiB of RAM. nesdev.org/wiki: "NROM", "Mirroring", "Open bus behavior".
.include "nes.inc"
.include "shell.inc"

.segment "HEADER"
        NES20_HEADER 1, 1, 0, 0, 0, 7, 0, 0

.code
board_init:
board_done:
        rts

.rodata
title_text: .byte "SELF TEST: NROM", 0
tests:  .addr n_prg, t_prg, n_rom, t_rom, n_chr, t_chr, n_mirror, t_mirror, n_ram, t_ram, n_bus, t_bus
        .addr 0
n_prg:  .byte "PRG TWICE", 0
n_rom:  .byte "PRG READ-ONLY", 0
n_chr:  .byte "CHR READ-ONLY", 0
n_mirror: .byte "HORIZONTAL", 0
n_ram:  .byte "RAM AT 6000", 0
n_bus:  .byte "OPEN BUS", 0
mark:   .byte $3C

.code
; 16 KiB fill both halves of $8000-$FFFF.
t_prg:  lda mark
        EXPECT $3C, 1
        lda mark - $4000
        EXPECT $3C, 2
        lda $BFFC
        cmp $FFFC
        EXPECT_IF beq, 3
        lda $BFFD
        cmp $FFFD
        EXPECT_IF beq, 4
        PASS
t_rom:  lda #$C3
        sta mark
        sta mark - $4000
        lda mark
        EXPECT $3C, 1
        PASS
t_chr:  VWRITE $1FF0, $12
        VREAD $1FF0
        EXPECT $C5, 1
        VREAD $0010
        EXPECT $FF, 2
        PASS
; Header bit 0 clear: $2000 = $2400, $2800 = $2C00.
t_mirror:
        VWRITE $2155, $51
        VWRITE $2955, $59
        VREAD $2555
        EXPECT $51, 1
        VREAD $2D55
        EXPECT $59, 2
        VREAD $2155
        EXPECT $51, 3
        PASS
; Every byte from $6400 on, each with its own address in it.
t_ram:  jsr @start
@fill:  tya
        eor t1
        sta (t0),y
        iny
        bne @fill
        inc t1
        bpl @fill
        jsr @start
@look:  tya
        eor t1
        cmp (t0),y
        beq :+
        lda #1
        rts
:       iny
        bne @look
        inc t1
        bpl @look
        PASS
@start: lda #$64
        sta t1
        lda #0
        sta t0
        tay
        rts
; Nothing answers at $5000: the last byte on the bus, the operand's high byte, is read.
t_bus:  lda $5123
        EXPECT $51, 1
        ldx #0
        lda $5A00,x
        EXPECT $5A, 2
        lda #$50                ; through a pointer: the pointer's high byte comes last
        sta t1
        lda #$00
        sta t0
        tay
        lda (t0),y
        EXPECT $50, 3
        PASS
