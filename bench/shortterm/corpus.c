/* SPDX-License-Identifier: MIT */
/* See bench/shortterm/corpus.h.  Nothing is shared. */
#include "bench/shortterm/corpus.h"

#include <string.h>

#include "bench/cases/case.h"

enum { CONSONANTS = 16, VOWELS = 4, SYLLABLES = CONSONANTS * VOWELS };

static const char consonants[] = "bcdfghjklmnprstw", vowels[] = "aeio";

struct corpus corpus_open(unsigned document)
{
    return (struct corpus){ (uint64_t)(document + 1) * UINT64_C(0x9e3779b97f4a7c15) };
}

/* Half of all words are of an eighth of the vocabulary, an eighth of all words of 8 in 4096. */
unsigned corpus_next(struct corpus *corpus)
{
    double u = (double)random_below(&corpus->random, 1 << 20) / (1 << 20);

    return (unsigned)(u * u * u * CORPUS_WORDS);
}

/* Syllables are digits of the number, the lowest first, one at least. */
size_t corpus_spell(unsigned word, char *letters)
{
    char *p = letters;

    do {
        *p++ = consonants[word % CONSONANTS];
        *p++ = vowels[word / CONSONANTS % VOWELS];
        word /= SYLLABLES;
    } while (word > 0);
    *p = '\0';
    return (size_t)(p - letters);
}

unsigned corpus_word(const char *letters)
{
    unsigned word = 0, digit = 1;

    for (const char *p = letters; *p != '\0'; p += 2, digit *= SYLLABLES) {
        const char *consonant = strchr(consonants, p[0]), *vowel = p[1] == '\0' ? NULL : strchr(vowels, p[1]);

        if (consonant == NULL || vowel == NULL || digit >= CORPUS_WORDS)
            return CORPUS_WORDS;
        word += digit * (unsigned)(consonant - consonants + CONSONANTS * (vowel - vowels));
    }
    return word;
}
