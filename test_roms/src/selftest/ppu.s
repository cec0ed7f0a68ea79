; Self-checking ROM: the 2C02 as the CPU sees it. nesdev.org/wiki: "PPU registers", "PPU OAM", "PPU palettes",
; "PPU sprite evaluation", "NMI", "Open bus behavior".
.include "nes.inc"
.include "shell.inc"

.segment "HEADER"
        NES20_HEADER 2, 1, 0, 0, 1, 7, 0, 0

.code
board_init:
board_done:
        rts

.rodata
title_text: .byte "SELF TEST: PPU", 0
tests:  .addr n_vram, t_vram, n_inc, t_inc, n_mirror, t_mirror, n_pal, t_pal, n_oam, t_oam, n_dma, t_dma
        .addr n_bus, t_bus, n_toggle, t_toggle, n_vbl, t_vbl, n_nmi, t_nmi, n_frame, t_frame, n_hit, t_hit
        .addr n_nohit, t_nohit, n_over, t_over
        .addr 0
n_vram: .byte "VRAM READ BUFFER", 0
n_inc:  .byte "ADDRESS STEP", 0
n_mirror: .byte "MIRRORS", 0
n_pal:  .byte "PALETTE RAM", 0
n_oam:  .byte "OAM", 0
n_dma:  .byte "OAM DMA", 0
n_bus:  .byte "PPU BUS LATCH", 0
n_toggle: .byte "WRITE TOGGLE", 0
n_vbl:  .byte "VBL FLAG", 0
n_nmi:  .byte "NMI ENABLE", 0
n_frame: .byte "FRAME LENGTH", 0
n_hit:  .byte "SPRITE 0 HIT", 0
n_nohit: .byte "SPRITE 0 MISS", 0
n_over: .byte "SPRITE OVERFLOW", 0

.code
.macro AT addr
        bit PPUSTATUS
        PPU_AT addr
.endmacro

; Reads come one late through a buffer; CHR ROM is read the same way.
t_vram: AT $2100
        lda #$12
        sta PPUDATA
        lda #$34
        sta PPUDATA
        AT $2100
        lda PPUDATA
        lda PPUDATA
        EXPECT $12, 1
        lda PPUDATA
        EXPECT $34, 2
        AT $0010                ; tile 1 is solid
        lda PPUDATA
        lda PPUDATA
        EXPECT $FF, 3
        AT $0010
        lda #$55                ; and it is ROM
        sta PPUDATA
        AT $0010
        lda PPUDATA
        lda PPUDATA
        EXPECT $FF, 4
        PASS

t_inc:  AT $2200
        lda #$04
        sta PPUCTRL
        ldx #1
:       stx PPUDATA
        inx
        cpx #5
        bne :-
        lda #0
        sta PPUCTRL
        AT $2220
        lda PPUDATA
        lda PPUDATA
        EXPECT 2, 1
        AT $2260
        lda PPUDATA
        lda PPUDATA
        EXPECT 4, 2
        AT $3FFF                ; past the end of 14 bits: on to $0000
        lda PPUDATA
        AT $3FFF
        lda #$0F
        sta PPUDATA
        ldx #$11
:       lda PPUDATA             ; $0000 and on to $0010
        dex
        bne :-
        lda PPUDATA
        EXPECT $FF, 3
        PASS

; Vertical mirroring: $2000 = $2800, $2400 = $2C00, the two different; $3000 = $2000.
t_mirror:
        AT $2003
        lda #$A1
        sta PPUDATA
        AT $2403
        lda #$A2
        sta PPUDATA
        AT $2803
        lda PPUDATA
        lda PPUDATA
        EXPECT $A1, 1
        AT $2C03
        lda PPUDATA
        lda PPUDATA
        EXPECT $A2, 2
        AT $3003
        lda PPUDATA
        lda PPUDATA
        EXPECT $A1, 3
        AT $6403                ; the address has 14 bits
        lda PPUDATA
        lda PPUDATA
        EXPECT $A2, 4
        lda #$C4
        AT $2009
        lda #$C4
        sta $3FFF               ; registers repeat every eight bytes
        AT $2009
        lda $200F
        lda $3807
        EXPECT $C4, 5
        PASS

; Palette reads come at once, have six bits, and leave the nametable byte underneath in the buffer.
t_pal:  AT $3F00
        ldx #0
:       txa
        ora #$C0
        sta PPUDATA
        inx
        cpx #16
        bne :-
        AT $3F05
        lda PPUDATA
        and #$3F
        EXPECT $05, 1
        AT $3F25
        lda PPUDATA
        and #$3F
        EXPECT $05, 2
        AT $3F10                ; the sprites' colour 0 is the background's
        lda #$2A
        sta PPUDATA
        AT $3F00
        lda PPUDATA
        and #$3F
        EXPECT $2A, 3
        AT $3F14
        lda PPUDATA
        and #$3F
        EXPECT $04, 4
        AT $3F11
        lda #$21
        sta PPUDATA
        AT $3F01
        lda PPUDATA
        and #$3F
        EXPECT $01, 5
        AT $2F07
        lda #$6B
        sta PPUDATA
        AT $3F07
        lda PPUDATA
        lda #0
        sta PPUADDR
        sta PPUADDR
        lda PPUDATA
        EXPECT $6B, 6
        lda #$01                ; greyscale masks what is read
        sta PPUMASK
        AT $3F05
        lda PPUDATA
        ldx #0
        stx PPUMASK
        and #$3F
        EXPECT $00, 7
        PASS

; Writes step OAMADDR, reads do not; attribute bits 2 to 4 do not exist.
t_oam:  lda #$40
        sta OAMADDR
        lda #$11
        sta OAMDATA
        lda #$22
        sta OAMDATA
        lda #$FF
        sta OAMDATA
        lda #$40
        sta OAMADDR
        lda OAMDATA
        EXPECT $11, 1
        lda OAMDATA
        EXPECT $11, 2
        lda #$41
        sta OAMADDR
        lda OAMDATA
        EXPECT $22, 3
        lda #$42
        sta OAMADDR
        lda OAMDATA
        EXPECT $E3, 4
        PASS

; 256 bytes, from OAMADDR on and round.
t_dma:  ldx #0
:       txa
        sta $0200,x
        inx
        bne :-
        lda #$10
        sta OAMADDR
        lda #2
        sta OAMDMA
        lda #$10
        sta OAMADDR
        lda OAMDATA
        EXPECT $00, 1
        lda #$0F
        sta OAMADDR
        lda OAMDATA
        EXPECT $FF, 2
        lda #$33
        sta OAMADDR
        lda OAMDATA
        EXPECT $23, 3
        PASS

; Writing any register fills the PPU's bus; what a read does not drive comes from there.
t_bus:  lda #$1F
        sta PPUSTATUS
        lda PPUSTATUS
        and #$1F
        EXPECT $1F, 1
        lda #$0A
        sta PPUSTATUS
        lda PPUSTATUS
        and #$1F
        EXPECT $0A, 2
        lda #$5C
        sta OAMADDR
        lda PPUSCROLL           ; write-only: all eight bits
        EXPECT $5C, 3
        PASS

; Reading $2002 makes the next write to $2005/$2006 a first one.
t_toggle:
        AT $2150
        lda #$E7
        sta PPUDATA
        lda #$3F
        sta PPUADDR             ; a first write, then it is forgotten
        AT $2150
        lda PPUDATA
        lda PPUDATA
        EXPECT $E7, 1
        bit PPUSTATUS
        lda #0
        sta PPUSCROLL           ; $2005 and $2006 share the toggle
        lda #$51
        sta PPUADDR
        lda PPUSTATUS
        AT $2151
        lda #$E8
        sta PPUDATA
        AT $2151
        lda PPUDATA
        lda PPUDATA
        EXPECT $E8, 2
        PASS

; Set at line 241, gone when read, gone at the pre-render line when not.
t_vbl:  jsr wait_vbl
        lda PPUSTATUS
        EXPECT_IF bpl, 1
        lda #24                 ; into the next VBL
        jsr delay_units
        lda PPUSTATUS
        EXPECT_IF bmi, 2
        lda PPUSTATUS
        EXPECT_IF bpl, 3
        jsr wait_vbl
        lda #24+3               ; past it, unread
        jsr delay_units
        lda PPUSTATUS
        EXPECT_IF bpl, 4
        PASS

; Enabled with the flag up: at once, after one more instruction, and again for every enabling. Never when it was read.
t_nmi:  NMI_TO @count
        ldx #0
        stx t0
        jsr wait_vbl
        lda #24
        jsr delay_units
        lda #$80
        sta PPUCTRL
        nop
        nop
        lda t0
        EXPECT 1, 1
        ldx #0
        stx PPUCTRL
        sta PPUCTRL             ; A is 1: bit 7 is clear
        lda #$80
        sta PPUCTRL
        nop
        nop
        ldx #0
        stx PPUCTRL
        lda t0
        EXPECT 2, 2
        bit PPUSTATUS
        lda #$80
        sta PPUCTRL
        nop
        nop
        ldx #0
        stx PPUCTRL
        lda t0
        EXPECT 2, 3
        PASS
@count: inc t0
        rti

; 29780.5 cycles from VBL to VBL with rendering, 29780.67 without: ten frames are counted in loops of 15 cycles, with 7
; more every 256.
t_frame:
        lda #0
        jsr ten_frames
        bne @out
        lda #$0A
        jmp ten_frames
@out:   rts
ten_frames:
        pha
        jsr wait_vbl
        pla
        sta PPUMASK
        lda #0
        sta t0
        sta t1
        ldx #10
        bit PPUSTATUS
@loop:  inc t0                  ; 5 + 3
        bne :+
        inc t1
:       bit PPUSTATUS           ; 4 + 3
        bpl @loop
        dex
        bne @loop
        stx PPUMASK
        lda t1                  ; 297805 / 15.03 = 19814 = $4D66, a few less for the branches
        EXPECT $4D, 1
        lda t0
        cmp #$40
        EXPECT_IF bcs, 2
        cmp #$80
        EXPECT_IF bcc, 3
        PASS

; Whole nametable of solid tiles, sprite 0 as in t0 (y), t1 (x), PPUMASK t2: A = $40 if there is a hit in a frame
sprite_frame:
        jsr wait_vbl
        AT $2000
        ldx #0
        lda #1
:       sta PPUDATA
        sta PPUDATA
        sta PPUDATA
        sta PPUDATA
        inx
        bne :-
        AT $23C0
        ldx #64
        lda #0
:       sta PPUDATA
        dex
        bne :-
        jsr wait_vbl
        lda #0
        sta OAMADDR
        lda #2
        sta OAMDMA
        bit PPUSTATUS
        lda #0
        sta PPUSCROLL
        sta PPUSCROLL
        sta PPUCTRL
        lda t2
        sta PPUMASK
        lda #0
        sta t3
        jsr wait_vbl            ; a frame to begin, then one to look at
        lda #2
        jsr delay_units
        sta t3
:       lda PPUSTATUS
        ora t3
        sta t3
        bpl :-
        lda #0
        sta PPUMASK
        lda t3
        rts
one_sprite:
        jsr no_sprites
        lda t0
        sta $0200
        lda #1
        sta $0201
        lda #0
        sta $0202
        lda t1
        sta $0203
        jsr sprite_frame
        and #$40
        rts
no_sprites:
        ldx #0
        lda #$FF
:       sta $0200,x
        inx
        bne :-
        rts

.macro HIT y_, x_, mask
        lda #y_
        sta t0
        lda #x_
        sta t1
        lda #mask
        sta t2
        jsr one_sprite
.endmacro

t_hit:  HIT 100, 100, $1E
        EXPECT $40, 1
        HIT 0, 0, $1E
        EXPECT $40, 2
        HIT 238, 254, $1E
        EXPECT $40, 3
        HIT 100, 1, $18         ; one pixel right of the clipped edge
        EXPECT $40, 4
        PASS

; Not at x = 255, not below the picture, not in the clipped edge, not with half of the picture off.
t_nohit:
        HIT 100, 255, $1E
        EXPECT 0, 1
        HIT 239, 100, $1E
        EXPECT 0, 2
        HIT 100, 0, $18
        EXPECT 0, 3
        HIT 100, 100, $0A
        EXPECT 0, 4
        HIT 100, 100, $14
        EXPECT 0, 5
        HIT 100, 0, $1A         ; sprites clipped alone
        EXPECT 0, 6
        PASS

; Nine on a line set the flag, eight do not, nine below the last line do not.
t_over: lda #$1E
        sta t2
        ldx #9
        ldy #100
        jsr @row
        EXPECT $20, 1
        ldx #8
        ldy #100
        jsr @row
        EXPECT 0, 2
        ldx #9
        ldy #240                ; lines 0 to 239 are searched
        jsr @row
        EXPECT 0, 3
        ldx #9
        ldy #239
        jsr @row
        EXPECT $20, 5
        lda #0                  ; not without rendering
        sta t2
        ldx #9
        ldy #100
        jsr @row
        EXPECT 0, 4
        PASS
@row:   stx t4
        sty t5
        jsr no_sprites
        ldx #0
:       lda t5
        sta $0200,x
        lda #1
        sta $0203,x
        inx
        inx
        inx
        inx
        dec t4
        bne :-
        jsr sprite_frame
        and #$20
        rts
