; Music and effects for the 2A03, called once a frame. Songs come from tools/mml.py, drum samples from tools/dmc.py.
; Tracks: 0 pulse 1, 1 pulse 2, 2 triangle, 3 drums (noise and DMC). Effects borrow pulse 2 or noise from the music.
.include "nes.inc"
.export sound_init, sound_update, music_play, music_stop, sfx_play, sound_hush
.import period_lo, period_hi, song_table
.import DMC_KICK_AT, DMC_KICK_LEN, DMC_SNARE_AT, DMC_SNARE_LEN, DMC_TOM_AT, DMC_TOM_LEN
.export SFX_PICK, SFX_JUMP, SFX_SHOT, SFX_STOMP, SFX_HURT, SFX_SELECT, SFX_POWER, SFX_BOOM, SFX_DIVE

REST = $60
TIE  = $61

.zeropage
ptr:      .res 2
.bss
snd_tick: .res 1
song_req: .res 1        ; song + 1, $FF = stop
sfx_req:  .res 1        ; effect + 1
t_lo:     .res 4
t_hi:     .res 4
t_on:     .res 4
t_wait:   .res 4
t_len:    .res 4
t_note:   .res 4
t_inst:   .res 4
t_age:    .res 4        ; place in the volume envelope
t_time:   .res 4        ; frames since the note began, at most 255
t_arp:    .res 4
t_arpp:   .res 4
t_trig:   .res 4
s_hi:     .res 4        ; what the length/period-high register holds, so that it is written only when it changes
x_lo:     .res 2        ; effects: 0 on pulse 2, 1 on noise
x_hi:     .res 2
x_on:     .res 2
x_wait:   .res 2
per_lo:   .res 1
per_hi:   .res 1
env:      .res 1

.code
sound_init:
        lda #$0F
        sta SNDCHN
        lda #$0F                ; sweep off; negative, so that it does not mute low notes; shift 7, because the target
                                ; of shift 0 is -1 on pulse 1, which some emulators take for a very long period
        sta $4001
        sta $4005
        lda #$40
        sta $4011               ; middle of the DMC's range: the samples swing both ways
        lda #0
        ldx #1
:       sta x_on,x
        dex
        bpl :-
        jmp silence
music_stop:
        lda #$FF
        sta song_req
        rts
silence:
        ldx #3
:       lda #0
        sta t_on,x
        lda #REST
        sta t_note,x
        lda #$FF
        sta s_hi,x
        dex
        bpl :-
sound_hush:                     ; silence what sounds now; the next update goes on
        lda #$30
        sta $4000
        sta $4004
        sta $400C
        lda #$80
        sta $4008
        sta $400B
        lda #$0F
        sta SNDCHN
        rts

; A = song number. Requests are only noted here and served by the next update, which may run in the NMI handler.
music_play:
        clc
        adc #1
        sta song_req
        rts
; A = effect number
sfx_play:
        clc
        adc #1
        sta sfx_req
        rts

start_song:
        pha
        jsr silence
        pla
        asl a
        asl a
        asl a
        tay
        ldx #0
@track: lda song_table,y
        sta t_lo,x
        iny
        lda song_table,y
        sta t_hi,x
        iny
        lda #1
        sta t_on,x
        sta t_wait,x
        lda #0
        sta t_inst,x
        sta t_arp,x
        sta t_arpp,x
        sta t_age,x
        sta t_trig,x
        inx
        cpx #4
        bne @track
        rts

start_sfx:
        asl a
        tax
        lda sfx_table,x
        sta ptr
        lda sfx_table+1,x
        sta ptr+1
        ldy #0
        lda (ptr),y             ; 0 pulse 2, 1 noise
        tax
        lda ptr
        clc
        adc #1
        sta x_lo,x
        lda ptr+1
        adc #0
        sta x_hi,x
        lda #1
        sta x_on,x
        sta x_wait,x
        rts

sound_update:
        inc snd_tick
        lda song_req
        beq @song
        ldx #0
        stx song_req
        cmp #$FF
        bne :+
        jsr silence
        jmp @song
:       sec
        sbc #1
        jsr start_song
@song:  lda sfx_req
        beq @sfx
        ldx #0
        stx sfx_req
        sec
        sbc #1
        jsr start_sfx
@sfx:
        ldx #3
@step:  lda t_on,x
        beq @rest
        inc t_time,x
        bne :+
        dec t_time,x
:       dec t_wait,x
        bne @next
        jsr fetch
@next:  dex
        bpl @step
        ldx #0
        jsr pulse
        ldx #1
        lda x_on
        bne @sfx1
        jsr pulse
        jmp @tri
@rest:  lda #REST
        sta t_note,x
        bne @next
@sfx1:  jsr sfx_pulse
@tri:   jsr triangle
        lda t_trig+3
        beq :+
        jsr drum_hit
:       lda x_on+1
        beq @drum
        jmp sfx_noise
@drum:  jmp drum_noise

; Read track X up to its next note.
fetch:  lda t_lo,x
        sta ptr
        lda t_hi,x
        sta ptr+1
        ldy #0
@next:  lda (ptr),y
        iny
        cmp #$80
        bcc @note
        cmp #$F0
        bcs @cmd
        and #$7F
        sta t_len,x
        bpl @next
@cmd:   beq @inst
        cmp #$F2
        beq @arp
        bcs @stop
        lda (ptr),y
        pha
        iny
        lda (ptr),y
        sta ptr+1
        pla
        sta ptr
        ldy #0
        beq @next
@inst:  lda (ptr),y
        iny
        sta t_inst,x
        bpl @next
@arp:   lda (ptr),y
        iny
        asl a
        asl a
        sta t_arp,x
        bpl @next
@stop:  lda #0
        sta t_on,x
        lda #REST
        sta t_note,x
        rts
@note:  cmp #TIE
        beq @done
        sta t_note,x
        lda #0
        sta t_age,x
        sta t_time,x
        sta t_arpp,x
        lda #1
        sta t_trig,x
@done:  lda t_len,x
        sta t_wait,x
        tya
        clc
        adc ptr
        sta t_lo,x
        lda ptr+1
        adc #0
        sta t_hi,x
        rts

; The envelope's byte for track X, and one step on. An $FF holds the byte before it.
envelope:
        lda t_inst,x
        asl a
        tay
        lda inst_table,y
        sta ptr
        lda inst_table+1,y
        sta ptr+1
        ldy t_age,x
        lda (ptr),y
        cmp #$FF
        bne @on
        dey
        lda (ptr),y
        rts
@on:    inc t_age,x
        rts

; per_lo/per_hi for track X, arpeggio and vibrato included.
pitch:  lda t_arpp,x
        clc
        adc #1
        cmp #6
        bcc :+
        lda #0
:       sta t_arpp,x
        lsr a
        clc
        adc t_arp,x
        tay
        lda arp_table,y
        clc
        adc t_note,x
        tay
        lda period_hi,y
        sta per_hi
        lda period_lo,y
        sta per_lo
        lda t_inst,x
        bne @out                ; only the lead sings
        lda t_time,x
        cmp #16
        bcc @out
        lda snd_tick
        lsr a
        and #7
        tay
        lda vibrato,y
        clc
        adc per_lo
        cmp #4                  ; leave out a step that would cross into the high byte: writing that restarts the wave
        bcc @out
        cmp #252
        bcs @out
        sta per_lo
@out:   rts

pulse:  lda #$30
        sta env
        lda t_note,x
        cmp #REST
        bcs @vol
        jsr envelope
        sta env
        jsr pitch
@vol:   txa
        asl a
        asl a
        tay
        lda env
        sta $4000,y
        lda t_note,x
        cmp #REST
        bcs @out
        lda per_lo
        sta $4002,y
        lda per_hi
        cmp s_hi,x
        beq @out
        sta s_hi,x
        ora #$08
        sta $4003,y
@out:   rts

triangle:
        ldx #2
        lda t_note,x
        cmp #REST
        bcs @off
        jsr envelope
        and #$0F
        beq @off
        jsr pitch
        lda per_lo
        sta $400A
        lda per_hi
        cmp s_hi,x
        beq :+
        sta s_hi,x
        ora #$08
        sta $400B
:       lda #$FF
        bne @set
@off:   lda #$80
@set:   sta $4008
        rts

; A new drum: its sample, if it has one. The noise part is drum_noise's.
drum_hit:
        lda #0
        sta t_trig+3
        ldy t_note+3
        cpy #5
        bcs @out
        lda drum_len,y
        beq @out
        sta $4013
        lda drum_at,y
        sta $4012
        lda #$0F
        sta $4010
        sta SNDCHN
        lda #$1F
        sta SNDCHN
@out:   rts

drum_noise:
        lda t_note+3
        cmp #5
        bcs @off
        asl a
        tay
        lda drum_table,y
        sta ptr
        lda drum_table+1,y
        sta ptr+1
        ldy t_age+3
        lda (ptr),y
        beq @off
        sta $400C
        iny
        lda (ptr),y
        sta $400E
        iny
        sty t_age+3
        lda #$08
        sta $400F
        rts
@off:   lda #$30
        sta $400C
        rts

sfx_pulse:
        ldx #0
        dec x_wait
        bne @out
        jsr sfx_open
        beq @end
        lda (ptr),y
        sta $4004
        iny
        lda (ptr),y
        sta $4006
        iny
        lda (ptr),y
        ora #$08
        sta $4007
        iny
        jmp sfx_close
@end:   lda #$FF
        sta s_hi+1              ; the music writes its own high byte again
        lda #$30
        sta $4004
@out:   rts

sfx_noise:
        lda #REST
        sta t_note+3            ; a drum covered by an effect does not come late
        ldx #1
        dec x_wait,x
        bne @out
        jsr sfx_open
        beq @end
        lda (ptr),y
        sta $400C
        iny
        lda (ptr),y
        sta $400E
        iny
        lda #$08
        sta $400F
        jmp sfx_close
@end:   lda #$30
        sta $400C
@out:   rts

; X = slot (0 or 1): the next step's length into x_wait; Z set and the slot closed when there is none.
sfx_open:
        lda x_lo,x
        sta ptr
        lda x_hi,x
        sta ptr+1
        ldy #0
        lda (ptr),y
        sta x_wait,x
        bne :+
        sta x_on,x
        rts
:       iny
        rts
sfx_close:
        tya
        clc
        adc ptr
        sta x_lo,x
        lda ptr+1
        adc #0
        sta x_hi,x
        rts

.rodata
vibrato:  .byte 0, 1, 2, 1, 0, 255, 254, 255
arp_table:
        .byte 0,0,0,0           ; 0 none
        .byte 0,4,7,0           ; 1 major
        .byte 0,3,7,0           ; 2 minor
        .byte 0,5,9,0           ; 3 major, second inversion
        .byte 0,12,0,0          ; 4 octave
        .byte 0,4,10,0          ; 5 seventh
        .byte 0,7,12,0          ; 6 fifth and octave
inst_table:
        .addr i_lead, i_pluck, i_soft, i_bass, i_stab, i_pad, i_bell, i_reed
i_lead: .byte $BA,$BC,$BC,$BB,$BA,$B9,$B9,$B8,$B8,$B7,$FF
i_pluck:.byte $7C,$7B,$79,$78,$76,$75,$75,$74,$74,$73,$73,$72,$72,$71,$71,$70,$FF
i_soft: .byte $36,$37,$36,$36,$35,$35,$34,$34,$34,$33,$33,$33,$32,$32,$FF
i_bass: .byte $3F,$FF
i_stab: .byte $3F,$3F,$3F,$3F,$3F,$3F,$3F,$30,$FF
i_pad:  .byte $71,$72,$73,$74,$75,$76,$76,$77,$77,$77,$76,$76,$76,$75,$FF
i_bell: .byte $7E,$7C,$7A,$79,$78,$77,$76,$76,$75,$75,$74,$74,$73,$73,$72,$72,$71,$71,$70,$FF
i_reed: .byte $38,$3A,$3B,$3A,$39,$38,$38,$37,$FF

drum_at:  .byte <DMC_KICK_AT, <DMC_SNARE_AT, 0, 0, <DMC_TOM_AT
drum_len: .byte <DMC_KICK_LEN, <DMC_SNARE_LEN, 0, 0, <DMC_TOM_LEN
drum_table:
        .addr d_kick, d_snare, d_hat, d_open, d_tom
d_kick: .byte $36,$0A, $33,$0D, 0
d_snare:.byte $38,$05, $37,$06, $35,$06, $34,$07, $33,$07, $32,$07, $31,$08, 0
d_hat:  .byte $34,$01, $32,$01, $31,$01, 0
d_open: .byte $35,$02, $34,$01, $34,$02, $33,$01, $33,$02, $32,$01, $32,$02, $31,$01, $31,$01, 0
d_tom:  .byte $33,$0B, 0

SFX_PICK = 0
SFX_JUMP = 1
SFX_SHOT = 2
SFX_STOMP = 3
SFX_HURT = 4
SFX_SELECT = 5
SFX_POWER = 6
SFX_BOOM = 7
SFX_DIVE = 8
sfx_table:
        .addr x_pick, x_jump, x_shot, x_stomp, x_hurt, x_select, x_power, x_boom, x_dive
x_pick: .byte 0, 3,$BA,$70,$00, 3,$BA,$54,$00, 4,$B8,$46,$00, 4,$B5,$46,$00, 4,$B2,$46,$00, 0
x_jump: .byte 0, 2,$76,$80,$01, 2,$77,$50,$01, 2,$77,$20,$01, 2,$76,$F0,$00, 2,$75,$C8,$00, 2,$73,$A8,$00, 2,$71,$90,$00, 0
x_shot: .byte 0, 2,$B9,$90,$00, 2,$B8,$B0,$00, 2,$B6,$D8,$00, 2,$B4,$10,$01, 2,$B2,$50,$01, 0
x_stomp:.byte 1, 2,$3B,$08, 2,$3A,$06, 2,$38,$09, 2,$36,$0A, 3,$34,$0B, 3,$32,$0C, 0
x_hurt: .byte 0, 4,$BC,$A0,$01, 4,$BC,$E0,$01, 4,$BB,$80,$01, 4,$BA,$40,$02, 4,$B9,$C0,$02, 4,$B7,$60,$03, 5,$B5,$20,$04, 6,$B3,$F0,$04, 0
x_select:.byte 0, 3,$7A,$A8,$00, 3,$79,$7E,$00, 4,$78,$54,$00, 5,$75,$54,$00, 5,$72,$54,$00, 0
x_power:.byte 0, 3,$BA,$D5,$00, 3,$BA,$A9,$00, 3,$BA,$8E,$00, 3,$BA,$6A,$00, 3,$BA,$54,$00, 3,$B9,$46,$00, 3,$B8,$35,$00, 5,$B6,$35,$00, 5,$B3,$35,$00, 0
x_boom: .byte 1, 3,$3F,$0C, 3,$3E,$0E, 3,$3D,$0B, 3,$3C,$0D, 4,$3A,$0E, 4,$38,$0D, 4,$36,$0E, 4,$34,$0F, 4,$32,$0F, 0
x_dive: .byte 1, 2,$32,$04, 2,$34,$03, 2,$36,$02, 3,$35,$03, 3,$33,$04, 3,$32,$05, 3,$31,$06, 0
