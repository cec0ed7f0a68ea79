; Self-checking ROM: the 2A03's sound unit as the CPU sees it. nesdev.org/wiki: "APU", "APU Length Counter",
; "APU Frame Counter", "APU DMC".
.include "nes.inc"
.include "shell.inc"

.segment "HEADER"
        NES20_HEADER 2, 1, 0, 0, 1, 7, 0, 0

.segment "DMC"
sample: .res 64, $55
        .byte $55

.code
board_init:
board_done:
        rts

.rodata
title_text: .byte "SELF TEST: APU", 0
tests:  .addr n_status, t_status, n_len, t_len, n_halt, t_halt, n_off, t_off, n_mode, t_mode, n_irq, t_irq
        .addr n_noirq, t_noirq, n_real, t_real, n_dmc, t_dmc, n_rate, t_rate, n_dirq, t_dirq, n_loop, t_loop
        .addr n_tones, t_tones
        .addr 0
n_status: .byte "STATUS BITS", 0
n_len:  .byte "LENGTH TABLE", 0
n_halt: .byte "LENGTH HALT", 0
n_off:  .byte "CHANNELS OFF", 0
n_mode: .byte "FIVE-STEP CLOCK", 0
n_irq:  .byte "FRAME IRQ TIME", 0
n_noirq: .byte "FRAME IRQ OFF", 0
n_real: .byte "FRAME IRQ TAKEN", 0
n_dmc:  .byte "DMC STATUS", 0
n_rate: .byte "DMC RATES", 0
n_dirq: .byte "DMC IRQ", 0
n_loop: .byte "DMC LOOP", 0
n_tones: .byte "TONES", 0
lengths:.byte 10, 254, 20, 2, 40, 4, 80, 6, 160, 8, 60, 10, 14, 12, 26, 14
        .byte 12, 16, 24, 18, 48, 20, 96, 22, 192, 24, 72, 26, 16, 28, 32, 30
; Channels: offset of the registers, the halt bit off, status bit
ch_reg: .byte $00, $04, $08, $0C
ch_run: .byte $1F, $1F, $7F, $1F
ch_halt:.byte $3F, $3F, $FF, $3F
ch_bit: .byte 1, 2, 4, 8
; CPU cycles a DMC bit takes, divided by 2: "APU DMC", NTSC
rates:  .byte 214, 190, 170, 160, 143, 127, 113, 107, 95, 80, 71, 64, 53, 42, 36, 27

.code
; Channel X sounds with length index A; halt register from table Y = 0 run, 1 halt. Silent (volume 0 or ultrasonic).
start:  asl a
        asl a
        asl a
        pha
        lda #$0F
        sta SNDCHN
        tya
        bne :+
        lda ch_run,x
        bne :++
:       lda ch_halt,x
:       and #$F0                ; volume 0; the triangle has its own bit 7
        cpx #2
        bne :+
        and #$80
:       pha
        lda ch_reg,x
        tay
        pla
        sta $4000,y
        pla
        sta $4003,y
        rts

; One half-frame clock at once (and one quarter-frame clock)
clock:  lda #$C0
        sta JOY2
        nop
        nop
        nop
        rts

t_status:
        lda SNDCHN
        and #$1F
        EXPECT 0, 1
        ldx #0
@next:  lda #1
        ldy #0
        jsr start
        lda SNDCHN
        and #$0F
        cmp ch_bit,x
        beq :+
        inx
        inx
        txa
        rts
:       lda #0
        sta SNDCHN
        inx
        cpx #4
        bne @next
        PASS

; Every length on every channel, clocked by writes to $4017 that clock at once.
t_len:  ldx #0
@chan:  lda #0
        sta t0
@index: lda t0
        ldy #0
        jsr start
        ldy #0
@clock: jsr clock
        iny
        lda SNDCHN
        and ch_bit,x
        bne @clock
        sty t1
        ldy t0
        lda lengths,y
        cmp t1
        beq :+
        inx
        txa
        rts
:       inc t0
        lda t0
        cmp #32
        bne @index
        lda #0
        sta SNDCHN
        inx
        cpx #4
        bne @chan
        PASS

t_halt: ldx #0
@chan:  lda #3                  ; length 2
        ldy #1
        jsr start
        jsr clock
        jsr clock
        jsr clock
        lda SNDCHN
        and ch_bit,x
        bne :+
        inx
        txa
        rts
:       inx
        cpx #4
        bne @chan
        PASS

; A channel switched off loses its length, and loads none while it is off.
t_off:  ldx #0
        lda #1
        ldy #0
        jsr start
        lda #$0E
        sta SNDCHN
        lda SNDCHN
        and #1
        EXPECT 0, 1
        lda #$0F
        sta SNDCHN
        lda SNDCHN
        and #1
        EXPECT 0, 2
        lda #$0E
        sta SNDCHN
        lda #$08
        sta $4003
        lda #$0F
        sta SNDCHN
        lda SNDCHN
        and #1
        EXPECT 0, 3
        PASS

; $4017 with bit 7 clocks at once, without it does not.
t_mode: ldx #0
        lda #3
        ldy #0
        jsr start
        lda #$40
        sta JOY2
        nop
        nop
        nop
        lda #$40
        sta JOY2
        nop
        nop
        nop
        lda SNDCHN
        and #1
        EXPECT 1, 1
        jsr clock
        jsr clock
        lda SNDCHN
        and #1
        EXPECT 0, 2
        PASS

; Four-step: the flag comes 29828 to 29831 cycles after the write. Loops of 15 cycles, 7 more every 256.
t_irq:  lda #0
        sta t0
        sta t1
        sta JOY2
@wait:  inc t0                  ; 5 + 3
        bne :+
        inc t1
:       bit SNDCHN              ; 4 + 3
        bvc @wait
        lda t1                  ; 29830 / 15.03 = 1985 = $7C1
        EXPECT 7, 1
        lda t0
        cmp #$BE
        EXPECT_IF bcs, 2
        cmp #$C5
        EXPECT_IF bcc, 3
        bit SNDCHN              ; reading has cleared it
        EXPECT_IF bvc, 4
        PASS

t_noirq:lda #$40
        sta JOY2
        lda #30
        jsr delay_units
        bit SNDCHN
        EXPECT_IF bvc, 1
        lda #$80
        sta JOY2
        lda #36
        jsr delay_units
        bit SNDCHN
        EXPECT_IF bvc, 2
        lda #0                  ; setting bit 6 later clears the flag
        sta JOY2
        lda #30
        jsr delay_units
        lda #$40
        sta JOY2
        bit SNDCHN
        EXPECT_IF bvc, 3
        PASS

t_real: IRQ_TO @handler
        lda #0
        sta t0
        sta JOY2
        lda #30
        jsr delay_units
        lda t0
        EXPECT 0, 1             ; I is set
        cli
        nop
        nop
        sei
        lda t0
        EXPECT 1, 2
        PASS
@handler:
        inc t0
        bit SNDCHN
        rti

.macro SAMPLE rate, length
        lda #rate
        sta $4010
        lda #<((sample - $C000) / 64)
        sta $4012
        lda #length
        sta $4013
        lda #$10
        sta SNDCHN
.endmacro

; Bit 4 is "bytes remain": set by starting, clear when the last byte has been fetched or the channel is switched off.
t_dmc:  SAMPLE $0F, 1
        lda SNDCHN
        and #$10
        EXPECT $10, 1
        lda #10
        jsr delay_units
        lda SNDCHN
        and #$10
        EXPECT 0, 2
        SAMPLE $00, 4
        lda #0
        sta SNDCHN
        lda SNDCHN
        and #$10
        EXPECT 0, 3
        PASS

; 17 bytes at each rate: from the fetch of one byte to that of the last are 128 to 136 bits. Loops of 16 cycles: the
; count is 8 to 8.6 times the bit's length in cycles, so 16 to 17.2 times the table's half.
t_rate: lda #0
        sta t0
@rate:  lda #8                  ; let the last sample's bits run out
        jsr delay_units
        lda #0
        sta t1
        sta t2
        lda t0
        sta $4010
        lda #<((sample - $C000) / 64)
        sta $4012
        lda #1
        sta $4013
        lda #$10
        sta SNDCHN
        lda #$10
@wait:  inc t1                  ; 5 + 3
        bne :+
        inc t2
:       bit SNDCHN              ; 4 + 3, and DMA takes 4 of about 400
        bne @wait
        ldy t0
        lda rates,y
        sta t3
        lda #0
        sta t4
        ldx #4                  ; half * 16 = what 128 bits take in loops of 16 cycles; loops are of 15: a little more
:       asl t3
        rol t4
        dex
        bne :-
        lda t1
        sec
        sbc t3
        sta t5
        lda t2
        sbc t4
        sta t6
        bcc @bad
        lsr t4                  ; at most an eighth more
        ror t3
        lsr t4
        ror t3
        lsr t4
        ror t3
        lda t3
        clc
        adc #4
        bcc :+
        inc t4
:       cmp t5
        lda t4
        sbc t6
        bcc @bad
        inc t0
        lda t0
        cmp #16
        bne @rate
        PASS
@bad:   lda t0
        clc
        adc #1
        rts

; The flag comes with the last byte when $4010 bit 7 is set, without loop; $4015 writes clear it, reads do not.
t_dirq: IRQ_TO @handler
        lda #0
        sta t0
        SAMPLE $8F, 0
        lda #2
        jsr delay_units
        lda SNDCHN
        EXPECT_IF bmi, 1
        lda SNDCHN
        EXPECT_IF bmi, 2
        cli
        nop
        nop
        sei
        lda t0
        EXPECT 1, 3
        lda SNDCHN
        EXPECT_IF bpl, 4
        SAMPLE $8F, 0
        lda #2
        jsr delay_units
        lda #$0F                ; so does clearing the enable
        sta $4010
        lda SNDCHN
        EXPECT_IF bpl, 5
        PASS
@handler:
        inc t0
        lda #0
        sta SNDCHN
        rti

t_loop: SAMPLE $4F, 0
        lda #20
        jsr delay_units
        lda SNDCHN
        and #$90
        EXPECT $10, 1
        lda #$0F                ; no loop: it ends by itself
        sta $4010
        lda #3
        jsr delay_units
        lda SNDCHN
        and #$10
        EXPECT 0, 2
        PASS

; Nothing is checked here: each channel sounds for a while, for ears and for comparisons of the output. The table has
; register, value; register 0 waits.
t_tones:lda #3                  ; three times over
        sta t1
@again: lda #$1F
        sta SNDCHN
        ldx #0
@next:  ldy tones,x
        lda tones+1,x
        cpy #$20
        beq @wait
        sta $4000,y
        bne @step
        beq @step
@wait:  stx t0
        jsr delay_units
        ldx t0
@step:  inx
        inx
        cpx #TONES
        bne @next
        dec t1
        bne @again
        PASS
.rodata
WAIT = $20
tones:  .byte $01,$08, $05,$08
        .byte $00,$BA, $02,$FD, $03,$08, WAIT,180
        .byte $00,$7A, $02,$C9, $03,$08, WAIT,180
        .byte $00,$30, $04,$3A, $06,$A9, $07,$08, WAIT,180
        .byte $04,$87, $05,$8A, $06,$A9, $07,$08, WAIT,180      ; envelope and sweep
        .byte $04,$30, $08,$FF, $0A,$7E, $0B,$08, WAIT,180
        .byte $0A,$54, $0B,$08, WAIT,180
        .byte $08,$80, $0B,$08
        .byte $0C,$38, $0E,$05, $0F,$08, WAIT,120
        .byte $0E,$85, WAIT,120
        .byte $0C,$30, $11,$40
        .byte $12,<((sample - $C000) / 64), $13,4, $10,$4A, $15,$1F, WAIT,120
        .byte $10,$45, WAIT,120
        .byte $15,$0F, WAIT,10
TONES = * - tones
