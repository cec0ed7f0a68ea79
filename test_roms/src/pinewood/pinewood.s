; PINEWOOD: a fox gathers cones on its way home through the forest. NROM-256, vertical mirroring.
;   Left/Right run, A jumps (longer when held), B throws an acorn, Start begins and pauses.
; What it exercises: column streaming into two nametables, a status bar split off by sprite 0, 8x8 sprites on the
; title and 8x16 in play, colour emphasis in the pause, all five sound channels, pad reads that survive DMC fetches.
.include "nes.inc"
.include "boot.inc"
.include "pinewood_assets.inc"
.include "frame.inc"
.import SONG_TITLE, SONG_PLAY, SONG_CLEAR, SONG_OVER
.import mt_tl, mt_tr, mt_bl, mt_br, mt_pal, mt_solid, logo_top, logo_bottom, level_chunks

RING    = $0400         ; 32 columns of 16 metatiles: what the screen shows, for collisions
NENEMY  = 6
NSHOT   = 2
NPUFF   = 3
GOAL_COLS = 224         ; seven chunks of 32
CAM_MAX = GOAL_COLS * 16 - 256

HEDGEHOG = 1
CROW     = 2
BURR     = 3

.segment "HEADER"
        INES_HEADER 2, 1, 0, 1, 0

.zeropage
split:    .res 1
paused:   .res 1
cam:      .res 2
cam_show: .res 2        ; latched with the sprites, so that picture and sprites never part
qx:       .res 2        ; a point in the world, for tile_at
cell:     .res 1
dx:       .res 2
dy:       .res 1
dt:       .res 1
da:       .res 1
col_next: .res 1
col_step: .res 1
p_xs:     .res 1
p_x:      .res 2
p_ys:     .res 1
p_y:      .res 1
p_old:    .res 1
p_vx:     .res 2
p_vy:     .res 2
p_face:   .res 1        ; 0 right, $40 left
p_ground: .res 1
p_anim:   .res 1
p_safe:   .res 1        ; frames without harm
stage:    .res 1
lives:    .res 1
timer:    .res 2
dirty:    .res 1

.bss
ring:     .res 512
e_type:   .res NENEMY
e_xs:     .res NENEMY
e_xl:     .res NENEMY
e_xh:     .res NENEMY
e_y:      .res NENEMY
e_t:      .res NENEMY
e_dir:    .res NENEMY
s_on:     .res NSHOT
s_xl:     .res NSHOT
s_xh:     .res NSHOT
s_y:      .res NSHOT
s_vy:     .res NSHOT
f_t:      .res NPUFF
f_xl:     .res NPUFF
f_xh:     .res NPUFF
f_y:      .res NPUFF
score:    .res 6
hiscore:  .res 6
cones:    .res 2
flies:    .res 32       ; the title's fireflies: x, y, phase, speed
pal_now:  .res 32

.assert ring = RING, lderror, "the ring must stand at $0400"

.segment "VECTORS"
        .addr nmi, reset, irq

.code
reset:  BOOT
        jsr sound_init
        lda #$A5
        sta rnd
        jmp title

irq:    rti

; ---------------------------------------------------------------------------------------------------- the frame
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
        lda cam
        sta cam_show
        lda cam+1
        sta cam_show+1
        lda #0
        sta ready
@shown: bit PPUSTATUS
        lda #0
        sta PPUSCROLL
        sta PPUSCROLL
        lda ctrl
        sta PPUCTRL
        lda mask
        sta PPUMASK
        inc frame
        lda paused
        bne @quiet
        jsr sound_update
@quiet: lda split
        beq @out
@clear: bit PPUSTATUS           ; last frame's hit is cleared with the VBL flag, at the pre-render line
        bvs @clear
@wait:  bit PPUSTATUS
        bmi @out                ; a whole frame without a hit: leave the split out
        bvc @wait
        lda cam_show
        sta PPUSCROLL
        lda #0
        sta PPUSCROLL
        lda cam_show+1
        and #1
        ora ctrl
        sta PPUCTRL
@out:   pla
        tay
        pla
        tax
        pla
        rti

; A = stage: its sixteen background colours, then the sprites'
palette_load:
        and #3
        asl a
        asl a
        asl a
        asl a
        tay
        PPU_AT $3F00
        ldx #0
:       lda palettes,y
        sta PPUDATA
        sta pal_now,x
        iny
        inx
        cpx #16
        bne :-
        ldy #0
:       lda pal_sprites,y
        cpy #0
        bne :+
        lda pal_now
:       sta PPUDATA
        iny
        cpy #16
        bne :--
        rts

; ---------------------------------------------------------------------------------------------------- a game
new_game:
        lda #0
        ldx #5
:       sta score,x
        dex
        bpl :-
        sta cones
        sta cones+1
        sta stage
        lda #3
        sta lives
        lda #0
        sta p_x+1
        jmp load_stage

next_stage:
        inc stage
        lda #0
        sta p_x+1
; Begin at the chunk in which the fox stands.
load_stage:
        lda #0
        sta split
        jsr screen_off
        jsr wipe
        jsr clear_things
        lda stage
        jsr palette_load
        jsr status_bar
        lda p_x+1
        and #$FE
        sta cam+1
        sta p_x+1
        asl a                   ; 256 pixels are 16 columns
        asl a
        asl a
        asl a
        sta col_next
        lda #0
        sta col_step
        sta cam
        sta p_vx
        sta p_vx+1
        sta p_vy
        sta p_vy+1
        sta p_face
        sta p_xs
        sta p_ys
        sta paused
        lda #48
        sta p_x
        lda #144
        sta p_y
        lda #120
        sta p_safe
@fill:  lda #0
        sta vqn
        lda col_next
        sta tmp+3
        jsr stream
        lda vqn
        beq @filled             ; nothing more to draw
        ldx vqn
        lda #0
        sta vq,x
        jsr vram_flush
        jmp @fill
@filled:
        lda #0
        sta PPUCTRL
        SONG SONG_PLAY
        lda #$07
        sta dirty
        lda #$A0                ; 8x16 sprites
        jsr screen_on
        jsr play_sprites
        jsr end_frame
        lda #1
        sta split

play:   jsr status_update
        jsr stream
        jsr player_move
        jsr enemies_move
        jsr shots_move
        jsr puffs_move
        jsr camera_move
        jsr play_sprites
        jsr end_frame
        lda pad_new
        and #KEY_START
        beq @go
        jsr pause
@go:    lda p_y
        cmp #236
        bcs die                 ; fell
        lda timer+1             ; set by what touches the fox: 1 harm, 2 home
        beq play
        cmp #2
        bne die
        jmp stage_clear

pause:  lda #1
        sta paused
        jsr sound_hush
        lda #$FE                ; all three emphasis bits: the forest goes dark
        sta mask
@wait:  jsr play_sprites
        jsr end_frame
        lda pad_new
        and #KEY_START
        beq @wait
        lda #$1E
        sta mask
        lda #0
        sta paused
        rts

die:    lda #0
        sta timer+1
        jsr music_stop
        SFX SFX_HURT
        lda #$FB                ; thrown up, then down through everything
        sta p_vy+1
        lda #0
        sta p_vy
        lda p_y
        cmp #200
        bcc :+
        lda #200
        sta p_y
:       ldx #0
        stx timer
@fall:  jsr status_update
        lda p_y
        cmp #244
        bcs @down
        jsr gravity
        lda p_ys
        clc
        adc p_vy
        sta p_ys
        lda p_y
        adc p_vy+1
        sta p_y
@down:  lda #SPR_FOX_HIT
        sta p_anim
        jsr play_sprites_as
        jsr end_frame
        inc timer
        lda timer
        cmp #110
        bne @fall
        dec lives
        beq game_over
        jmp load_stage

stage_clear:
        lda #0
        sta timer+1
        sta timer
        SONG SONG_CLEAR
        ldx #2
        lda #1
        jsr add_score
@wait:  jsr status_update
        jsr puffs_move
        lda #SPR_FOX_STAND
        sta p_anim
        jsr play_sprites_as
        jsr end_frame
        inc timer
        lda timer
        cmp #170
        bne @wait
        jmp next_stage

game_over:
        ldx #0                  ; a new best?
@cmp:   lda score,x
        cmp hiscore,x
        bcc @old
        bne @new
        inx
        cpx #6
        bne @cmp
@new:   ldx #5
:       lda score,x
        sta hiscore,x
        dex
        bpl :-
@old:   lda #0                  ; no status bar, no sprite 0: the NMI must not wait for it
        sta split
        jsr screen_off
        jsr wipe
        lda #3
        jsr palette_load
        PPU_AT $3F00            ; on black
        lda #$0F
        sta PPUDATA
        TEXT txt_over, 0
        TEXT txt_score, 0
        ldx #0
:       lda score,x
        clc
        adc #'0'
        sta PPUDATA
        inx
        cpx #6
        bne :-
        SONG SONG_OVER
        lda #0
        sta timer
        sta cam
        sta cam+1
        lda #$A0
        jsr screen_on
@wait:  lda #0
        sta dx+1
        lda #120
        sta dx
        lda #136
        sta dy
        lda #0
        sta da
        lda #SPR_FOX_HIT
        sta dt
        jsr draw16
        jsr end_frame
        inc timer
        beq @end
        lda timer
        cmp #60
        bcc @wait
        lda pad_new
        and #KEY_START
        beq @wait
@end:   jmp title

clear_things:
        lda #0
        ldx #NENEMY-1
:       sta e_type,x
        dex
        bpl :-
        sta s_on
        sta s_on+1
        sta f_t
        sta f_t+1
        sta f_t+2
        sta timer+1
        rts

.include "map.inc"
.include "sprites.inc"
.include "title.inc"
.include "status.inc"
.include "fox.inc"
.include "others.inc"
.include "draw.inc"

.rodata
e_pal:  .byte 0, $41, 2, 1      ; the hedgehog is drawn facing right and starts to the left
e_turn: .byte 0, $40, $40, 0
e_pic:  .byte 0, 0, SPR_HEDGE1, SPR_HEDGE2, SPR_CROW1, SPR_CROW2, SPR_BURR1, SPR_BURR1
wave:   .byte 0, 1, 2, 4, 5, 6, 7, 7, 7, 7, 6, 5, 4, 2, 1, 0
wave_step: .byte 1, 2, 2, 3, 2, 2, 1, 0, 255, 254, 254, 253, 254, 254, 255, 0
stage_chunks:                   ; eight a row: the forest of each stage; the last holds the cabin
        .byte 0, 1, 2, 3, 5, 4, 6, 6
        .byte 0, 3, 4, 1, 2, 5, 6, 6
        .byte 0, 5, 1, 4, 3, 2, 6, 6
        .byte 0, 2, 5, 3, 4, 1, 6, 6
palettes:                       ; noon, autumn, winter, night
        .byte $21, $0F,$30,$27,  $21, $07,$17,$29,  $21, $0B,$1A,$2A,  $21, $07,$17,$28
        .byte $36, $07,$30,$26,  $36, $07,$17,$27,  $36, $06,$16,$27,  $36, $07,$17,$28
        .byte $31, $01,$30,$21,  $31, $00,$10,$30,  $31, $0C,$1B,$30,  $31, $07,$17,$37
        .byte $01, $0F,$30,$27,  $01, $0F,$07,$1A,  $01, $0F,$0B,$1B,  $01, $07,$17,$27
pal_sprites:
        .byte $21, $07,$27,$37,  $21, $0F,$17,$27,  $21, $0F,$11,$28,  $21, $07,$28,$30
txt_press:
        .byte $21, $CA, "PRESS START", 0
txt_line:
        .byte $21, $65, "THE FOX'S WAY HOME", 0
txt_over:
        .byte $21, $AB, "GAME OVER", 0
txt_score:
        .byte $22, $89, "SCORE ", 0
txt_bar1:
        .byte $20, $22, "SCORE 000000   *00   FOX*3", 0
txt_bar2:
        .byte $20, $42, "HI    ", 0
txt_stage:
        .byte $20, $51, "STAGE ", 0
