/* SPDX-License-Identifier: MIT */
/*
 * Several words at a time: see platform/find_pointers.h.  [any]
 *
 * Nothing behind a range is read, not even by a masked load: that would wait for a line that nobody
 * has asked for.  Fewer words than fit are followed by zeros, and zero lies in no range that a heap
 * can have.
 *
 * Words may change while they are read.  The distance that is compared is the one that is stored:
 * an empty asm statement keeps the compiler from computing it again from memory, as it would like
 * to where an instruction takes an operand from there.
 */
#include <immintrin.h>
#include <stdbool.h>

#include "platform/compiler.h"
#include "platform/find_pointers.h"
#include "platform/report.h"

#define INLINE __attribute__((always_inline)) static inline

enum { MANY_BYTES = 32 * sizeof(uintptr_t) };       /* of one range: not those of an object in a
                                                       batch */

/* ---- AVX-512: eight words; those inside are moved together ---- */

#define AVX512 __attribute__((target("avx512f,avx512vl,popcnt")))

/* In each place of a vector the same. */
struct wide {
    __m512i base, limit, mask;
};

AVX512 INLINE __m512i eight_distances(__m512i word, struct wide w)
{
    __m512i distance = _mm512_sub_epi64(_mm512_and_si512(word, w.mask), w.base);

    __asm__("" : "+v"(distance));
    return distance;
}

AVX512 INLINE size_t eight(uintptr_t *inside, __m512i word, struct wide w)
{
    __m512i distance = eight_distances(word, w);
    __mmask8 in = _mm512_cmplt_epu64_mask(distance, w.limit);

    _mm512_storeu_si512(inside, _mm512_maskz_compress_epi64(in, distance));
    return (size_t)_mm_popcnt_u32(in);
}

AVX512 INLINE __m256i two_of_four(const uintptr_t *word)
{
    return _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)word));
}

AVX512 INLINE __m256i half_of_eight_distances(__m256i word, struct wide w)
{
    __m256i masked = _mm256_and_si256(word, _mm512_castsi512_si256(w.mask));
    __m256i distance = _mm256_sub_epi64(masked, _mm512_castsi512_si256(w.base));

    __asm__("" : "+v"(distance));
    return distance;
}

/* Most objects are small: vectors of half the length do for them. */
AVX512 INLINE size_t half_of_eight(uintptr_t *inside, __m256i word, struct wide w)
{
    __m256i distance = half_of_eight_distances(word, w);
    __mmask8 in = _mm256_cmplt_epu64_mask(distance, _mm512_castsi512_si256(w.limit));

    _mm256_storeu_si256((__m256i *)(void *)inside, _mm256_maskz_compress_epi64(in, distance));
    return (size_t)_mm_popcnt_u32(in);
}

/* An even number of words, at most six. */
AVX512 INLINE __m512i up_to_six(const uintptr_t *word, size_t words)
{
    __m256i low = _mm256_setzero_si256(), high = low;

    if (words >= 4)
        low = _mm256_loadu_si256((const __m256i *)(const void *)word);
    else if (words != 0)
        low = two_of_four(word);
    if (words == 6)
        high = two_of_four(word + 4);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

AVX512 INLINE uintptr_t *any_number_avx512(uintptr_t *next, const uintptr_t *word, size_t left, struct wide w)
{
    for (; left >= 8; left -= 8, word += 8)
        next += eight(next, _mm512_loadu_si512(word), w);
    if ((left & 6) != 0)
        next += eight(next, up_to_six(word, left & 6), w);
    if ((left & 1) != 0)
        next += eight(next, _mm512_zextsi128_si512(_mm_cvtsi64_si128((long long)word[left - 1])), w);
    return next;
}

AVX512 INLINE size_t scan_avx512(uintptr_t *inside, const struct sgc_words *range, size_t ranges, struct wide w)
{
    uintptr_t *next = inside;

    for (const struct sgc_words *end = range + ranges; range < end; range++) {
        const uintptr_t *word = (const uintptr_t *)range->start;

        if (range->bytes == 4 * sizeof *word)
            next += half_of_eight(next, _mm256_loadu_si256((const __m256i *)(const void *)word), w);
        else if (range->bytes == 2 * sizeof *word)
            next += half_of_eight(next, two_of_four(word), w);
        else
            next = any_number_avx512(next, word, range->bytes / sizeof *word, w);
    }
    return (size_t)(next - inside);
}

AVX512 INLINE struct wide wide_of(uintptr_t base, uintptr_t limit, uintptr_t mask)
{
    return (struct wide){ _mm512_set1_epi64((long long)base), _mm512_set1_epi64((long long)limit),
                          _mm512_set1_epi64((long long)mask) };
}

AVX512 static size_t inside_avx512(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                                   uintptr_t limit)
{
    return scan_avx512(inside, range, ranges, wide_of(base, limit, UINTPTR_MAX));
}

AVX512 static size_t masked_avx512(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                                   uintptr_t limit)
{
    return scan_avx512(inside, range, ranges, wide_of(base, limit, sgc_word_form.mask));
}

/* ---- AVX2: four words; a table says where those inside go ---- */

#define AVX2 __attribute__((target("avx2")))

#define SIZE(words) ((words) * sizeof(uintptr_t))

#define PAIR(word, place) (UINT64_C(2) * (word) | (UINT64_C(2) * (word) + 1) << 8) << (16 * (place))

/* By the set of words that are inside: the numbers of their halves, in order, a byte each. */
static const uint64_t together[16] = {
    [1] = PAIR(0, 0),
    [2] = PAIR(1, 0),
    [3] = PAIR(0, 0) | PAIR(1, 1),
    [4] = PAIR(2, 0),
    [5] = PAIR(0, 0) | PAIR(2, 1),
    [6] = PAIR(1, 0) | PAIR(2, 1),
    [7] = PAIR(0, 0) | PAIR(1, 1) | PAIR(2, 2),
    [8] = PAIR(3, 0),
    [9] = PAIR(0, 0) | PAIR(3, 1),
    [10] = PAIR(1, 0) | PAIR(3, 1),
    [11] = PAIR(0, 0) | PAIR(1, 1) | PAIR(3, 2),
    [12] = PAIR(2, 0) | PAIR(3, 1),
    [13] = PAIR(0, 0) | PAIR(2, 1) | PAIR(3, 2),
    [14] = PAIR(1, 0) | PAIR(2, 1) | PAIR(3, 2),
    [15] = PAIR(0, 0) | PAIR(1, 1) | PAIR(2, 2) | PAIR(3, 3),
};

/* By the set of words that are inside: the bytes of places that they take. */
static const uint64_t places[16] = {
    0, SIZE(1), SIZE(1), SIZE(2), SIZE(1), SIZE(2), SIZE(2), SIZE(3), SIZE(1), SIZE(2), SIZE(2), SIZE(3), SIZE(2), SIZE(3),
    SIZE(3), SIZE(4),
};

/* The operands of an unsigned comparison, which AVX2 does not have: a signed one of values whose
 * highest bits are inverted ("turned"). */
struct bounds {
    __m256i mask;
    __m256i minus_base;             /* added to words, gives distances */
    __m256i turned;                 /* added to words, gives turned distances */
    __m256i turn;                   /* added to distances, turns them */
    __m256i turned_limit;
};

AVX2 INLINE struct bounds bounds_of(uintptr_t base, uintptr_t limit, uintptr_t mask)
{
    return (struct bounds){
        _mm256_set1_epi64x((long long)mask),
        _mm256_set1_epi64x((long long)(0 - base)),
        _mm256_set1_epi64x((long long)((0 - base) ^ (uintptr_t)INT64_MIN)),
        _mm256_set1_epi64x(INT64_MIN),
        _mm256_set1_epi64x((long long)(limit ^ (uintptr_t)INT64_MIN)),
    };
}

AVX2 INLINE __m256i four_distances(__m256i word, struct bounds b)
{
    __m256i distance = _mm256_add_epi64(_mm256_and_si256(word, b.mask), b.minus_base);

    __asm__("" : "+x"(distance));
    return distance;
}

AVX2 INLINE uintptr_t *four(uintptr_t *inside, __m256i word, struct bounds b)
{
    __m256i distance = four_distances(word, b);
    __m256i is_in = _mm256_cmpgt_epi64(b.turned_limit, _mm256_add_epi64(distance, b.turn));
    unsigned in = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is_in));
    __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)&together[in]));

    _mm256_storeu_si256((__m256i *)(void *)inside, _mm256_permutevar8x32_epi32(distance, order));
    return (uintptr_t *)(void *)((char *)inside + places[in]);
}

AVX2 INLINE __m256i four_words(const uintptr_t *word)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)word);
}

AVX2 INLINE __m256i two_words(const uintptr_t *word)
{
    return _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)word));
}

AVX2 INLINE __m256i two_pairs(const uintptr_t *one, const uintptr_t *other)
{
    return _mm256_inserti128_si256(two_words(one), _mm_loadu_si128((const __m128i *)(const void *)other), 1);
}

AVX2 INLINE __m256i one_word(const uintptr_t *word)
{
    return _mm256_zextsi128_si256(_mm_cvtsi64_si128((long long)*word));
}

AVX2 INLINE __m256i are_in(const uintptr_t *word, struct bounds b)
{
    __m256i masked = _mm256_and_si256(four_words(word), b.mask);

    return _mm256_cmpgt_epi64(b.turned_limit, _mm256_add_epi64(masked, b.turned));
}

AVX2 INLINE bool none_of_sixteen(const uintptr_t *word, struct bounds b)
{
    __m256i low = _mm256_or_si256(are_in(word, b), are_in(word + 4, b));
    __m256i high = _mm256_or_si256(are_in(word + 8, b), are_in(word + 12, b));
    __m256i any = _mm256_or_si256(low, high);

    return _mm256_testz_si256(any, any) != 0;
}

/* Much of static data, of stacks and of what large objects hold is no address at all, for long
 * stretches: where there was none, the next ones are asked together whether there is any.  The
 * first word behind. */
AVX2 INLINE const uintptr_t *sixteens(uintptr_t **inside, const uintptr_t *word, const uintptr_t *end, struct bounds b)
{
    uintptr_t *next = *inside, *before = next;

    for (const uintptr_t *last = word + (end - word) / 16 * 16; word != last; word += 16) {
        if (next == before && none_of_sixteen(word, b))
            continue;
        before = next;
        next = four(next, four_words(word), b);
        next = four(next, four_words(word + 4), b);
        next = four(next, four_words(word + 8), b);
        next = four(next, four_words(word + 12), b);
    }
    *inside = next;
    return word;
}

AVX2 INLINE uintptr_t *any_number_avx2(uintptr_t *next, const uintptr_t *word, size_t bytes, struct bounds b)
{
    const uintptr_t *end = word + bytes / sizeof *word, *eights = word + bytes / SIZE(8) * 8;

    if (bytes >= MANY_BYTES)
        word = sixteens(&next, word, end, b);
    for (; word != eights; word += 8) {
        next = four(next, four_words(word), b);
        next = four(next, four_words(word + 4), b);
    }
    if ((bytes & SIZE(4)) != 0) {
        next = four(next, four_words(word), b);
        word += 4;
    }
    if ((bytes & SIZE(2)) != 0)
        next = four(next, two_words(word), b);
    if ((bytes & SIZE(1)) != 0)
        next = four(next, one_word(end - 1), b);
    return next;
}

AVX2 INLINE size_t scan_avx2(uintptr_t *inside, const struct sgc_words *range, size_t ranges, struct bounds b)
{
    uintptr_t *next = inside;

    for (const struct sgc_words *end = range + ranges; range < end; range++) {
        const uintptr_t *word = (const uintptr_t *)range->start;

        if (range->bytes == 2 * sizeof *word && end - range > 1 && range[1].bytes == 2 * sizeof *word)
            next = four(next, two_pairs(word, (const uintptr_t *)(++range)->start), b);
        else if (range->bytes == 4 * sizeof *word)
            next = four(next, four_words(word), b);
        else if (range->bytes == 2 * sizeof *word)
            next = four(next, two_words(word), b);
        else
            next = any_number_avx2(next, word, range->bytes, b);
    }
    return (size_t)(next - inside);
}

AVX2 static size_t inside_avx2(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                               uintptr_t limit)
{
    return scan_avx2(inside, range, ranges, bounds_of(base, limit, UINTPTR_MAX));
}

AVX2 static size_t masked_avx2(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                               uintptr_t limit)
{
    return scan_avx2(inside, range, ranges, bounds_of(base, limit, sgc_word_form.mask));
}

/* ---- the choice ---- */

/* The sanitizers would see what vectors read. */
sgc_words_form *sgc_words_inside(unsigned i, bool masked)
{
    sgc_words_form *form[4] = { NULL, NULL, NULL, NULL };
    unsigned n = 0;

    __builtin_cpu_init();
    if (!SGC_SANITIZED && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("popcnt"))
        form[n++] = masked ? masked_avx512 : inside_avx512;
    if (!SGC_SANITIZED && __builtin_cpu_supports("avx2"))
        form[n++] = masked ? masked_avx2 : inside_avx2;
    form[n] = masked ? sgc_words_masked_any : sgc_words_inside_any;
    sgc_assert(n < sizeof form / sizeof *form);
    return i <= n ? form[i] : NULL;
}
