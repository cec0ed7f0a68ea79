; What every game here does with the picture: a queue of VRAM writes and a page of sprites, both handed to the NMI
; handler as one finished frame. The handler itself belongs to the game; it calls vram_flush when `ready` is set.
.include "nes.inc"
.import pad_read
.export vq, vram_flush, end_frame, screen_off, screen_on, wipe, text, random
.exportzp frame, ready, ctrl, mask, vqn, oamn, tmp, ptr, rnd

.zeropage
frame:    .res 1        ; counted by the NMI handler
ready:    .res 1        ; the frame's sprites and queue are complete
ctrl:     .res 1        ; PPUCTRL and PPUMASK as they shall be
mask:     .res 1
vqn:      .res 1        ; bytes in the queue
oamn:     .res 1        ; bytes used of the sprite page at $0200
tmp:      .res 4
ptr:      .res 2
rnd:      .res 1

.segment "VQ"
vq:       .res 160

.code
; Queue entries: address high (bit 7: go down a column), low, count, bytes. A zero ends it.
vram_flush:
        ldx #0
@entry: lda vq,x
        beq @done
        tay
        lda ctrl
        and #$FB
        cpy #$80
        bcc :+
        ora #$04
:       sta PPUCTRL
        tya
        and #$3F
        sta PPUADDR
        lda vq+1,x
        sta PPUADDR
        ldy vq+2,x
        inx
        inx
        inx
@byte:  lda vq,x
        sta PPUDATA
        inx
        dey
        bne @byte
        beq @entry
@done:  sta vqn
        sta vq
        rts

; Hand the frame over, wait until it is shown, read the pad.
end_frame:
        ldx oamn
        lda #$FF
:       sta $0200,x             ; oamn is a multiple of 4
        inx
        inx
        inx
        inx
        bne :-
        ldx vqn
        lda #0
        sta vq,x
        lda #1
        sta ready
:       lda ready
        bne :-
        lda #0
        sta oamn
        jmp pad_read

; Blank, no sprites, no NMI: VRAM can be filled at leisure.
screen_off:
        lda #0
        sta mask
        sta oamn
        lda #$80
        sta ctrl
        sta PPUCTRL
        jsr end_frame           ; the last picture ends and the sprites go before anything is redrawn
        lda #0
        sta ctrl                ; vram_flush uses it: no NMI while loading
        sta PPUCTRL
        sta vqn
        rts

; A = PPUCTRL for the screen that begins
screen_on:
        sta ctrl
        bit PPUSTATUS           ; no NMI for a VBL long begun
        sta PPUCTRL
        lda #$1E
        sta mask
        rts

; Both nametables blank, attributes zero.
wipe:   PPU_AT $2000
        ldx #16
        lda #0
        tay
:       sta PPUDATA
        iny
        bne :-
        dex
        bne :-
        rts

; Text at ptr: address high, low, characters, 0. X is added to each character.
text:   stx tmp
        ldy #0
        lda (ptr),y
        sta PPUADDR
        iny
        lda (ptr),y
        sta PPUADDR
@next:  iny
        lda (ptr),y
        beq @out
        clc
        adc tmp
        sta PPUDATA
        jmp @next
@out:   rts

random: lda rnd                 ; Galois LFSR, period 255; never seeded with 0
        lsr a
        bcc :+
        eor #$B8
:       sta rnd
        rts
