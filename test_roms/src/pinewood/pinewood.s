; PINEWOOD: a fox gathers cones on its way home through the forest. NROM-256, vertical mirroring.
;   Left/Right run, A jumps (longer when held), B throws an acorn, Start begins and pauses.
; What it exercises: column streaming into two nametables, a status bar split off by sprite 0, 8x8 sprites on the
; title and 8x16 in play, colour emphasis in the pause, all five sound channels, pad reads that survive DMC fetches.
.include "nes.inc"
.include "boot.inc"
.include "pinewood_assets.inc"
.import sound_init, sound_update, music_play, music_stop, sfx_play, sound_hush
.import SFX_PICK, SFX_JUMP, SFX_SHOT, SFX_STOMP, SFX_HURT, SFX_SELECT, SFX_POWER
.import SONG_TITLE, SONG_PLAY, SONG_CLEAR, SONG_OVER
.import pad_read
.importzp pad_held, pad_new
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
frame:    .res 1
ready:    .res 1        ; the frame's OAM and VRAM queue are complete
split:    .res 1
paused:   .res 1
ctrl:     .res 1
mask:     .res 1
cam:      .res 2
cam_show: .res 2        ; latched with the sprites, so that picture and sprites never part
vqn:      .res 1
oamn:     .res 1
tmp:      .res 4
ptr:      .res 2
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
rnd:      .res 1

.bss
vq:       .res 160
.res $0400 - $0300 - 160        ; the ring stands at $0400
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

; Queue entries: address high (bit 7: go down), low, count, bytes. A zero ends it.
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

; Hand the frame over and wait until it is shown.
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

screen_off:
        lda #0
        sta mask
        sta split
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
        sta PPUCTRL
        lda #$1E
        sta mask
        rts

; Both nametables blank, attributes zero.
wipe:   PPU_AT $2000
        ldx #8
        lda #0
        tay
:       sta PPUDATA
        iny
        bne :-
        dex
        bne :-
        rts

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

; Text at ptr: address high, low, characters, 0. X = added to each character ($80 = the boxed face)
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
        bne @next
@out:   rts

.macro TEXT where, plus
        lda #<(where)
        sta ptr
        lda #>(where)
        sta ptr+1
        ldx #plus
        jsr text
.endmacro

.macro SFX n
        lda #<(n)
        jsr sfx_play
.endmacro

.macro SONG n
        lda #<(n)
        jsr music_play
.endmacro

random: lda rnd                 ; Galois LFSR, period 255
        lsr a
        bcc :+
        eor #$B8
:       sta rnd
        rts

; ---------------------------------------------------------------------------------------------------- the map
; Three steps a column, one a frame: left tiles, right tiles, attributes.
stream: lda col_next
        cmp #GOAL_COLS
        bcs @none
        lsr a                   ; column * 16 - camera < 304 ?
        lsr a
        lsr a
        lsr a
        sta tmp+1
        lda col_next
        asl a
        asl a
        asl a
        asl a
        sec
        sbc cam
        sta tmp
        lda tmp+1
        sbc cam+1
        beq @go
        cmp #1
        bne @far
        lda tmp
        cmp #48
        bcc @go
@none:  rts
@far:   bmi @go
        rts
@go:    lda col_step
        beq column_left
        cmp #1
        bne :+
        jmp column_right
:       jmp column_attr

; ptr = the column's place in the ring
ring_column:
        lda col_next
        and #$10
        lsr a
        lsr a
        lsr a
        lsr a
        ora #>RING
        sta ptr+1
        lda col_next
        asl a
        asl a
        asl a
        asl a
        sta ptr
        rts

column_left:
        lda col_next            ; chunk -> source
        lsr a
        lsr a
        lsr a
        lsr a
        lsr a
        sta tmp
        lda stage
        and #3
        asl a
        asl a
        asl a
        clc
        adc tmp
        tay
        lda stage_chunks,y
        asl a
        clc
        adc #>level_chunks
        sta tmp+1
        lda col_next
        and #$1F
        lsr a
        lsr a
        lsr a
        lsr a
        clc
        adc tmp+1
        sta tmp+1
        lda col_next
        asl a
        asl a
        asl a
        asl a
        clc
        adc #<level_chunks
        sta tmp
        bcc :+
        inc tmp+1
:       jsr ring_column
        ldy #0
@copy:  lda (tmp),y
        iny
        iny
        sta (ptr),y
        dey
        cpy #13
        bne @copy
        lda (tmp),y
        beq :+
        jsr spawn
:       lda #0
        ldy #15
        sta (ptr),y
        ldy #0
        sta (ptr),y
        iny
        sta (ptr),y
        jsr column_head
        lda col_next
        and #15
        asl a
        ora #$80
        jsr column_low
        jmp column_tiles

column_right:
        jsr ring_column
        jsr column_head
        lda col_next
        and #15
        asl a
        ora #$81
        jsr column_low
        jmp column_tiles

; Queue entry for a column of 26 tiles: the high byte; then the low byte and the count.
column_head:
        ldx vqn
        lda col_next
        lsr a
        lsr a
        and #4
        ora #$A0
        sta vq,x
        inx
        rts
column_low:
        sta vq,x
        inx
        lda #26
        sta vq,x
        inx
        ldy #2
        sty tmp+2
        rts
; The 26 tiles of the column's left (step 0) or right half, metatile rows 2 to 14.
column_tiles:
@row:   lda (ptr),y
        tay
        lda col_step
        bne @right
        lda mt_tl,y
        sta vq,x
        inx
        lda mt_bl,y
        jmp @second
@right: lda mt_tr,y
        sta vq,x
        inx
        lda mt_br,y
@second:
        sta vq,x
        inx
        inc tmp+2
        ldy tmp+2
        cpy #15
        bne @row
        stx vqn
        inc col_step
        rts

column_attr:
        jsr ring_column
        lda ptr
        and #$E0
        sta ptr                 ; the even column of the pair
        lda #1
        sta tmp+2               ; attribute row
        ldx vqn
@row:   lda col_next
        lsr a
        lsr a
        and #4
        ora #$23
        sta vq,x
        inx
        lda tmp+2
        asl a
        asl a
        asl a
        sta tmp
        lda col_next
        lsr a
        and #7
        ora tmp
        ora #$C0
        sta vq,x
        inx
        lda #1
        sta vq,x
        inx
        lda tmp+2
        asl a
        tay                     ; row of the upper metatiles
        stx tmp+3
        lda #0
        sta tmp
        jsr @pal                ; upper left
        tya
        ora #$10
        tay
        jsr @pal                ; upper right
        tya
        and #$0F
        clc
        adc #1
        tay
        jsr @pal                ; lower left
        tya
        ora #$10
        tay
        jsr @pal
        ldx tmp+3
        lda tmp
        sta vq,x
        inx
        inc tmp+2
        lda tmp+2
        cmp #8
        bne @row
        stx vqn
        lda #0
        sta col_step
        inc col_next
        rts
; tmp = tmp >> 2 with the palette of the cell at (ptr),y on top
@pal:   lda (ptr),y
        tax
        lda mt_pal,x
        lsr a
        ror a
        ror a
        lsr tmp
        lsr tmp
        ora tmp
        sta tmp
        rts

; Point qx, A = y: A = what is there (0 nothing, 1 solid, 2 from above, 3 pick-up, 4 goal), Z set on nothing; Y = its
; place in the ring's page, cell = the metatile.
tile_at:
        cmp #240
        bcs @none
        cmp #32
        bcc @none
        lsr a
        lsr a
        lsr a
        lsr a
        sta tmp
        lda qx
        and #$F0
        ora tmp
        tay
        lda qx+1
        lsr a
        bcs @odd
        lda RING,y
        jmp @have
@odd:   lda RING+$100,y
@have:  sta cell
        tax
        lda mt_solid,x
        rts
@none:  lda #0
        rts

; qx = p_x + A
.macro POINT_X offset
        lda p_x
        clc
        adc #offset
        sta qx
        lda p_x+1
        adc #0
        sta qx+1
.endmacro

; ---------------------------------------------------------------------------------------------------- sprites
; dx (16 bit, on screen), dy, dt = left half's tile, da = attributes: 16x16 as two 8x16 halves, cut at the edges.
draw16: ldx oamn
        lda da
        and #$40
        beq @plain
        lda dt
        clc
        adc #2
        jsr half
        lda dt
        jmp @second
@plain: lda dt
        jsr half
        lda dt
        clc
        adc #2
@second:
        pha
        lda dx
        clc
        adc #8
        sta dx
        bcc :+
        inc dx+1
:       pla
; A = tile: one 8x16 sprite at dx, dy if that is on screen
half:   ldy dx+1
        bne @off
        ldx oamn
        ora #1
        sta $0201,x
        lda dy
        cmp #239
        bcs @off
        sbc #0                  ; carry clear: OAM holds the line above
        sta $0200,x
        lda da
        sta $0202,x
        lda dx
        sta $0203,x
        inx
        inx
        inx
        inx
        beq @off                ; never wrap over sprite 0
        stx oamn
@off:   rts

; The marker whose last line lies on the plank at the foot of the status bar. It must be drawn first.
sprite_zero:
        lda #13
        sta $0200
        lda #SPR_MARKER|1
        sta $0201
        lda #$20                ; behind the background: invisible, and still a hit
        sta $0202
        lda #244
        sta $0203
        lda #4
        sta oamn
        rts

.macro TO_SCREEN lo, hi
        lda lo
        sec
        sbc cam
        sta dx
        lda hi
        sbc cam+1
        sta dx+1
.endmacro

; ---------------------------------------------------------------------------------------------------- title
title:  jsr screen_off
        lda #0
        sta cam
        sta cam+1
        sta stage
        sta col_next
        sta col_step
        jsr wipe
        jsr clear_things
        lda #3                  ; the first picture is by night
        jsr palette_load
@fill:  lda #0
        sta vqn
        jsr stream
        ldx vqn
        lda #0
        sta vq,x
        jsr vram_flush
        lda col_next
        cmp #16
        bne @fill
        lda #0
        sta PPUCTRL
        jsr clear_things        ; the map's enemies have no place here
        PPU_AT $2108
        ldx #0
:       lda logo_top,x
        sta PPUDATA
        inx
        cpx #16
        bne :-
        PPU_AT $2128
        ldx #0
:       lda logo_bottom,x
        sta PPUDATA
        inx
        cpx #16
        bne :-
        TEXT txt_line, 0
        TEXT txt_press, 0
        PPU_AT $222A
        lda #'H'
        sta PPUDATA
        lda #'I'
        sta PPUDATA
        lda #' '
        sta PPUDATA
        ldx #0
:       lda hiscore,x
        clc
        adc #'0'
        sta PPUDATA
        inx
        cpx #6
        bne :-
        ldx #31                 ; fireflies, scattered
:       jsr random
        sta flies,x
        dex
        bpl :-
        SONG SONG_TITLE
        lda #0
        sta timer
        lda #$88                ; 8x8 sprites from $1000
        jsr screen_on
@loop:  inc timer
        jsr title_sprites
        lda timer               ; the call to press Start comes and goes
        and #31
        bne @keys
        lda timer
        and #32
        lsr a
        lsr a
        lsr a
        lsr a
        lsr a
        tay
        lda @press,y
        sta tmp
        ldx vqn
        lda #$21
        sta vq,x
        lda #$CA
        sta vq+1,x
        lda #11
        sta vq+2,x
        ldy #0
@char:  lda txt_press+2,y
        and tmp
        sta vq+3,x
        inx
        iny
        cpy #11
        bne @char
        inx
        inx
        inx
        stx vqn
@keys:  jsr end_frame
        lda pad_new
        and #KEY_START
        beq @loop
        lda frame               ; the only chance in the game: when Start was pressed
        ora #1
        sta rnd
        SFX SFX_SELECT
        lda #0
        sta timer
:       inc timer
        jsr title_sprites
        jsr end_frame
        lda timer
        cmp #24
        bne :-
        jmp new_game
@press: .byte $FF, $00

; 8x8 sprites: the fox in four parts, leaves and fireflies.
title_sprites:
        ldx #0
        ldy #0
@fox:   lda @fox_y,y
        sta $0200,x
        lda @fox_t,y
        sta $0201,x
        lda #0
        sta $0202,x
        lda @fox_x,y
        sta $0203,x
        inx
        inx
        inx
        inx
        iny
        cpy #4
        bne @fox
        ldy #0
@fly:   lda flies+3,y           ; speed and phase
        and #3
        clc
        adc #1
        sta tmp
        lda timer
        and tmp
        bne @still
        lda flies,y
        clc
        adc #1
        sta flies,y
        lda flies+2,y
        clc
        adc #3
        sta flies+2,y
@still: lda flies+2,y
        lsr a
        lsr a
        lsr a
        and #15
        sta tmp
        stx tmp+1
        tax
        lda wave,x
        ldx tmp+1
        sta tmp+1
        lda flies+1,y
        and #$7F
        clc
        adc #56
        adc tmp+1
        sta $0200,x
        lda flies+2,y
        and #$40
        beq :+
        lda #SPR_FLY2 - SPR_FLY1
:       clc
        adc #SPR_FLY1
        sta $0201,x
        lda flies+3,y
        and #1
        ora #2
        sta $0202,x
        lda flies,y
        sta $0203,x
        inx
        inx
        inx
        inx
        iny
        iny
        iny
        iny
        cpy #32
        bne @fly
        ldy #4                  ; four leaves on the wind, straight from the clock
        lda timer
        sta tmp
@leaf:  lda tmp
        lsr a
        clc
        adc @leaf_y,y
        cmp #184
        bcc :+
        lda #$F8
:       sta $0200,x
        lda #SPR_LEAF
        sta $0201,x
        lda tmp
        asl a
        asl a
        and #$40
        ora #1
        sta $0202,x
        lda tmp
        clc
        adc @leaf_x,y
        sta $0203,x
        inx
        inx
        inx
        inx
        lda tmp
        adc #61
        sta tmp
        dey
        bne @leaf
        stx oamn
        rts
@fox_x: .byte 96, 104, 96, 104
@fox_y: .byte 175, 175, 183, 183
@fox_t: .byte SPR_FOX_STAND, SPR_FOX_STAND_R, SPR_FOX_STAND+1, SPR_FOX_STAND_R+1
@leaf_x:.byte 0, 10, 90, 150, 210
@leaf_y:.byte 0, 60, 40, 90, 30

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
@old:   jsr screen_off
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

; ---------------------------------------------------------------------------------------------------- status bar
status_bar:
        PPU_AT $2000
        ldx #96
        lda #TILE_SOLID
:       sta PPUDATA
        dex
        bne :-
        ldx #32
        lda #TILE_PLANK
:       sta PPUDATA
        dex
        bne :-
        PPU_AT $2460            ; the plank runs on in the other nametable: its last line is drawn after the split
        ldx #32
        lda #TILE_PLANK
:       sta PPUDATA
        dex
        bne :-
        TEXT txt_bar1, $80
        TEXT txt_bar2, $80
        ldx #0
:       lda hiscore,x
        clc
        adc #'0'+$80
        sta PPUDATA
        inx
        cpx #6
        bne :-
        TEXT txt_stage, $80
        lda stage
        and #7
        clc
        adc #'1'+$80
        sta PPUDATA
        rts

; Queue what changed: bit 0 score, 1 cones, 2 lives.
status_update:
        ldx vqn
        lsr dirty
        bcc @cones
        lda #$20
        sta vq,x
        lda #$28
        sta vq+1,x
        lda #6
        sta vq+2,x
        inx
        inx
        inx
        ldy #0
:       lda score,y
        clc
        adc #'0'+$80
        sta vq,x
        inx
        iny
        cpy #6
        bne :-
@cones: lsr dirty
        bcc @lives
        lda #$20
        sta vq,x
        lda #$32
        sta vq+1,x
        lda #2
        sta vq+2,x
        lda cones
        clc
        adc #'0'+$80
        sta vq+3,x
        lda cones+1
        clc
        adc #'0'+$80
        sta vq+4,x
        inx
        inx
        inx
        inx
        inx
@lives: lsr dirty
        bcc @done
        lda #$20
        sta vq,x
        lda #$3B
        sta vq+1,x
        lda #1
        sta vq+2,x
        lda lives
        clc
        adc #'0'+$80
        sta vq+3,x
        inx
        inx
        inx
        inx
@done:  stx vqn
        lda #0
        sta dirty
        rts

; Digit X (0 = hundred thousands) of the score += A, with carries.
add_score:
        clc
        adc score,x
@digit: cmp #10
        bcc @store
        sbc #10
        sta score,x
        dex
        bmi @full
        lda score,x
        adc #0                  ; carry is set: + 1
        jmp @digit
@store: sta score,x
@full:  lda dirty
        ora #1
        sta dirty
        rts

; ---------------------------------------------------------------------------------------------------- the fox
gravity:
        lda p_vy+1
        bpl @fall
        lda pad_held            ; rising with A held: higher
        and #KEY_A
        beq @fall
        lda #$2C
        bne @add
@fall:  lda #$58
@add:   clc
        adc p_vy
        sta p_vy
        bcc :+
        inc p_vy+1
:       lda p_vy+1
        bmi @out
        cmp #4
        bcc @out
        lda #4
        sta p_vy+1
        lda #$80
        sta p_vy
@out:   rts

player_move:
        lda p_safe
        beq :+
        dec p_safe
:       lda pad_held
        and #KEY_RIGHT
        beq @left
        lda #0
        sta p_face
        lda p_vx+1              ; faster, up to 1.75
        bmi @r_add
        cmp #1
        bcc @r_add
        lda p_vx
        cmp #$A8
        bcs @ran
@r_add: lda #$18
        clc
        adc p_vx
        sta p_vx
        lda p_vx+1
        adc #0
        sta p_vx+1
        jmp @ran
@left:  lda pad_held
        and #KEY_LEFT
        beq @slow
        lda #$40
        sta p_face
        lda p_vx+1
        bpl @l_add
        cmp #$FF
        bcs @l_add
        lda p_vx
        cmp #$58
        bcc @ran
@l_add: lda p_vx
        sec
        sbc #$18
        sta p_vx
        lda p_vx+1
        sbc #0
        sta p_vx+1
        jmp @ran
@slow:  lda p_vx+1
        bmi @up
        ora p_vx
        beq @ran
        lda p_vx
        sec
        sbc #$14
        sta p_vx
        lda p_vx+1
        sbc #0
        sta p_vx+1
        bpl @ran
@stop:  lda #0
        sta p_vx
        sta p_vx+1
        beq @ran
@up:    lda p_vx
        clc
        adc #$14
        sta p_vx
        lda p_vx+1
        adc #0
        sta p_vx+1
        bpl @stop
@ran:   lda p_xs                ; x += vx
        clc
        adc p_vx
        sta p_xs
        ldy #0
        lda p_vx+1
        bpl :+
        dey
:       adc p_x
        sta p_x
        tya
        adc p_x+1
        sta p_x+1
        lda p_x                 ; not out of the picture on the left
        sec
        sbc cam
        sta tmp
        lda p_x+1
        sbc cam+1
        bmi @edge
        bne @walls
        lda tmp
        cmp #4
        bcs @walls
@edge:  lda cam
        clc
        adc #4
        sta p_x
        lda cam+1
        adc #0
        sta p_x+1
        lda #0
        sta p_vx
        sta p_vx+1
@walls: lda p_vx+1
        bmi @wall_l
        POINT_X 13
        lda p_y
        clc
        adc #4
        jsr tile_at
        cmp #1
        beq @hit_r
        lda p_y
        clc
        adc #14
        jsr tile_at
        cmp #1
        bne @jump
@hit_r: lda qx
        and #$F0
        sec
        sbc #14
        sta p_x
        lda qx+1
        sbc #0
        sta p_x+1
        jmp @halt
@wall_l:
        POINT_X 2
        lda p_y
        clc
        adc #4
        jsr tile_at
        cmp #1
        beq @hit_l
        lda p_y
        clc
        adc #14
        jsr tile_at
        cmp #1
        bne @jump
@hit_l: lda qx
        ora #$0F
        sec
        sbc #1
        sta p_x
        lda qx+1
        sbc #0
        sta p_x+1
@halt:  lda #0
        sta p_vx
        sta p_vx+1
@jump:  lda pad_new
        and #KEY_A
        beq @fall
        lda p_ground
        beq @fall
        lda #$FB
        sta p_vy+1
        lda #$80
        sta p_vy
        SFX SFX_JUMP
@fall:  lda p_y
        sta p_old
        jsr gravity
        lda p_ys
        clc
        adc p_vy
        sta p_ys
        lda p_y
        adc p_vy+1
        sta p_y
        lda #0
        sta p_ground
        lda p_y
        cmp #33
        bcs :+
        lda #33                 ; the plank is the ceiling
        sta p_y
:       lda p_vy+1
        bmi @head
        POINT_X 4
        jsr foot
        bne @land
        POINT_X 11
        jsr foot
        beq @grab
@land:  lda p_y
        and #$F0
        sta p_y
        lda #0
        sta p_ys
        sta p_vy
        sta p_vy+1
        inc p_ground
        bne @grab
@head:  POINT_X 8
        lda p_y
        clc
        adc #1
        jsr tile_at
        cmp #1
        bne @grab
        lda p_y
        ora #$0F
        clc
        adc #1
        sta p_y
        lda #0
        sta p_vy
        sta p_vy+1
@grab:  POINT_X 8
        lda p_y
        clc
        adc #4
        jsr pick
        lda p_y
        clc
        adc #12
        jsr pick
        lda pad_new
        and #KEY_B
        beq @out
        jmp throw
@out:   rts

; Ground under the point below qx at the fox's feet? Z clear: yes.
foot:   lda p_y
        clc
        adc #16
        bcs @no
        jsr tile_at
        cmp #1
        beq @yes
        cmp #2
        bne @no
        lda p_y                 ; a log holds only what comes from above
        clc
        adc #16
        and #$F0
        sta tmp
        lda p_old
        clc
        adc #15
        cmp tmp
        bcs @no
@yes:   lda #1
        rts
@no:    lda #0
        rts

; What lies at qx, A = y: take a cone, notice the cabin.
pick:   sta tmp+2
        jsr tile_at
        cmp #3
        beq @take
        cmp #4
        bne @none
        lda #2
        sta timer+1
@none:  rts
@take:  lda qx+1
        lsr a
        lda #MT_SKY
        bcs @odd
        sta RING,y
        bcc @gone
@odd:   sta RING+$100,y
@gone:  lda tmp+2               ; erase its four tiles
        lsr a
        lsr a
        lsr a
        lsr a
        sta tmp                 ; metatile row
        lsr a
        lsr a
        ora #$20
        sta tmp+1
        lda qx+1
        and #1
        asl a
        asl a
        ora tmp+1
        sta tmp+1               ; address high
        lda tmp
        and #3
        lsr a
        ror a
        ror a
        sta tmp
        lda qx
        and #$F0
        lsr a
        lsr a
        lsr a
        ora tmp
        sta tmp                 ; address low
        ldx vqn
        jsr @pair
        lda tmp
        ora #$20
        sta tmp
        jsr @pair
        stx vqn
        SFX SFX_PICK
        lda #1
        ldx #4
        jsr add_score
        lda dirty
        ora #2
        sta dirty
        inc cones+1
        lda cones+1
        cmp #10
        bne @out
        lda #0
        sta cones+1
        inc cones
        lda cones
        cmp #5
        bne @out
        lda #0                  ; fifty cones: another life
        sta cones
        lda lives
        cmp #9
        bcs @out
        inc lives
        lda dirty
        ora #4
        sta dirty
        SFX SFX_POWER
@out:   rts
@pair:  lda tmp+1
        sta vq,x
        lda tmp
        sta vq+1,x
        lda #2
        sta vq+2,x
        lda #0
        sta vq+3,x
        sta vq+4,x
        inx
        inx
        inx
        inx
        inx
        rts

throw:  ldx #NSHOT-1
:       lda s_on,x
        beq @free
        dex
        bpl :-
        rts
@free:  lda p_face
        ora #1
        sta s_on,x
        lda p_x
        clc
        adc #4
        sta s_xl,x
        lda p_x+1
        adc #0
        sta s_xh,x
        lda p_y
        sta s_y,x
        lda #$FE
        sta s_vy,x
        SFX SFX_SHOT
        rts

camera_move:
        lda p_x                 ; the fox stays left of the middle; the picture only moves on
        sec
        sbc #108
        sta tmp
        lda p_x+1
        sbc #0
        sta tmp+1
        bmi @out
        lda tmp
        sec
        sbc cam
        lda tmp+1
        sbc cam+1
        bmi @out
        lda tmp+1
        cmp #>CAM_MAX
        bcc @set
        lda #<CAM_MAX
        sta tmp
        lda #>CAM_MAX
        sta tmp+1
@set:   lda tmp
        sta cam
        lda tmp+1
        sta cam+1
@out:   rts

; ---------------------------------------------------------------------------------------------------- others
; A = type << 4 | row: a newcomer in the column now being drawn. Keeps ptr and tmp.
spawn:  sta tmp+2
        ldx #NENEMY-1
:       lda e_type,x
        beq @free
        dex
        bpl :-
        rts
@free:  lda tmp+2
        lsr a
        lsr a
        lsr a
        lsr a
        sta e_type,x
        lda tmp+2
        asl a
        asl a
        asl a
        asl a
        sta e_y,x
        lda col_next
        asl a
        asl a
        asl a
        asl a
        sta e_xl,x
        lda col_next
        lsr a
        lsr a
        lsr a
        lsr a
        sta e_xh,x
        lda #0
        sta e_xs,x
        sta e_t,x
        sta e_dir,x
        rts

enemies_move:
        ldx #NENEMY-1
@next:  lda e_type,x
        beq @skip
        inc e_t,x
        lda e_xl,x              ; gone on the left?
        clc
        adc #24
        sta tmp
        lda e_xh,x
        adc #0
        sta tmp+1
        lda tmp
        sec
        sbc cam
        lda tmp+1
        sbc cam+1
        bpl @here
        lda #0
        sta e_type,x
        beq @skip
@here:  stx tmp+3
        lda e_type,x
        cmp #HEDGEHOG
        bne :+
        jsr hedgehog
        jmp @touch
:       cmp #CROW
        bne :+
        jsr crow
        jmp @touch
:       jsr burr
@touch: ldx tmp+3
        lda e_type,x
        beq @skip
        jsr touch
        ldx tmp+3
@skip:  dex
        bpl @next
        rts

; e_x -= A/256 pixels a frame (dir 0) or += (dir 1)
walk:   sta tmp
        lda e_dir,x
        bne @right
        lda e_xs,x
        sec
        sbc tmp
        sta e_xs,x
        lda e_xl,x
        sbc #0
        sta e_xl,x
        lda e_xh,x
        sbc #0
        sta e_xh,x
        rts
@right: lda e_xs,x
        clc
        adc tmp
        sta e_xs,x
        lda e_xl,x
        adc #0
        sta e_xl,x
        lda e_xh,x
        adc #0
        sta e_xh,x
        rts

speed:  lda stage               ; faster in later stages
        and #3
        asl a
        asl a
        asl a
        asl a
        rts

hedgehog:
        jsr speed
        clc
        adc #$70
        jsr walk
        ldy e_dir,x             ; turn at walls and at edges
        lda e_xl,x
        clc
        adc @ahead,y
        sta qx
        lda e_xh,x
        adc #0
        sta qx+1
        lda e_y,x
        clc
        adc #8
        jsr tile_at
        ldx tmp+3
        cmp #1
        beq @turn
        lda e_y,x
        clc
        adc #16
        jsr tile_at
        ldx tmp+3
        cmp #1
        beq @out
        cmp #2
        beq @out
@turn:  lda e_dir,x
        eor #1
        sta e_dir,x
@out:   rts
@ahead: .byte 0, 15

crow:   jsr speed
        clc
        adc #$B0
        jsr walk
        lda e_t,x
        and #3
        bne @out
        lda e_t,x
        lsr a
        lsr a
        and #15
        tay
        lda e_y,x
        clc
        adc wave_step,y
        sta e_y,x
@out:   rts

; A burr hangs until the fox comes near, shakes, falls and bursts.
burr:   lda e_dir,x
        bne @loose
        lda e_xl,x
        sec
        sbc p_x
        sta tmp
        lda e_xh,x
        sbc p_x+1
        bne @out
        lda tmp
        cmp #52
        bcs @out
        lda #1
        sta e_dir,x
        lda #0
        sta e_t,x
@out:   rts
@loose: lda e_t,x
        cmp #14
        bcc @out
        lsr a
        lsr a
        lsr a
        cmp #4
        bcc :+
        lda #4
:       clc
        adc e_y,x
        sta e_y,x
        cmp #232
        bcs @gone
        adc #15
        sta tmp+2
        lda e_xl,x
        adc #8
        sta qx
        lda e_xh,x
        adc #0
        sta qx+1
        lda tmp+2
        jsr tile_at
        ldx tmp+3
        cmp #1
        bne @out
        jsr puff
        SFX SFX_STOMP
@gone:  ldx tmp+3
        lda #0
        sta e_type,x
        rts

; Enemy X and the fox
touch:  lda e_xl,x
        sec
        sbc p_x
        sta tmp
        lda e_xh,x
        sbc p_x+1
        beq @right
        cmp #$FF
        bne @out
        lda tmp
        cmp #$F5
        bcc @out
        bcs @y
@right: lda tmp
        cmp #11
        bcs @out
@y:     lda e_y,x
        sec
        sbc p_y
        bcs @below
        cmp #$F5
        bcc @out
        bcs @harm
@below: cmp #13
        bcs @out
        cmp #5
        bcc @harm
        lda e_type,x
        cmp #BURR
        beq @harm
        lda p_vy+1              ; coming down on it
        bmi @harm
        ora p_vy
        beq @harm
        jsr puff
        lda #0
        sta e_type,x
        lda #$FC
        sta p_vy+1
        lda #$40
        sta p_vy
        SFX SFX_STOMP
        ldx #3
        lda #1
        jmp add_score
@harm:  lda p_safe
        bne @out
        lda #1
        sta timer+1
@out:   rts

; A cloud where enemy X was. Keeps X.
puff:   ldy #NPUFF-1
:       lda f_t,y
        beq @free
        dey
        bne :-
@free:  lda #16
        sta f_t,y
        lda e_xl,x
        sta f_xl,y
        lda e_xh,x
        sta f_xh,y
        lda e_y,x
        sta f_y,y
        rts

puffs_move:
        ldx #NPUFF-1
:       lda f_t,x
        beq :+
        dec f_t,x
:       dex
        bpl :--
        rts

shots_move:
        ldx #NSHOT-1
@next:  lda s_on,x
        beq @skip
        stx tmp+3
        and #$40
        bne @left
        lda s_xl,x
        clc
        adc #4
        sta s_xl,x
        lda s_xh,x
        adc #0
        sta s_xh,x
        jmp @arc
@left:  lda s_xl,x
        sec
        sbc #4
        sta s_xl,x
        lda s_xh,x
        sbc #0
        sta s_xh,x
@arc:   lda frame
        and #3
        bne :+
        inc s_vy,x
:       lda s_y,x
        clc
        adc s_vy,x
        sta s_y,x
        cmp #232
        bcs @end
        lda s_xl,x              ; off the picture?
        sec
        sbc cam
        lda s_xh,x
        sbc cam+1
        bne @end
        lda s_xl,x
        clc
        adc #4
        sta qx
        lda s_xh,x
        adc #0
        sta qx+1
        lda s_y,x
        adc #4
        jsr tile_at
        ldx tmp+3
        cmp #1
        beq @end
        jsr shot_hits
        ldx tmp+3
@skip:  dex
        bpl @next
        rts
@end:   ldx tmp+3
        lda #0
        sta s_on,x
        beq @skip

; Shot X against every enemy
shot_hits:
        ldy #NENEMY-1
@next:  lda e_type,y
        beq @skip
        lda s_xl,x
        clc
        adc #4
        sta tmp
        lda s_xh,x
        adc #0
        sta tmp+1
        lda tmp
        sec
        sbc e_xl,y
        sta tmp
        lda tmp+1
        sbc e_xh,y
        bne @skip
        lda tmp
        cmp #16
        bcs @skip
        lda s_y,x
        clc
        adc #4
        sec
        sbc e_y,y
        cmp #16
        bcs @skip
        lda #0
        sta s_on,x
        tya
        tax
        jsr puff
        lda #0
        sta e_type,x
        SFX SFX_STOMP
        ldx #4
        lda #5
        jmp add_score
@skip:  dey
        bpl @next
        rts

; ---------------------------------------------------------------------------------------------------- drawing
play_sprites:
        lda #SPR_FOX_STAND
        ldy p_ground
        bne @ground
        lda #SPR_FOX_JUMP
        ldy p_vy+1
        bmi @set
        lda #SPR_FOX_FALL
        bne @set
@ground:
        lda p_vx
        ora p_vx+1
        beq @stand
        lda p_x
        lsr a
        lsr a
        lsr a
        and #1
        tay
        lda @run,y
        bne @set
@run:   .byte SPR_FOX_RUN1, SPR_FOX_RUN2
@stand: lda #SPR_FOX_STAND
@set:   sta p_anim
play_sprites_as:
        jsr sprite_zero
        lda p_safe
        and #4
        bne @others             ; blinking while safe
        TO_SCREEN p_x, p_x+1
        lda p_y
        sta dy
        lda p_anim
        sta dt
        lda p_face
        sta da
        jsr draw16
@others:
        ldx #NSHOT-1
@shot:  lda s_on,x
        beq @noshot
        stx tmp+3
        TO_SCREEN {s_xl,x}, {s_xh,x}
        lda s_y,x
        sta dy
        lda frame
        asl a
        asl a
        asl a
        asl a
        and #$C0
        ora #3
        sta da
        lda #SPR_ACORN
        jsr half
        ldx tmp+3
@noshot:
        dex
        bpl @shot
        ldx #NENEMY-1
@enemy: ldy e_type,x
        beq @noenemy
        stx tmp+3
        TO_SCREEN {e_xl,x}, {e_xh,x}
        lda e_y,x
        sta dy
        lda e_pal,y
        sta da
        lda e_dir,x
        beq :+
        lda e_turn,y
        eor da
        sta da
:       tya
        asl a
        sta tmp
        lda e_t,x
        lsr a
        lsr a
        lsr a
        and #1
        ora tmp
        tay
        lda e_pic,y
        sta dt
        jsr draw16
        ldx tmp+3
@noenemy:
        dex
        bpl @enemy
        ldx #NPUFF-1
@puff:  lda f_t,x
        beq @nopuff
        stx tmp+3
        ldy #SPR_PUFF1
        cmp #8
        bcs :+
        ldy #SPR_PUFF2
:       sty dt
        TO_SCREEN {f_xl,x}, {f_xh,x}
        lda f_y,x
        sta dy
        lda #3
        sta da
        jsr draw16
        ldx tmp+3
@nopuff:
        dex
        bpl @puff
        rts

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
