; Self-checking ROM: the 2A03's processor. What each test relies on is said at the test; pages of nesdev.org/wiki:
; "CPU", "CPU interrupts", "CPU unofficial opcodes", "6502 cycle times", and Visual 6502 for the dummy accesses.
.include "nes.inc"
.include "shell.inc"

.segment "HEADER"
        NES20_HEADER 2, 1, 0, 0, 1, 7, 0, 0

.code
board_init:
board_done:
        rts

.rodata
title_text: .byte "SELF TEST: CPU", 0
tests:  .addr n_add, t_add, n_dec, t_dec, n_ind, t_ind, n_zp, t_zp, n_stack, t_stack, n_brk, t_brk
        .addr n_flags, t_flags, n_cmp, t_cmp, n_unoff, t_unoff, n_nops, t_nops, n_dummy, t_dummy, n_rmw, t_rmw
        .addr n_nmi, t_nmi, n_time, t_time
        .addr 0
n_add:  .byte "ADC SBC FLAGS", 0
n_dec:  .byte "NO DECIMAL", 0
n_ind:  .byte "JMP (XXFF)", 0
n_zp:   .byte "ZERO PAGE WRAP", 0
n_stack:.byte "STACK WRAP", 0
n_brk:  .byte "BRK RTI", 0
n_flags:.byte "PHP PLP BIT", 0
n_cmp:  .byte "SHIFTS COMPARES", 0
n_unoff:.byte "UNOFFICIAL", 0
n_nops: .byte "UNOFFICIAL NOPS", 0
n_dummy:.byte "DUMMY READ", 0
n_rmw:  .byte "RMW WRITES TWICE", 0
n_nmi:  .byte "NMI ONCE", 0
n_time: .byte "CYCLES", 0

.code
; Every a with six b, both carries in and both directions: V is "the sign of a and b, but not of the result", C is
; "the sum does not fit". SBC is ADC of the complement.
t_add:  ldy #5
@b:     lda operands,y
        sta t1
        ldx #0
@a:     stx t0
        clc
        txa
        adc t1
        php
        sta t2
        pla
        sta t3
        jsr v_right
        beq :+
        lda #1
        rts
:       lda t2                  ; carry is set when the sum is below a
        cmp t0
        lda #0
        rol a
        eor t3
        lsr a
        EXPECT_IF bcs, 2
        lda t3
        eor t2
        EXPECT_IF bpl, 3
        sec
        txa
        adc t1
        php
        sta t2
        pla
        sta t3
        jsr v_right
        beq :+
        lda #4
        rts
:       sec                     ; a - b is a + ~b + carry
        txa
        sbc t1
        sta t2
        php
        lda t1
        eor #$FF
        sta t4
        sec
        txa
        adc t4
        php
        cmp t2
        beq :+
        pla
        pla
        lda #5
        rts
:       pla
        sta t4
        pla
        eor t4
        and #$C3
        beq :+
        lda #6
        rts
:       inx
        bne @a
        dey
        bpl @b
        PASS
; Z set when bit 6 of t3 (flags) is right for t0 + t1 -> t2
v_right:
        lda t0
        eor t2
        sta t4
        lda t1
        eor t2
        and t4
        and #$80
        lsr a
        eor t3
        and #$40
        rts
operands: .byte 0, 1, $7F, $80, $FF, $55

; The 2A03 has no decimal mode, but keeps the flag.
t_dec:  sed
        clc
        lda #$09
        adc #$01
        cld
        EXPECT $0A, 1
        sed
        sec
        lda #$10
        sbc #$01
        cld
        EXPECT $0F, 2
        sed
        php
        pla
        cld
        and #$08
        EXPECT $08, 3
        PASS

; The high byte of the pointer comes from the same page.
t_ind:  ldx #2                  ; "LDA #0, RTS" at $0310 and "LDA #1, RTS" at $0410
:       lda @code,x
        sta $0410,x
        sta $0310,x
        dex
        bpl :-
        inc $0411
        lda #$10
        sta $02FF
        lda #$03
        sta $0200
        lda #$04
        sta $0300
        .byte $6C, $FF, $02
@code:  lda #0
        rts

; Indexed zero page stays in page zero, pointers too.
t_zp:   lda $FF
        pha
        lda #$37
        sta t5
        ldx #$FF
        lda $06,x               ; $05 = t5
        cmp #$37
        bne @one
        lda #<table             ; pointer across $FF and $00
        sta $FF
        lda #>table
        sta t0
        ldx #$0F
        lda ($F0,x)
        cmp #$C1
        bne @two
        ldy #1
        lda ($FF),y
        cmp #$C2
        bne @three
        pla
        sta $FF
        PASS
@one:   ldx #1
        bne @out
@two:   ldx #2
        bne @out
@three: ldx #3
@out:   pla
        sta $FF
        txa
        rts
table:  .byte $C1, $C2

; The stack wraps inside page 1.
t_stack:
        tsx
        stx t0
        lda $01FF
        sta t1
        lda $0100
        sta t2
        ldx #0
        txs
        lda #$5A
        pha
        lda #$A5
        pha
        lda $01FF
        sta t3
        lda $0100
        sta t4
        pla
        sta t5
        pla
        sta t6
        tsx
        stx t7
        ldx t0
        txs
        lda t1
        sta $01FF
        lda t2
        sta $0100
        lda t3
        EXPECT $A5, 1
        lda t4
        EXPECT $5A, 2
        lda t5
        EXPECT $A5, 3
        lda t6
        EXPECT $5A, 4
        lda t7
        EXPECT 0, 5
        PASS

; BRK pushes the address after its second byte and flags with bits 4 and 5, sets I, and uses the IRQ vector.
t_brk:  IRQ_TO @handler
        cli
        lda #$C7
        sec
@brk:   brk
        .byte 0
@back:  php
        pla
        sei
        and #$05
        EXPECT $01, 5           ; C as before, I clear again
        lda t0
        and #$30
        EXPECT $30, 1
        lda t1
        EXPECT <@back, 2
        lda t2
        EXPECT >@back, 3
        lda t3
        and #$04
        EXPECT $04, 4
        PASS
@handler:
        php
        pla
        sta t3
        pla
        sta t0
        pla
        sta t1
        pla
        sta t2
        pha
        lda t1
        pha
        lda t0
        pha
        rti

; PHP pushes bits 4 and 5 set; PLP ignores them. BIT copies bits 6 and 7.
t_flags:
        lda #$00
        pha
        plp
        php
        pla
        EXPECT $30, 1
        lda #$FB
        pha
        plp
        php
        pla
        cld
        EXPECT $FB, 2
        sei
        lda #$C0
        sta t0
        lda #$01
        bit t0
        EXPECT_IF bmi, 3
        EXPECT_IF bvs, 4
        EXPECT_IF beq, 5
        lda #$3F
        sta t0
        bit t0
        EXPECT_IF bpl, 6
        EXPECT_IF bvc, 7
        clv
        PASS

t_cmp:  sec
        lda #$80
        rol a
        EXPECT_IF bcs, 1
        EXPECT $01, 2
        clc
        lda #$01
        ror a
        EXPECT_IF bcs, 3
        EXPECT 0, 4
        lda #$FF
        lsr a
        EXPECT_IF bcs, 5
        EXPECT $7F, 6
        asl a
        EXPECT $FE, 7
        lda #$80
        cmp #$7F
        EXPECT_IF bcs, 8
        EXPECT_IF bpl, 9
        ldx #$10
        cpx #$11
        EXPECT_IF bcc, 10
        EXPECT_IF bmi, 11
        ldy #$00
        dey
        EXPECT_IF bmi, 12
        cpy #$FF
        EXPECT_IF beq, 13
        PASS

; The stable unofficial opcodes: "CPU unofficial opcodes" lists each as two official ones run together.
.macro MEM value
        lda #value
        sta t0
.endmacro
t_unoff:
        MEM $9C
        lda #0
        .byte $A7, <t0          ; LAX t0
        EXPECT $9C, 1
        txa
        EXPECT $9C, 2
        lda #$F0
        ldx #$3C
        .byte $87, <t0          ; SAX t0
        lda t0
        EXPECT $30, 3
        MEM $41
        lda #$40
        .byte $C7, <t0          ; DCP t0
        EXPECT_IF beq, 4
        EXPECT_IF bcs, 5
        MEM $0F
        sec
        lda #$30
        .byte $E7, <t0          ; ISC t0
        EXPECT $20, 6
        MEM $81
        lda #$10
        .byte $07, <t0          ; SLO t0
        EXPECT_IF bcs, 7
        EXPECT $12, 8
        MEM $81
        sec
        lda #$0F
        .byte $27, <t0          ; RLA t0
        EXPECT $03, 9
        MEM $03
        lda #$FF
        .byte $47, <t0          ; SRE t0
        EXPECT_IF bcs, 10
        EXPECT $FE, 11
        MEM $02
        clc
        lda #$10
        .byte $67, <t0          ; RRA t0
        EXPECT $11, 12
        lda #$FF
        .byte $0B, $80          ; ANC #$80
        EXPECT_IF bcs, 13
        EXPECT $80, 14
        lda #$FF
        .byte $4B, $03          ; ALR #$03
        EXPECT_IF bcs, 15
        EXPECT $01, 16
        lda #$0F
        ldx #$3C
        .byte $CB, $04          ; AXS #$04
        txa
        EXPECT $08, 17
        clc
        lda #$FF
        .byte $6B, $C0          ; ARR #$C0: bit 6 to C, bit 6 eor bit 5 to V
        EXPECT_IF bcs, 18
        EXPECT_IF bvc, 19
        EXPECT $60, 20
        lda #$50
        sec
        .byte $EB, $10          ; SBC #$10
        EXPECT $40, 21
        PASS

t_nops: lda #$5D
        ldx #$11
        ldy #$22
        clc
        .byte $1A, $3A, $5A, $7A, $DA, $FA
        .byte $80, $FF, $82, $FF, $89, $FF, $C2, $FF, $E2, $FF
        .byte $04, $00, $44, $00, $64, $00
        .byte $14, $00, $34, $00, $54, $00, $74, $00, $D4, $00, $F4, $00
        .byte $0C, $00, $02, $1C, $00, $02, $3C, $00, $02, $5C, $00, $02, $7C, $00, $02, $DC, $00, $02, $FC, $00, $02
        EXPECT_IF bcc, 1
        EXPECT $5D, 2
        txa
        EXPECT $11, 3
        tya
        EXPECT $22, 4
        PASS

; LDA abs,X that crosses a page first reads the address with the old high byte. Here that read clears the VBL flag
; which the real read, of a mirror, then finds clear. Without a crossing there is one read, and the flag is there.
t_dummy:
        ldx #$00
        jsr @later
        lda $2002,x
        EXPECT_IF bmi, 1
        ldx #$10
        jsr @later
        lda $20F2,x             ; $2002, then $2102
        EXPECT_IF bpl, 2
        jsr @later
        ldx #$10
        lda $20E2,x             ; $20F2 is a mirror too, but there is no crossing
        EXPECT_IF bmi, 3
        ldx #$10
        jsr @later
        sta $20F2,x             ; stores make the read always
        lda $2002
        EXPECT_IF bpl, 4
        PASS
@later: txa
        pha
        jsr wait_vbl
        lda #24                 ; a little more than a frame: the flag is set again
        jsr delay_units
        pla
        tax
        rts

; INC writes the old value back before the new one: $2006 takes both, the address of the second write pair shows it.
; $2006 reads as the PPU's bus, so what is written back is what was last written there.
t_rmw:  jsr wait_vbl
        bit PPUSTATUS
        PPU_AT $2345
        lda #$77
        sta PPUDATA
        PPU_AT $2121
        lda #$11
        sta PPUDATA
        bit PPUSTATUS
        lda #$20
        sta OAMADDR             ; the bus now holds $20
        inc PPUADDR             ; writes $20, then $21: the address is $2021
        lda #$99
        sta PPUDATA
        bit PPUSTATUS
        PPU_AT $2021
        lda PPUDATA
        lda PPUDATA
        EXPECT $99, 1
        PASS

; With the flag set, enabling NMI gives one at once, and only one until the next VBL.
t_nmi:  NMI_TO @count
        lda #0
        sta t0
        jsr wait_vbl
        lda #23                 ; a frame minus a hair and a little: inside the next VBL
        jsr delay_units
        lda #1
        jsr delay_units
        lda #$80
        sta PPUCTRL
        nop
        nop
        lda t0
        EXPECT 1, 1
        lda #2
        jsr delay_units
        lda t0
        EXPECT 1, 2
        lda #22
        jsr delay_units
        lda t0
        ldx #0
        stx PPUCTRL
        EXPECT 2, 3
        PASS
@count: inc t0
        rti

; Cycles: each block runs over and over from one NMI to the next, 29780 or 29781 cycles later, and counts its turns in
; t0/t1 with 8 cycles of its own. A cycle more or less moves the count by 4 to 10 per cent; one in a hundred is allowed.
t_time: ldx #0
@block: stx t6
        txa
        asl a
        tax
        lda blocks,x
        sta t4
        lda blocks+1,x
        sta t5
        NMI_TO @start
        tsx
        stx t7
        jsr wait_vbl
        lda #$80
        sta PPUCTRL
:       jmp :-
@start: ldx t7
        txs
        NMI_TO @stop
        lda #0
        sta t0
        sta t1
        ldx #$10
        ldy #$10
        clc
        jmp (t4)
@stop:  ldx t7
        txs
        lda #0
        sta PPUCTRL
        ldx t6
        lda t0                  ; t1:t0 - expected + 20 must be below 40
        sec
        sbc expect_lo,x
        tay
        lda t1
        sbc expect_hi,x
        sta t1
        tya
        clc
        adc #20
        tay
        lda t1
        adc #0
        bne @bad
        cpy #40
        bcs @bad
        inx
        cpx #BLOCKS
        bne @block
        PASS
@bad:   inx
        txa
        rts

.macro COUNT loop
        inc t0
        bne loop
        inc t1
        jmp loop
.endmacro
.segment "TIMED"
b_nop:  nop
        COUNT b_nop
b_zp:   lda t3
        COUNT b_zp
b_absx: lda $0280,x
        COUNT b_absx
b_cross:lda $02F8,x
        COUNT b_cross
b_stax: sta $0380,x
        COUNT b_stax
b_incx: inc $0380,x
        COUNT b_incx
b_ntak: bcs b_ntak
        COUNT b_ntak
b_tak:  bcc :+
:       COUNT b_tak
b_push: pha
        pla
        COUNT b_push
b_jsr:  jsr b_rts
        COUNT b_jsr
b_rts:  rts
b_lax:  .byte $B7, <t2          ; LAX zp,Y
        COUNT b_lax
        .assert >b_nop = >*, lderror, "timed blocks must share a page"
        .res 256 - (* - b_nop) - 3
b_far:  bcc b_far2              ; its next instruction is still on this page, its target on the other: 4 cycles
        nop
b_far2: COUNT b_far             ; and 4 back
.rodata
blocks: .addr b_nop, b_zp, b_absx, b_cross, b_stax, b_incx, b_ntak, b_tak, b_push, b_jsr, b_lax, b_far
BLOCKS = (* - blocks) / 2
.define EXPECTED 29690/10, 29690/11, 29690/12, 29690/13, 29690/13, 29690/15, 29690/10, 29690/11, 29690/15, 29690/20, 29690/12, 29690/13
expect_lo: .lobytes EXPECTED
expect_hi: .hibytes EXPECTED
