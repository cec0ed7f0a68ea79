; UNDERTOW: a small submarine gathers pearls while its air lasts. MMC3: 64 KiB PRG, 32 KiB CHR ROM.
;   The pad steers, A or B fires a dart, Start begins and pauses. Air comes from the surface and from large bubbles.
; What it exercises: five scanline interrupts a frame (sky, swell, clear water, deep and sand scroll each at their own
; pace above a status bar that stands still), background and sprite banks swapped to make everything move, PRG banks.
.include "nes.inc"
.include "boot.inc"
.include "frame.inc"
.include "undertow_assets.inc"
.import SONG_TITLE, SONG_PLAY, SONG_OVER
.import scene_names, title_names, drift

NTHING  = 14
NDART   = 2
NSTRIP  = 6
PEARL   = 1
JELLY   = 2
PUFFER  = 3
MINE    = 4
AIRBUB  = 5
POP     = 6
AIR_MAX = 80

.segment "HEADER"
        INES_HEADER 4, 4, 4, 1, 0

.zeropage
paused:   .res 1
strip:    .res 1        ; the strip whose interrupt comes next
pos:      .res 3        ; the way gone: fraction, low, high
speed:    .res 2        ; pixels a frame, 8.8
step:     .res 1        ; whole pixels gone this frame
shown:    .res 1        ; frame counter of the moving banks
scroll_x: .res NSTRIP
scroll_n: .res NSTRIP
list:     .res 2
wait:     .res 1
p_xs:     .res 1
p_x:      .res 1
p_ys:     .res 1
p_y:      .res 1
p_vx:     .res 2
p_vy:     .res 2
p_safe:   .res 1
p_dead:   .res 1
air:      .res 1
air_t:    .res 1
lives:    .res 1
timer:    .res 1
dirty:    .res 1        ; bit 0 score, 1 air, 2 lives
over:     .res 1
anim:     .res 1

.bss
o_type:   .res NTHING   ; 0 = none
o_x:      .res NTHING
o_y:      .res NTHING
o_t:      .res NTHING
d_x:      .res NDART    ; 0 = none
d_y:      .res NDART
score:    .res 6
best:     .res 6

.segment "VECTORS"
        .addr nmi, reset, irq

.code
reset:  BOOT
        sta $E000               ; no scanline interrupts yet
        ldx #7
:       stx $8000               ; CHR at $0000 in two 2 KiB pages, at $1000 in four of 1 KiB; PRG swaps at $8000
        lda first_banks,x
        sta $8001
        dex
        bpl :-
        lda #0
        sta $A000               ; vertical mirroring
        cli
        jsr sound_init
        jmp title

; A = 8 KiB bank at $A000. Only called while no interrupt can come between the two writes.
set_data:
        ldx #7
        stx $8000
        sta $8001
        rts

nmi:    pha
        txa
        pha
        tya
        pha
        lda ready
        beq @shown
        lda #0
        sta OAMADDR
        lda #2
        sta OAMDMA
        jsr vram_flush
        jsr strips
        lda #0
        sta ready
@shown: lda #1                  ; the moving banks
        sta $8000
        lda anim
        lsr a
        lsr a
        lsr a
        and #3
        pha
        asl a
        adc #2
        sta $8001
        lda #4
        sta $8000
        pla
        clc
        adc #14
        sta $8001
        bit PPUSTATUS
        lda scroll_x
        sta PPUSCROLL
        lda #0
        sta PPUSCROLL
        lda scroll_n
        ora ctrl
        sta PPUCTRL
        lda mask
        sta PPUMASK
        lda strip_latch         ; five interrupts, the first counted from the pre-render line
        sta $C000
        sta $C001
        sta $E000
        sta $E001
        lda #1
        sta strip
        inc frame
        lda paused
        bne @quiet
        inc anim
        cli                     ; music may take longer than the sky is high
        jsr sound_update
@quiet: pla
        tay
        pla
        tax
        pla
        rti

; At dot 260 of the second line before a new strip: the scroll for it, the bank under it, and the next interrupt.
irq:    pha
        txa
        pha
        ldx strip
        sta $E000               ; acknowledge
        lda strip_latch,x
        sta $C000
        lda scroll_x,x
        sta PPUSCROLL
        lda #0
        sta PPUSCROLL
        lda scroll_n,x
        ora ctrl
        sta PPUCTRL
        cpx #NSTRIP-1
        beq @bar
        sta $E001
        inx
        stx strip
        pla
        tax
        pla
        rti
@bar:   lda #1                  ; the status bar has its own face
        sta $8000
        lda #10
        sta $8001
        pla
        tax
        pla
        rti

; Each strip's scroll from the way gone: /8, /4, /8, /2, whole, none.
strips: lda pos+1
        sta scroll_x+4
        lda pos+2
        sta tmp
        and #1
        sta scroll_n+4
        lda pos+1
        lsr tmp
        ror a
        sta scroll_x+3
        lda tmp
        and #1
        sta scroll_n+3
        lda scroll_x+3
        lsr tmp
        ror a
        sta scroll_x+1
        lda tmp
        and #1
        sta scroll_n+1
        lda scroll_x+1
        lsr tmp
        ror a
        sta scroll_x
        sta scroll_x+2
        lda tmp
        and #1
        sta scroll_n
        sta scroll_n+2
        lda over                ; the title's name stands still: `over` is 2 there
        cmp #2
        bne @out
        lda #0
        sta scroll_x+2
        sta scroll_n+2
@out:   rts

; Copy 2 KiB from ptr to both nametables, set the colours and the frame of the bar.
scene_load:
        PPU_AT $2000
        ldx #8
        ldy #0
:       lda (ptr),y
        sta PPUDATA
        iny
        bne :-
        inc ptr+1
        dex
        bne :-
        PPU_AT $2340
        ldx #32
        lda #$F0
:       sta PPUDATA
        dex
        bne :-
        PPU_AT $3F00
        ldx #0
:       lda palettes,x
        sta PPUDATA
        inx
        cpx #32
        bne :-
        rts

.macro SCENE names
        jsr screen_off
        lda #1
        jsr set_data
        lda #<(names)
        sta ptr
        lda #>(names)
        sta ptr+1
        jsr scene_load
        lda #2
        jsr set_data
.endmacro

go_on:  lda pos                 ; the way gone, and how many pixels that is for what drifts
        clc
        adc speed
        sta pos
        lda speed+1
        adc #0
        sta step
        clc
        adc pos+1
        sta pos+1
        bcc :+
        inc pos+2
:       rts

; ---------------------------------------------------------------------------------------------------- title
title:  SCENE title_names
        TEXT txt_press, $80
        TEXT txt_best, $80
        ldx #0
:       lda best,x
        clc
        adc #'0'+$80
        sta PPUDATA
        inx
        cpx #6
        bne :-
        lda #2
        sta over
        lda #0
        sta timer
        sta paused
        sta pos+1
        sta pos+2
        lda #$C0
        sta speed
        lda #0
        sta speed+1
        SONG SONG_TITLE
        lda #$88                ; 8x8 sprites
        jsr screen_on
@loop:  inc timer
        jsr go_on
        jsr bubbles
        jsr end_frame
        lda pad_new
        and #KEY_START
        beq @loop
        lda frame
        ora #1
        sta rnd
        SFX SFX_SELECT
        ldx #24
:       txa
        pha
        jsr go_on
        jsr bubbles
        jsr end_frame
        pla
        tax
        dex
        bne :-
        jmp new_game

; Sixteen bubbles of 8x8 sprites rise in file, every other one half as fast
bubbles:
        ldx #0
        ldy #15
@next:  tya
        lsr a
        lda frame
        bcc :+
        lsr a
:       sta tmp
        lda bubble_y,y
        sec
        sbc tmp
        and #$7F
        clc
        adc #72
        sta $0200,x
        lda #SPR_DOT
        sta $0201,x
        lda #$20
        sta $0202,x
        lda $0200,x
        lsr a
        lsr a
        and #7
        stx tmp
        tax
        lda wobble,x
        ldx tmp
        clc
        adc bubble_x,y
        sta $0203,x
        inx
        inx
        inx
        inx
        dey
        bpl @next
        stx oamn
        rts

; ---------------------------------------------------------------------------------------------------- a game
new_game:
        SCENE scene_names
        lda #0
        ldx #5
:       sta score,x
        dex
        bpl :-
        ldx #NTHING-1
:       sta o_type,x
        dex
        bpl :-
        sta over
        sta timer
        sta d_x
        sta d_x+1
        sta p_dead
        lda #$20
        sta speed
        lda #1
        sta speed+1
        lda #3
        sta lives
        jsr list_start
        jsr sub_start
        TEXT txt_bar, $80
        lda #7
        sta dirty
        SONG SONG_PLAY
        lda #$A0                ; 8x16 sprites
        jsr screen_on
        lda #$1A                ; sprites leave under the left edge
        sta mask
play:   jsr go_on
        jsr list_run
        jsr sub_move
        jsr darts_move
        jsr things_move
        jsr breathe
        jsr status
        jsr draw
        jsr end_frame
        lda over
        bne @over
        lda pad_new
        and #KEY_START
        beq play
        lda #1
        sta paused
        jsr sound_hush
        lda #$5A                ; green and dim while it waits
        sta mask
@wait:  jsr draw
        jsr end_frame
        lda pad_new
        and #KEY_START
        beq @wait
        lda #$1A
        sta mask
        lda #0
        sta paused
        beq play
@over:  inc timer
        lda timer
        cmp #250
        bne play
        jmp title

.include "sub.inc"
.include "things.inc"
.include "show.inc"

.rodata
first_banks:
        .byte 0, 2, 12, 13, 14, 18, 0, 2
; Lines to count for each interrupt: at 46, 62, 118, 174 and 206, two above a new strip
strip_latch:
        .byte 47, 15, 55, 55, 31, 31
palettes:
        .byte $21, $31,$30,$01,  $21, $11,$31,$01,  $21, $11,$0B,$1A,  $21, $11,$37,$25
        .byte $21, $07,$27,$38,  $21, $04,$24,$34,  $21, $07,$17,$37,  $21, $0F,$10,$30
txt_press:
        .byte $23, $6A, "PRESS START", 0
txt_best:
        .byte $23, $8A, "BEST ", 0
txt_bar:
        .byte $23, $62, "SCORE         AIR", 0
txt_over:
        .byte $23, $8B, 9, "GAME OVER"
bubble_x: .byte 20, 52, 90, 118, 150, 180, 210, 236, 34, 70, 104, 134, 166, 196, 224, 248
bubble_y: .byte 0, 90, 30, 70, 110, 15, 60, 100, 45, 120, 10, 80, 35, 105, 55, 25
wobble: .byte 0, 1, 2, 3, 3, 2, 1, 0
