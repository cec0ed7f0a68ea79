; Self-checking ROM: UxROM with 128 KiB PRG, 8 KiB CHR RAM and 8 KiB RAM. nesdev.org/wiki: "UxROM". Every write finds its
; own value in ROM, so it makes no difference whether the board has bus conflicts.
.include "nes.inc"
.include "shell.inc"
.import font

.segment "HEADER"
        NES20_HEADER 8, 0, 2, 0, 1, 7, 0, 7

.code
board_init:
board_done:
        ldx #0
        jsr bank
.include "font_up.inc"

; PRG bank X at $8000
bank:   txa
        sta numbers,x
        rts
.rodata
numbers:.byte 0, 1, 2, 3, 4, 5, 6, 7
mark:   .byte $6D
title_text: .byte "SELF TEST: UXROM", 0
tests:  .addr n_prg, t_prg, n_last, t_last, n_low, t_low, n_chr, t_chr, n_mirror, t_mirror
        .addr 0
n_prg:  .byte "PRG BANKS", 0
n_last: .byte "PRG LAST FIXED", 0
n_low:  .byte "REGISTER IN BANK", 0
n_chr:  .byte "CHR RAM", 0
n_mirror: .byte "VERTICAL", 0

.code
t_prg:  ldx #6
@next:  jsr bank
        txa
        ora #$B0
        cmp $8000
        bne @bad
        cmp $BFFF
        bne @bad
        dex
        bpl @next
        PASS
@bad:   inx
        txa
        rts
t_last: ldx #7
        jsr bank
        lda mark - $4000        ; the fixed bank can be switched in below too
        EXPECT $6D, 1
        ldx #0
        jsr bank
        lda mark
        EXPECT $6D, 2
        PASS
; The register answers in the switched half too. Bank n is full of $B0 + n: its low bits choose bank n again.
t_low:  ldx #3
        jsr bank
        lda #$B3
        sta $9000
        lda $A000
        EXPECT $B3, 1
        ldx #5
        jsr bank
        lda #$B5
        sta $8000
        lda $8000
        EXPECT $B5, 2
        PASS
; All 8 KiB, a different byte in every page and place.
t_chr:  bit PPUSTATUS
        PPU_AT $0000
        ldx #0
        ldy #0
@fill:  stx t0
        tya
        eor t0
        sta PPUDATA
        iny
        bne @fill
        inx
        cpx #32
        bne @fill
        PPU_AT $0000
        lda PPUDATA
        ldx #0
@look:  stx t0
        tya
        eor t0
        cmp PPUDATA
        beq :+
        lda #1
        rts
:       iny
        bne @look
        inx
        cpx #32
        bne @look
        PASS
t_mirror:
        VWRITE $2222, $22
        VWRITE $2622, $26
        VREAD $2A22
        EXPECT $22, 1
        VREAD $2E22
        EXPECT $26, 2
        PASS
