; Self-checking ROM: CNROM with 32 KiB PRG, 32 KiB CHR ROM and 8 KiB RAM. nesdev.org/wiki: "CNROM". Every write finds its
; own value in ROM, so it makes no difference whether the board has bus conflicts.
.include "nes.inc"
.include "shell.inc"

.segment "HEADER"
        NES20_HEADER 2, 4, 3, 0, 0, 7, 0, 0

.code
board_init:
board_done:
        ldx #0
; CHR bank X
bank:   txa
        sta numbers,x
        rts
.rodata
numbers:.byte 0, 1, 2, 3
title_text: .byte "SELF TEST: CNROM", 0
tests:  .addr n_chr, t_chr, n_rom, t_rom, n_prg, t_prg, n_any, t_any, n_mirror, t_mirror
        .addr 0
n_chr:  .byte "CHR BANKS", 0
n_rom:  .byte "CHR READ-ONLY", 0
n_prg:  .byte "PRG FIXED", 0
n_any:  .byte "BUFFER KEEPS", 0
n_mirror: .byte "HORIZONTAL", 0

.code
t_chr:  ldx #3
@next:  jsr bank
        stx t0
        VREAD $0FFF
        tay
        VREAD $1FFF
        sta t1
        lda t0
        ora #$C0
        cmp t1
        bne @bad
        sta t1
        cpy t1
        bne @bad
        ldx t0
        dex
        bpl @next
        VREAD $0010
        EXPECT $FF, 5
        PASS
@bad:   lda t0
        clc
        adc #1
        rts
t_rom:  ldx #2
        jsr bank
        VWRITE $1234, $77
        VREAD $1234
        EXPECT $C2, 1
        PASS
t_prg:  lda title_text
        sta t0
        ldx #3
:       jsr bank
        lda title_text
        cmp t0
        EXPECT_IF beq, 1
        dex
        bpl :-
        PASS
; What is in the read buffer was fetched before the switch.
t_any:  ldx #1
        jsr bank
        bit PPUSTATUS
        PPU_AT $1800
        lda PPUDATA
        ldx #2
        jsr bank
        lda PPUDATA
        EXPECT $C1, 1
        lda PPUDATA
        EXPECT $C2, 2
        PASS
t_mirror:
        VWRITE $2033, $20
        VWRITE $2833, $28
        VREAD $2433
        EXPECT $20, 1
        VREAD $2C33
        EXPECT $28, 2
        PASS
