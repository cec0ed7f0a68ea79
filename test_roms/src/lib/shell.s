; The frame of every self-checking ROM. Tests come from a table; what they say goes to battery RAM as the widely used
; protocol has it, and to the screen when all are done:
;   $6000 = $80 while running, then the result: 0 passed, n = the n-th test failed first
;   $6001-$6003 = $DE $B0 $61; text from $6004, ended by a zero
; A copy of the text from $0500 is what the screen is drawn from, so that boards without RAM at $6000 show it too.
; A test returns A = 0 when it passed, else the number of the check that failed.
.include "nes.inc"
.include "boot.inc"
.import tests, title_text, board_init, board_done
.export wait_vbl, delay_units, print_char, nmi_entry, irq_entry
.exportzp nmi_ptr, irq_ptr, t0, t1, t2, t3, t4, t5, t6, t7, ptr

RESULT = $6000
TEXT   = $6004
COPY   = $0500          ; at most 768 bytes; tests leave $0500-$07FF alone

.zeropage
t0:       .res 1        ; $00 to $07 belong to the tests
t1:       .res 1
t2:       .res 1
t3:       .res 1
t4:       .res 1
t5:       .res 1
t6:       .res 1
t7:       .res 1
ptr:      .res 2
nmi_ptr:  .res 2
irq_ptr:  .res 2
out:      .res 2        ; end of the text, and of its copy
out2:     .res 2
list:     .res 2
number:   .res 1
first:    .res 1        ; the first test that failed
column:   .res 1

.segment "VECTORS"
        .addr nmi_entry, reset, irq_entry

.code
nmi_entry:
        jmp (nmi_ptr)
irq_entry:
        jmp (irq_ptr)
ignore: rti

reset:  BOOT
        lda #$80
        sta RESULT
        lda #$DE
        sta RESULT+1
        lda #$B0
        sta RESULT+2
        lda #$61
        sta RESULT+3
        lda #0
        sta TEXT
        lda #<TEXT
        sta out
        lda #>TEXT
        sta out+1
        lda #<COPY
        sta out2
        lda #>COPY
        sta out2+1
        jsr quiet
        jsr board_init
        lda #<title_text
        ldx #>title_text
        jsr print
        lda #10
        jsr print_char
        jsr print_char
        lda #<tests
        sta list
        lda #>tests
        sta list+1
@test:  ldy #1
        lda (list),y            ; a name in page 0 ends the table
        beq @done
        inc number
        tax
        dey
        lda (list),y
        jsr print
@dots:  lda #'.'
        jsr print_char
        lda column
        cmp #21
        bcc @dots
        ldy #2
        lda (list),y
        sta ptr
        iny
        lda (list),y
        sta ptr+1
        jsr @call
        pha
        jsr quiet
        pla
        beq @ok
        ldx first
        bne :+
        ldx number
        stx first
:       pha
        lda #<text_fail
        ldx #>text_fail
        jsr print
        pla
        jsr print_number
        jmp @next
@ok:    lda #<text_ok
        ldx #>text_ok
        jsr print
@next:  lda #10
        jsr print_char
        lda list
        clc
        adc #4
        sta list
        bcc @test
        inc list+1
        bcs @test
@call:  jmp (ptr)
@done:  lda #10
        jsr print_char
        lda first
        bne @bad
        lda #<text_passed
        ldx #>text_passed
        jsr print
        jmp show
@bad:   lda #<text_failed
        ldx #>text_failed
        jsr print
        lda first
        jsr print_number

; The text on the screen: green when all passed, else red. Then the result, and a tone to say so.
show:   jsr board_done
        jsr wait_vbl
        lda #0
        sta PPUMASK
        sta PPUCTRL
        PPU_AT $2000
        ldx #16                 ; all four nametables, attributes too: space is an empty tile
        ldy #0
        lda #$20
:       sta PPUDATA
        iny
        bne :-
        dex
        bne :-
        PPU_AT $23C0
        ldx #64
        lda #0
:       sta PPUDATA
        dex
        bne :-
        PPU_AT $3F00
        ldx first
        beq :+
        lda #$06
        bne :++
:       lda #$0A
:       sta PPUDATA
        lda #$30
        sta PPUDATA
        sta PPUDATA
        lda #<COPY
        sta ptr
        lda #>COPY
        sta ptr+1
        lda #2                  ; first row
        sta t0
@row:   lda t0
        lsr a
        lsr a
        lsr a
        ora #$20
        tax
        lda t0
        asl a
        asl a
        asl a
        asl a
        asl a
        ora #2
        stx PPUADDR
        sta PPUADDR
        inc t0
@char:  ldy #0
        lda (ptr),y
        beq @shown
        inc ptr
        bne :+
        inc ptr+1
:       cmp #10
        beq @row
        sta PPUDATA
        jmp @char
@shown: jsr wait_vbl
        lda #0
        sta PPUSCROLL
        sta PPUSCROLL
        sta PPUCTRL
        lda #$0A
        sta PPUMASK
        lda #$01
        sta SNDCHN
        lda #$0F                ; sweep off (see sound.s)
        sta $4001
        lda #$46                ; a tone that stops by itself: high when passed, low when not
        sta $4000
        lda #$D5
        ldx first
        beq :+
        asl a
:       sta $4002
        rol a
        and #1
        ldx first
        bne :+
        lda #0
:       ora #$80
        sta $4003
        lda first
        sta RESULT
@stay:  jmp @stay

; No interrupts, no rendering, no sound, default handlers.
quiet:  sei
        cld
        lda #0
        sta PPUCTRL
        sta PPUMASK
        sta SNDCHN
        sta $4010
        lda #$40
        sta JOY2
        lda SNDCHN
        lda #<ignore
        sta nmi_ptr
        sta irq_ptr
        lda #>ignore
        sta nmi_ptr+1
        sta irq_ptr+1
        rts

; Zero-ended text at A (low), X (high)
print:  sta ptr
        stx ptr+1
        ldy #0
@next:  lda (ptr),y
        beq @out
        jsr print_char
        iny
        bne @next
@out:   rts

; Keeps A and Y.
print_char:
        sty t7
        ldy #0
        sta (out),y
        sta (out2),y
        pha
        inc column
        cmp #10
        bne :+
        sty column
:       inc out
        bne :+
        inc out+1
:       inc out2
        bne :+
        inc out2+1
:       tya
        sta (out),y
        sta (out2),y
        pla
        ldy t7
        rts

print_number:
        ldx #'0'
@tens:  cmp #10
        bcc @one
        sbc #10
        inx
        bne @tens
@one:   pha
        txa
        cmp #'0'
        beq :+
        jsr print_char
:       pla
        clc
        adc #'0'
        jmp print_char

; Wait for the next VBL flag; a flag already set is cleared first.
wait_vbl:
        bit PPUSTATUS
:       bit PPUSTATUS
        bpl :-
        rts

; About A * 1284 cycles
delay_units:
        ldx #0
:       dex
        bne :-
        sec
        sbc #1
        bne :-
        rts

.rodata
text_ok:     .byte "OK", 0
text_fail:   .byte "FAIL ", 0
text_passed: .byte "PASSED", 0
text_failed: .byte "FAILED ", 0
