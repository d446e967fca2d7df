/* SPDX-License-Identifier: MIT */
/*
 * Pages that belong to markers, as mark/owners.h describes it, for the model checker spin.
 *
 * What is modelled: MARKERS markers, and PAGES pages with one mark word each.  Each marker sets BITS bits of its own, one after
 * the other, in the pages in turn; the markers begin with different ones.  Before each bit it may answer, and it may run a
 * client's procedure, one at a time, that sets the bit; after each it may go out.  It asks for the page, or it does not, if it had
 * it last time and has neither answered nor gone out since, as in a chain.  In a page of its own it loads the word and
 * stores it, in two steps; in everybody's it is one.  At the end all bits are set, and nobody waits forever.  One statement is
 * one access to a shared variable.  Whether it is worth while to have a page is left open: any choice may be made.
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
#ifndef PAGES
#define PAGES 1
#endif

/* What is said of a page: an owner's number and 1, with TAKEN if it is the second; or these. */
#define NOBODYS 0
#define TAKEN 128
#define BETWEEN 128
#define EVERYBODYS 255
#define WHOSE(x) (x & 127)
#define NONE 100

/* ---- the protocol's variables ---- */
byte page[PAGES];
bit  inside[MARKERS];
byte waits_for[MARKERS] = NONE;
bit  asked[MARKERS];
bit  client;                /* a procedure runs */
int  word[PAGES];

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
    kept = NONE;
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
#ifndef BROKEN_KEEPS_THE_PAGE
        kept = NONE;
#endif
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

inline take_from(i, to)
{
    if
#ifdef BROKEN_AT_ONCE
    :: d_step { page[p] == said -> page[p] = to } wait_for_owner(i, WHOSE(said) - 1)
#else
    :: d_step { page[p] == said -> page[p] = BETWEEN } wait_for_owner(i, WHOSE(said) - 1); page[p] = to
#endif
    :: page[p] != said
    fi
}

inline settle(i)
{
#ifndef BROKEN_WAITS_INSIDE
    leave(i);
#endif
    if
    :: said == BETWEEN -> page[p] != BETWEEN
    :: said != BETWEEN -> take_from(i, EVERYBODYS)
#ifdef BROKEN_TAKES_AGAIN
    :: said != BETWEEN -> take_from(i, i + 1)
#else
    :: said < TAKEN -> take_from(i, (i + 1 | TAKEN))
#endif
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
    own = WHOSE(page[p]) == i + 1
#endif
}

/* The page p.  In the code exchanges are compare-and-swaps, which fail if the page is another's. */
inline get(i)
{
    own = 0;
    do
    :: own -> break
    :: else ->
        said = page[p];
        if
        :: said == EVERYBODYS -> break
        :: said == NOBODYS ->
            if
            :: d_step { page[p] == NOBODYS -> page[p] = i + 1 }
            :: d_step { page[p] == NOBODYS -> page[p] = EVERYBODYS }
            :: page[p] != NOBODYS
            fi
        :: WHOSE(said) == i + 1 ->
            if
            :: d_step { page[p] == said -> page[p] = EVERYBODYS }
            :: page[p] != said
            :: go_in(i)
            fi
        :: else -> settle(i)
        fi
    od;
    said = 0
}

inline set(i)
{
#ifdef BROKEN_READS_BEFORE
    before = word[p];
#endif
    if
    :: kept == p -> own = 1
    :: get(i)
    fi;
    if
    :: own ->
        kept = p;
#ifndef BROKEN_READS_BEFORE
        before = word[p];
#endif
        word[p] = before | (1 << (i * BITS + n))
    :: else -> kept = NONE; word[p] = word[p] | (1 << (i * BITS + n))
    fi;
    before = 0;
    own = 0
}

inline run_client(i)
{
    skip;                   /* the choice is made before it is known whether another procedure runs */
#ifndef BROKEN_LOCKS_INSIDE
    leave(i);
#endif
    d_step { !client -> client = 1 }
    set(i);
    leave(i);
    client = 0
}

active [MARKERS] proctype marker()
{
    byte n, said, k, p, kept = NONE;
    bit own;
    int before;

    do
    :: n == BITS -> break
    :: n < BITS ->
        p = (n + _pid) % PAGES;
        answer(_pid);
        if
        :: set(_pid)
        :: run_client(_pid)
        fi;
        n++;
        if
        :: leave(_pid)
        :: skip
        fi
    od;
#ifndef BROKEN_RESTS_INSIDE
    leave(_pid);
#endif
    skip;
    d_step {
        p = 0;
        k = 0;
        done++;
        do
        :: p == PAGES -> break
        :: p < PAGES -> before = before | word[p]; p++
        od;
        assert(done < MARKERS || before == (1 << (MARKERS * BITS)) - 1)
    }
}
