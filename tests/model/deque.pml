/* SPDX-License-Identifier: MIT */
/*
 * The mark deque in its split form, as mark/work/deque.h describes it, for the model checker spin.
 *
 * What is modelled: an owner and THIEVES thieves.  The owner pushes PIECES pieces into PLACES places, pops, shares,
 * takes back, begins anew, moves its private part down and resets (RESETS times), whenever it may, in any order; each
 * thief tries STEALS thefts, each of one piece or of half of the public ones.  The word is read and changed in one
 * step, each place in one of its own.  What is private to a process is folded into its neighbours.  In the end each
 * piece has been done once or forgotten by a reset; a reset counts as having done what it forgets, so nobody may do it
 * later.
 *
 * Not modelled: memory orders (tests/unit/mark/work/test_deque_order.c explores them), and a tag that comes up again after all 2^24.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_deque lists them with the complaint each must cause.
 */
#ifndef THIEVES
#define THIEVES 2
#endif
#ifndef PIECES
#define PIECES 5
#endif
#ifndef PLACES
#define PLACES 4
#endif
#ifndef STEALS
#define STEALS 2
#endif
#ifndef RESETS
#define RESETS 0
#endif

#ifdef BROKEN_SHARE_UNLOOKED
#define may_share true
#else
#define may_share (length == 0)
#endif
#ifdef BROKEN_SLIDE_UNLOOKED
#define may_slide true
#else
#define may_slide (length == 0)
#endif

#define half(n) ((n) - (n) / 2)
#define private_pieces (top - watermark)

/* ---- the deque's variables ---- */
byte entry[PLACES];
byte bottom, length, tag;               /* the word */

/* ---- what only the checks see ---- */
bit  done[PIECES + 1];
byte made;                              /* pieces pushed; a piece is its number, 0 is none */
byte ended;

inline finish(piece)
{
    assert(piece != 0 && !done[piece]);
    done[piece] = 1
}

/* ---- the owner ---- */

inline new_tag()
{
    mine++
}

inline publish()
{
    atomic {
        bottom = watermark; length = private_pieces / 2; tag = mine;
        watermark = watermark + length
    }
}

inline push()
{
    atomic { made++; entry[top] = made; top++; dry = 0 }
}

inline begin_anew()
{
#ifndef BROKEN_NO_TAG_ANEW
    new_tag();
#endif
    top = 0;
    watermark = 0
}

/* Takes n of the public pieces back, if the word is what it was. */
inline take_back(n)
{
#ifndef BROKEN_NO_TAG_TAKING_BACK
    new_tag();
#endif
#ifdef BROKEN_TAKE_BACK_BLIND
    atomic { bottom = b; length = l - n; tag = mine; watermark = watermark - n; b = 0; l = 0; t = 0 }
#else
    atomic {
        if
        :: bottom == b && length == l && tag == t ->
            length = l - n; tag = mine; watermark = watermark - n
        :: else
        fi;
        b = 0; l = 0; t = 0
    }
#endif
}

inline reclaim()
{
    atomic { b = bottom; l = length; t = tag }
    if
    :: atomic { l == 0 -> begin_anew(); dry = 1; b = 0; t = 0 }
    :: l != 0 -> take_back(half(l))
    fi
}

/* The private pieces lie above places that were stolen, as many at least. */
inline slide()
{
    i = 0;
    do
    :: i < private_pieces -> entry[i] = entry[watermark + i]; i++
    :: else -> break
    od;
    atomic {
#ifndef BROKEN_NO_TAG_SLIDING
        new_tag();
#endif
        top = private_pieces; watermark = 0; i = 0
    }
}

/* Forgets what is public in one step, if it is what it was, then the rest. */
inline reset()
{
    do
    :: atomic { b = bottom; l = length; t = tag }
        if
        :: l == 0 -> break
        :: l != 0 ->
#ifndef BROKEN_NO_TAG_RESETTING
            new_tag();
#endif
            atomic {
                if
                :: bottom == b && length == l && tag == t ->
                    length = 0; tag = mine; i = 0;
                    do
                    :: i < l -> finish(entry[b + i]); i++
                    :: else -> break
                    od;
                    i = 0; break
                :: else
                fi
            }
        fi
    od;
    atomic {
        do
        :: top > watermark -> top--; finish(entry[top])
        :: else -> break
        od;
#ifndef BROKEN_NO_TAG_RESETTING
        new_tag();
#endif
        top = 0; watermark = 0; b = 0; l = 0; t = 0; dry = 1
    }
}

proctype Owner()
{
    byte top, watermark, mine, resets, b, l, t, i;
    bit dry = 1;                        /* it knows that there is nothing */
    do
    :: made < PIECES && top < PLACES -> push()
    :: atomic { top > watermark -> top--; finish(entry[top]) }
    :: private_pieces >= 2 && may_share -> publish()
    :: top == watermark && !dry -> reclaim()
    :: top > watermark && watermark >= private_pieces && may_slide -> slide()
    :: atomic { resets < RESETS && !dry -> resets++ } reset()
    :: atomic { made == PIECES && top == watermark && dry -> ended++; break }
    od
}

/* ---- thieves ---- */

inline copy()
{
    i = 0;
    do
    :: i < n -> atomic { got[i] = entry[b + i]; i++ }
    :: else -> break
    od;
    i = 0
}

inline take()
{
    atomic {
        if
        :: bottom == b && length == l && tag == t -> bottom = b + n; length = l - n; mine = 1
        :: else
        fi
    }
}

inline keep()
{
    atomic {
        do
        :: mine && i < n -> finish(got[i]); i++
        :: else -> break
        od;
        got[0] = 0; got[1] = 0; mine = 0; i = 0; n = 0; b = 0; l = 0; t = 0
    }
}

proctype Thief()
{
    byte tries, b, l, t, n, i, got[2];
    bit mine;                           /* the theft succeeded */
    do
    :: atomic { tries < STEALS -> tries++; b = bottom; l = length; t = tag }
        if
        :: atomic { l == 0 -> b = 0; t = 0 }
        :: l != 0 ->
            if
            :: n = 1
            :: n = half(l)
            fi;
#ifdef BROKEN_COPY_AFTER_TAKING
            take();
            copy();
#else
            copy();
            take();
#endif
            keep()
        fi
    :: atomic { tries == STEALS -> ended++; break }
    od
}

/* ---- the end ---- */

proctype Finale()
{
    byte p = 1;
    atomic {
        ended == THIEVES + 1 ->
        do
        :: p <= PIECES -> assert(done[p]); p++
        :: else -> break
        od
    }
}

init
{
    byte k;
    atomic {
        run Owner();
        do
        :: k < THIEVES -> run Thief(); k++
        :: else -> break
        od;
        run Finale()
    }
}
