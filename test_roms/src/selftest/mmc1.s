; Self-checking ROM: MMC1 with 128 KiB PRG, 8 KiB CHR RAM and 8 KiB RAM. nesdev.org/wiki: "MMC1".
.include "nes.inc"
.include "shell.inc"
.import font

.segment "HEADER"
        NES20_HEADER 8, 0, 1, 0, 0, 7, 0, 7

.segment "HIGH"                 ; at $F000: written to by INC, which the board sees as the PRG register
zero:   .byte 0
one:    .byte 1

.code
board_init:
        lda #$80
        sta $8000
        ldx #ram_end - ram_code
:       lda ram_code-1,x
        sta $0400-1,x
        dex
        bne :-
board_done:
        lda #$0F
        jsr control
        lda #0
        jsr bank
        lda #0
        jsr chr0
        lda #1
        jsr chr1
.include "font_up.inc"

control:sta $8000
        lsr a
        sta $8000
        lsr a
        sta $8000
        lsr a
        sta $8000
        lsr a
        sta $8000
        rts
chr0:   sta $A000
        lsr a
        sta $A000
        lsr a
        sta $A000
        lsr a
        sta $A000
        lsr a
        sta $A000
        rts
chr1:   sta $C000
        lsr a
        sta $C000
        lsr a
        sta $C000
        lsr a
        sta $C000
        lsr a
        sta $C000
        rts
bank:   sta $E000
        lsr a
        sta $E000
        lsr a
        sta $E000
        lsr a
        sta $E000
        lsr a
        sta $E000
        rts

; In RAM, because the fixed bank goes away: control = A, bank = X, then $8000 = t2 when t3 is not 0; t0 and t1 = what
; stands at $8100 and $C100 then. Control $0F and bank 0 again at the end.
ram_code:
.org $0400
probe:  ldy #5
:       sta $8000
        lsr a
        dey
        bne :-
        txa
        ldy #5
:       sta $E000
        lsr a
        dey
        bne :-
        lda t3
        beq :+
        lda t2
        sta $8000
:       lda $8100
        sta t0
        lda $C100
        sta t1
        lda #$80
        sta $8000
        lda #$0F
        ldy #5
:       sta $8000
        lsr a
        dey
        bne :-
        ldy #5
:       sta $E000
        dey
        bne :-
        rts
.reloc
ram_end:

.rodata
title_text: .byte "SELF TEST: MMC1", 0
tests:  .addr n_prg3, t_prg3, n_prg2, t_prg2, n_prg0, t_prg0, n_reset, t_reset, n_partial, t_partial, n_rmw, t_rmw
        .addr n_mirror, t_mirror, n_chr, t_chr, n_ram, t_ram, n_off, t_off
        .addr 0
n_prg3: .byte "PRG LAST FIXED", 0
n_prg2: .byte "PRG FIRST FIXED", 0
n_prg0: .byte "PRG 32K", 0
n_reset:.byte "RESET BIT", 0
n_partial: .byte "SHIFT REGISTER", 0
n_rmw:  .byte "WRITES IN A ROW", 0
n_mirror: .byte "MIRRORING", 0
n_chr:  .byte "CHR BANKS", 0
n_ram:  .byte "RAM", 0
n_off:  .byte "RAM DISABLE", 0

.code
t_prg3: ldx #0
@next:  txa
        jsr bank
        txa
        ora #$B0
        cmp $8000
        bne @bad
        cmp $BFFF
        bne @bad
        inx
        cpx #7
        bne @next
        lda #7
        jsr bank
        lda one - $4000
        EXPECT 1, 8
        PASS
@bad:   inx
        txa
        rts

.macro PROBE ctl, bnk
        lda #ctl
        ldx #bnk
        jsr probe
.endmacro

t_prg2: lda #0
        sta t3
        PROBE $0B, 3
        lda t0
        EXPECT $B0, 1
        lda t1
        EXPECT $B3, 2
        PROBE $0B, 6
        lda t1
        EXPECT $B6, 3
        PASS
; Modes 0 and 1: 32 KiB, the lowest bit of the bank does not count.
t_prg0: lda #0
        sta t3
        PROBE $03, 2
        lda t0
        EXPECT $B2, 1
        lda t1
        EXPECT $B3, 2
        PROBE $07, 5
        lda t0
        EXPECT $B4, 3
        lda t1
        EXPECT $B5, 4
        PASS
; A write with bit 7: control |= $0C, so the last bank is back at $C000. The other bits do not matter.
t_reset:lda $C100
        sta t4
        lda #$80
        sta t2
        sta t3
        PROBE $0B, 3
        lda t1
        cmp t4
        EXPECT_IF beq, 1
        lda t0
        EXPECT $B3, 2
        lda #$FF
        sta t2
        PROBE $03, 2
        lda t1
        cmp t4
        EXPECT_IF beq, 3
        PASS
; Bit 7 empties the shift register; the fifth write's address decides.
t_partial:
        lda #2
        jsr bank
        lda #1
        sta $E000
        sta $E000
        lda #$80
        sta $E000
        lda #5
        jsr bank
        lda $9000
        EXPECT $B5, 1
        lda #4                  ; four writes elsewhere, the fifth at $E000
        sta $8000
        lsr a
        sta $A000
        lsr a
        sta $C000
        lsr a
        sta $8000
        lsr a
        sta $E000
        lda $9000
        EXPECT $B4, 2
        PASS
; Of writes in cycles that follow each other only the first counts: INC writes the old value, then the new one.
t_rmw:  lda #0
        jsr bank
        inc one                 ; 1 0 1 0 0, lowest first: bank 5
        inc zero
        inc one
        inc zero
        inc zero
        lda $8000
        EXPECT $B5, 1
        PASS
t_mirror:
        lda #$0E                ; vertical
        jsr control
        VWRITE $2000, $10
        VWRITE $2400, $14
        VREAD $2800
        EXPECT $10, 1
        VREAD $2C00
        EXPECT $14, 2
        lda #$0F                ; horizontal
        jsr control
        VREAD $2400
        EXPECT $10, 3
        VREAD $2800
        EXPECT $14, 4
        lda #$0C                ; one screen, the lower
        jsr control
        VREAD $2800
        EXPECT $10, 5
        VREAD $2C00
        EXPECT $10, 6
        lda #$0D                ; and the upper
        jsr control
        VREAD $2000
        EXPECT $14, 7
        VREAD $2400
        EXPECT $14, 8
        lda #$0F
        jsr control
        PASS
t_chr:  lda #$1F                ; two banks of 4 KiB
        jsr control
        lda #0
        jsr chr0
        lda #1
        jsr chr1
        VWRITE $0123, $A0
        VWRITE $1123, $A1
        lda #1
        jsr chr0
        lda #0
        jsr chr1
        VREAD $0123
        EXPECT $A1, 1
        VREAD $1123
        EXPECT $A0, 2
        lda #$0F                ; 8 KiB: the lowest bit does not count
        jsr control
        VREAD $0123
        EXPECT $A0, 3
        VREAD $1123
        EXPECT $A1, 4
        PASS
t_ram:  lda #$5A
        sta $7000
        eor #$FF
        sta $7FFF
        lda $7000
        EXPECT $5A, 1
        lda $7FFF
        EXPECT $A5, 2
        PASS
; Bit 4 of the PRG register disables the RAM (MMC1B and later).
t_off:  lda #$5A
        sta $7000
        lda #$10
        jsr bank
        lda #$A5
        sta $7000
        lda #$00
        jsr bank
        lda $7000
        EXPECT $5A, 1
        PASS
