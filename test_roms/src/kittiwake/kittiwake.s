; KITTIWAKE: a seaplane over a hundred isles. MMC1 (SNROM): 64 KiB PRG, 8 KiB CHR RAM, 8 KiB battery RAM.
;   The pad flies, A or B shoots (hold it), Start begins and pauses.
; What it exercises: PRG banks switched in the NMI handler, pattern tables copied to CHR RAM and animated there, rows
; streamed upwards through two nametables with horizontal mirroring, a best score kept in battery RAM, 8x8 sprites on
; the title and 8x16 in play.
.include "nes.inc"
.include "boot.inc"
.include "frame.inc"
.include "kittiwake_assets.inc"
.import SONG_TITLE, SONG_PLAY, SONG_OVER
.import level, waves, chr_title, chr_game, chr_sprites, title_names, ripples

NENEMY  = 8
NSHOT   = 6
NBULLET = 6
NBOOM   = 4
SCREENS = 8

BANK_LEVEL = 0
BANK_MUSIC = 1
BANK_GFX   = 2

DRONE = 1
DIVER = 2
BOAT  = 3
CARRIER = 4             ; a drone with a prize

.segment "HEADER"
        NES20_HEADER 4, 0, 1, 0, 0, 0, 7, 7

.zeropage
paused:   .res 1
sy:       .res 1        ; scroll, 0 to 239, and the nametable it stands in
nt:       .res 1
sy_frac:  .res 1
sy_step:  .res 1        ; pixels the world moved this frame
sy_show:  .res 1
nt_show:  .res 1
screen:   .res 1        ; the screen at the top of the picture
wave:     .res 2        ; place in the list of waves
wait:     .res 1        ; rows until the next
loops:    .res 1        ; how often the world has gone round
p_x:      .res 1
p_y:      .res 1
p_bank:   .res 1
p_safe:   .res 1
p_dead:   .res 1
p_fire:   .res 1
p_power:  .res 1
lives:    .res 1
timer:    .res 2
form_n:   .res 1        ; drones still to come of a formation
form_t:   .res 1
form_x:   .res 1
form_k:   .res 1
over:     .res 1

.bss
e_type:   .res NENEMY
e_x:      .res NENEMY
e_y:      .res NENEMY
e_t:      .res NENEMY
e_base:   .res NENEMY
e_hp:     .res NENEMY
s_y:      .res NSHOT    ; 0 = none
s_x:      .res NSHOT
s_dx:     .res NSHOT
b_y:      .res NBULLET  ; 0 = none
b_x:      .res NBULLET
b_dx:     .res NBULLET
b_dy:     .res NBULLET
x_t:      .res NBOOM
x_x:      .res NBOOM
x_y:      .res NBOOM
i_y:      .res 1        ; the prize; 0 = none
i_x:      .res 1
score:    .res 6
.segment "SAVE"
save_mark: .res 2
save_best: .res 6
save_sum:  .res 1

.segment "VECTORS"
        .addr nmi, reset, irq

.code
reset:  BOOT
        lda #$80                ; the board's shift register and control, whatever they hold
        sta $8000
        lda #$0F                ; horizontal mirroring, last PRG bank fixed at $C000, 8 KiB of CHR
        sta $8000
        lsr a
        sta $8000
        lsr a
        sta $8000
        lsr a
        sta $8000
        lsr a
        sta $8000
        lda #0
        ldx #4
:       sta $A000               ; CHR bank 0, which also keeps SNROM's RAM enabled
        dex
        bpl :-
        jsr best_check
        jsr sound_init
        lda #$5B
        sta rnd
        jmp title

irq:    rti

; A = PRG bank at $8000, RAM enabled. Main only calls this while NMI is off: five writes must not be torn apart.
set_bank:
        sta $E000
        lsr a
        sta $E000
        lsr a
        sta $E000
        lsr a
        sta $E000
        lsr a
        sta $E000
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
        lda sy
        sta sy_show
        lda nt
        sta nt_show
        lda #0
        sta ready
@shown: bit PPUSTATUS
        lda #0
        sta PPUSCROLL
        lda sy_show
        sta PPUSCROLL
        lda nt_show
        asl a
        ora ctrl
        sta PPUCTRL
        lda mask
        sta PPUMASK
        inc frame
        lda paused
        bne @quiet
        lda #BANK_MUSIC
        jsr set_bank
        jsr sound_update
        lda #BANK_LEVEL
        jsr set_bank
@quiet: pla
        tay
        pla
        tax
        pla
        rti

; The best score in battery RAM: two marks, six digits and their sum. Anything else is a fresh battery.
best_check:
        lda save_mark
        cmp #'K'
        bne best_clear
        lda save_mark+1
        cmp #'W'
        bne best_clear
        jsr best_sum
        cmp save_sum
        bne best_clear
        rts
best_clear:
        lda #0
        ldx #5
:       sta save_best,x
        dex
        bpl :-
best_seal:
        lda #'K'
        sta save_mark
        lda #'W'
        sta save_mark+1
        jsr best_sum
        sta save_sum
        rts
best_sum:
        lda #$A5
        ldx #5
        clc
:       adc save_best,x
        dex
        bpl :-
        rts

; Copy X pages from ptr to VRAM, where PPUADDR stands.
copy_pages:
        ldy #0
:       lda (ptr),y
        sta PPUDATA
        iny
        bne :-
        inc ptr+1
        dex
        bne :-
        rts

.macro COPY from, to, pages
        PPU_AT to
        lda #<(from)
        sta ptr
        lda #>(from)
        sta ptr+1
        ldx #pages
        jsr copy_pages
.endmacro

; A = 16 times which set of background colours; then the sprites' colours
palette_load:
        tay
        lda palettes,y          ; colour 0 of the sprites is the background's: one and the same cell
        sta tmp
        PPU_AT $3F00
        ldx #16
:       lda palettes,y
        sta PPUDATA
        iny
        dex
        bne :-
        ldx #0
@sprite:
        lda pal_sprites,x
        cpx #0
        bne :+
        lda tmp
:       sta PPUDATA
        inx
        cpx #16
        bne @sprite
        rts

.include "title.inc"

; ---------------------------------------------------------------------------------------------------- a game
new_game:
        lda #0
        ldx #5
:       sta score,x
        dex
        bpl :-
        sta loops
        sta over
        sta timer
        sta p_dead
        sta screen
        sta sy
        sta nt
        sta sy_frac
        sta form_n
        sta i_y
        sta paused
        ldx #NENEMY-1
:       sta e_type,x
        dex
        bpl :-
        ldx #NSHOT-1
:       sta s_y,x
        sta b_y,x
        dex
        bpl :-
        ldx #NBOOM-1
:       sta x_t,x
        dex
        bpl :-
        lda #3
        sta lives
        jsr screen_off
        jsr music_stop
        lda #BANK_GFX
        jsr set_bank
        COPY chr_game, $0000, 16
        COPY chr_sprites, $1000, 16
        lda #BANK_LEVEL
        jsr set_bank
        COPY level, $2000, 4
        COPY level+$400, $2800, 4
        lda #16
        jsr palette_load
        jsr waves_start
        jsr player_start
        SONG SONG_PLAY
        lda #$A0
        jsr screen_on

play:   jsr world_move
        jsr ripple
        jsr waves_run
        jsr player_move
        jsr shots_move
        jsr enemies_move
        jsr bullets_move
        jsr item_move
        jsr booms_move
        jsr draw
        jsr end_frame
        lda over
        bne @over
        lda pad_new
        and #KEY_START
        beq play
        lda #1                  ; pause: grey, and silent
        sta paused
        jsr sound_hush
        lda #$1F
        sta mask
@wait:  jsr draw
        jsr end_frame
        lda pad_new
        and #KEY_START
        beq @wait
        lda #$1E
        sta mask
        lda #0
        sta paused
        beq play
@over:  inc timer
        lda timer
        cmp #240
        bne play
        jmp title

; ---------------------------------------------------------------------------------------------------- the world
; Three quarters of a pixel a frame, upwards. At every eighth pixel the row just left at the foot of the picture is
; rewritten with the row that will come in at the top when the picture has gone once round.
world_move:
        lda #0
        sta sy_step
        lda sy_frac
        clc
        adc #$C0
        sta sy_frac
        bcs @move
@rts:   rts
@move:  inc sy_step
        lda sy
        bne @same
        lda #240
        sta sy
        lda nt
        eor #1
        sta nt
        lda screen
        clc
        adc #1
        and #SCREENS-1
        sta screen
@same:  dec sy
        lda sy
        and #7
        bne @rts
        dec wait                ; waves count rows
        lda screen              ; source: the screen after this one
        clc
        adc #1
        and #SCREENS-1
        asl a
        asl a
        clc
        adc #>level
        sta ptr+1
        lda #<level
        sta ptr
        lda sy                  ; row * 32 = sy * 4
        sta tmp
        lda #0
        sta tmp+1
        asl tmp
        rol tmp+1
        asl tmp
        rol tmp+1
        lda nt                  ; into the other nametable
        eor #1
        asl a
        asl a
        asl a
        ora #$20
        sta tmp+2
        lda ptr
        clc
        adc tmp
        sta ptr
        lda ptr+1
        adc tmp+1
        sta ptr+1
        ldx vqn
        lda tmp+2
        ora tmp+1
        sta vq,x
        lda tmp
        sta vq+1,x
        lda #32
        sta vq+2,x
        inx
        inx
        inx
        ldy #0
:       lda (ptr),y
        sta vq,x
        inx
        iny
        cpy #32
        bne :-
        lda sy
        and #$1F
        bne @done
        lda ptr                 ; attributes: 960 on, 8 for every four rows
        sec
        sbc tmp
        sta ptr
        lda ptr+1
        sbc tmp+1
        sta ptr+1
        lda sy
        lsr a
        lsr a
        clc
        adc #$C0
        sta tmp
        lda tmp+2
        ora #3
        sta vq,x
        lda tmp
        sta vq+1,x
        lda #8
        sta vq+2,x
        inx
        inx
        inx
        lda ptr+1
        clc
        adc #3
        sta ptr+1
        ldy tmp
        lda #8
        sta tmp+1
:       lda (ptr),y
        sta vq,x
        inx
        iny
        dec tmp+1
        bne :-
@done:  stx vqn
        rts

; Two ripples on the water, rewritten in CHR RAM every sixteenth frame
ripple: lda frame
        and #15
        cmp #5
        bne @out
        lda vqn
        bne @out                ; not on top of a row
        lda #$01
        sta vq
        lda #$00
        sta vq+1
        lda #32
        sta vq+2
        lda frame
        and #$30
        asl a
        tay
        ldx #0
:       lda ripples,y
        sta vq+3,x
        iny
        inx
        cpx #32
        bne :-
        lda #35
        sta vqn
@out:   rts

; Digit X of the score += A, with carries. An extra aircraft at every ten thousand.
add_score:
        clc
        adc score,x
@digit: cmp #10
        bcc @store
        sbc #10
        sta score,x
        dex
        bmi @full
        cpx #1
        bne :+
        ldy lives
        cpy #9
        bcs :+
        inc lives
:       lda score,x
        clc
        adc #1
        jmp @digit
@store: sta score,x
@full:  rts

.include "player.inc"
.include "enemies.inc"
.include "draw.inc"

.rodata
palettes:                       ; title, play
        .byte $03, $0F,$27,$30,  $03, $15,$26,$37,  $03, $01,$13,$27,  $03, $0F,$10,$30
        .byte $11, $21,$31,$38,  $11, $0A,$29,$38,  $11, $0F,$10,$30,  $11, $0F,$10,$30
pal_sprites:
        .byte $11, $0F,$10,$30,  $11, $0F,$16,$27,  $11, $0F,$00,$10,  $11, $06,$27,$38
sine:   .byte 0, 5, 11, 16, 20, 23, 26, 27, 28, 27, 26, 23, 20, 16, 11, 5
        .byte 0, 251, 245, 240, 236, 233, 230, 229, 228, 229, 230, 233, 236, 240, 245, 251
txt_press:
        .byte $22, $CA, "PRESS START", 0
txt_best:
        .byte $21, $2A, "BEST ", 0
txt_licence:
        .byte $23, $45, "A ROM OF PYNES-REF, MIT", 0
