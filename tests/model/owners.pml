/* SPDX-License-Identifier: MIT */
/*
 * Pages that belong to markers, as mark/owners.h describes it, for the model checker spin.
 *
 * What is modelled: MARKERS markers and one page with one mark word.  Each sets BITS bits of its own there, one after the
 * other; before each it may answer, and after each it may go out.  In its own page it loads the word and stores it, in two steps;
 * in everybody's it is one.  At the end all bits are set, and nobody waits forever.  One statement is one access to a shared
 * variable.  Whether it is worth while to have a page is left open: at each step any choice may be made.
 *
 * A turn has no number here, of which there would be no end: who looks at an odd one notes whom it waits for, and whoever
 * begins another turn of his strikes himself out of these notes, in the same step.  That is what comparing numbers says.
 *
 * All accesses but to the word and `asked` are sequentially consistent in the code, or are a release and an acquire of the same
 * variable, so what spin assumes costs nothing; stores of the word come before the next access to `turn` there, too.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_owners lists them with the complaint each must cause.
 */
#ifndef MARKERS
#define MARKERS 3
#endif
#ifndef BITS
#define BITS 1
#endif

#define NOBODYS 0
#define BETWEEN 100
#define EVERYBODYS 101
#define NONE 100

/* ---- the protocol's variables ---- */
byte page;
bit  inside[MARKERS];
byte waits_for[MARKERS] = NONE;
bit  asked[MARKERS];
int  word;

/* ---- what only the check sees ---- */
byte done;

/* Another turn of marker i. */
inline turn(i, in)
{
    d_step {
        inside[i] = in;
        k = 0;
        do
        :: k == MARKERS -> break
        :: k < MARKERS ->
            if
            :: waits_for[k] == i -> waits_for[k] = NONE
            :: else
            fi;
            k++
        od;
        k = 0
    }
}

inline leave(i)
{
    if
    :: inside[i] -> turn(i, 0)
    :: else
    fi
}

inline answer(i)
{
    if
    :: asked[i] ->
        asked[i] = 0;
        if
        :: inside[i] -> turn(i, 1)
        :: inside[i] -> turn(i, 0)
        :: else
        fi
    :: else
    fi
}

inline wait_for_owner(i, other)
{
#ifdef BROKEN_WAITS_FOR_NOBODY
    skip
#else
    if
    :: d_step { inside[other] -> waits_for[i] = other }
        asked[other] = 1;
        waits_for[i] == NONE
    :: else
    fi
#endif
}

inline take_from(i, owner, to)
{
    if
#ifdef BROKEN_AT_ONCE
    :: d_step { page == owner -> page = to } wait_for_owner(i, owner - 1)
#else
    :: d_step { page == owner -> page = BETWEEN } wait_for_owner(i, owner - 1); page = to
#endif
    :: page != owner
    fi
}

inline settle(i)
{
#ifndef BROKEN_WAITS_INSIDE
    leave(i);
#endif
    if
    :: owner == BETWEEN -> page != BETWEEN
    :: else ->
        if
        :: take_from(i, owner, i + 1)
        :: take_from(i, owner, EVERYBODYS)
        fi
    fi
}

/* Sets `own`. */
inline go_in(i)
{
    if
    :: !inside[i] -> turn(i, 1)
    :: else
    fi;
#ifdef BROKEN_LOOKS_BEFORE
    own = 1
#else
    own = page == i + 1
#endif
}

/* In the code the second and the third are a compare-and-swap, which fails if the page is another's. */
inline get(i)
{
    own = 0;
    do
    :: own -> break
    :: else ->
        owner = page;
        if
        :: owner == EVERYBODYS -> break
        :: owner == NOBODYS ->
            if
            :: d_step { page == NOBODYS -> page = i + 1 }
            :: d_step { page == NOBODYS -> page = EVERYBODYS }
            :: page != NOBODYS
            fi
        :: owner == i + 1 ->
            if
            :: d_step { page == i + 1 -> page = EVERYBODYS }
            :: page != i + 1
            :: go_in(i)
            fi
        :: else -> settle(i)
        fi
    od
}

active [MARKERS] proctype marker()
{
    byte n, owner, k;
    bit own;
    int before;

    do
    :: n == BITS -> break
    :: n < BITS ->
        answer(_pid);
        get(_pid);
        if
        :: own -> before = word; word = before | (1 << (_pid * BITS + n))
        :: else -> word = word | (1 << (_pid * BITS + n))
        fi;
        n++;
        own = 0; owner = 0; before = 0;
        if
        :: leave(_pid)
        :: skip
        fi
    od;
#ifndef BROKEN_RESTS_INSIDE
    leave(_pid);
#endif
    atomic {
        done++;
        assert(done < MARKERS || word == (1 << (MARKERS * BITS)) - 1)
    }
}
