/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/size_class.c: each size gets the smallest class that holds it, each granule of a page belongs to the
 * right slot, and over the published mix of requests little is wasted.
 */
#include <string.h>

#include "alloc/pages/size_class.h"
#include "tests/lib/tap.h"

/*
 * The mix: how many of 10 000 requests are for how many bytes.  doc/design/heap-mix.md says where it comes
 * from and shows the same table.
 */
static const struct { uint32_t bytes, share; } mix[] = {
    { 2, 106 }, { 8, 240 }, { 10, 845 }, { 12, 192 }, { 16, 437 }, { 24, 633 }, { 28, 137 },
    { 32, 877 }, { 34, 128 }, { 38, 205 }, { 39, 192 }, { 40, 155 }, { 48, 667 }, { 52, 187 },
    { 53, 132 }, { 56, 465 }, { 60, 155 }, { 64, 670 }, { 72, 204 }, { 80, 101 }, { 88, 106 },
    { 104, 719 }, { 114, 116 }, { 120, 102 }, { 136, 101 }, { 152, 110 }, { 200, 135 }, { 208, 161 },
    { 248, 130 }, { 256, 100 }, { 344, 110 }, { 512, 116 }, { 520, 104 }, { 944, 103 }, { 1024, 130 },
    { 1104, 101 }, { 2048, 148 }, { 2256, 100 }, { 4064, 118 }, { 7160, 168 }, { 8032, 132 }, { 8493, 54 },
};
enum { MIX = sizeof mix / sizeof mix[0] };

static uint32_t class_of_bytes(uint32_t bytes)
{
    return sgc_class_for((bytes + SGC_GRANULE - 1) / SGC_GRANULE);
}

static void test_by_granules(void)
{
    int wrong = 0;

    for (uint32_t g = 1; g <= SGC_SMALL_MAX / SGC_GRANULE; g++) {
        uint32_t cls = sgc_class_for(g);
        wrong += cls >= sgc_size_classes.count || sgc_size_classes.of[cls].granules < g ||
                 (cls > 0 && sgc_size_classes.of[cls - 1].granules >= g);
    }
    tap_ok(wrong == 0, "each size gets the smallest class that holds it (%d do not)", wrong);
    tap_ok(sgc_class_bytes(sgc_size_classes.count - 1) == SGC_SMALL_MAX, "the largest class is SGC_SMALL_MAX");
    tap_ok(sgc_size_classes.count <= SGC_CLASSES_MAX && SGC_CLASSES_MAX <= 128, "two words have a bit for each class");
}

static void test_slots(void)
{
    int wrong = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        const struct sgc_size_class *c = &sgc_size_classes.of[cls];
        for (uint32_t g = 0; g < SGC_PAGE_GRANULES; g++)
            wrong += sgc_slot_of(g, c->reciprocal) != g / c->granules ||
                     (g < 64 && (c->starts >> g & 1) != (g % c->granules == 0));
    }
    tap_ok(wrong == 0, "each granule of a page lies in the slot that division gives, in each class");
}

static bool above_power(uint32_t granules)
{
    return ((granules - 1) & (granules - 2)) == 0;
}

static void test_pages(void)
{
    int wrong = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        const struct sgc_size_class *c = &sgc_size_classes.of[cls];
        uint32_t rest = SGC_PAGE_GRANULES - c->per_page * c->granules;
        wrong += c->per_page < 3 || rest >= c->granules;
    }
    tap_ok(wrong == 0, "a page holds as many objects as fit, three at least");
}

/* Where requests get the end byte. */
static void test_widened(void)
{
    int wider = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        const struct sgc_size_class *c = &sgc_size_classes.of[cls];

        wider += c->granules > 16 && !above_power(c->granules) && c->per_page * (c->granules + 1) <= SGC_PAGE_GRANULES;
    }
    tap_ok(wider == 0, "above the linear classes, and but for those just above powers of two, none could be larger with as "
           "many objects a page (%d could)", wider);
}

/* Where they do not: each eighth of a power of two, and the largest class. */
static void test_eighths(void)
{
    uint32_t eighths = 0;

    for (uint32_t power = 16; power < SGC_SMALL_MAX / SGC_GRANULE; power *= 2)
        for (uint32_t g = power; g < 2 * power && g <= SGC_SMALL_MAX / SGC_GRANULE; g += power / 8)
            eighths += sgc_size_classes.of[sgc_class_for(g)].granules == g;
    tap_ok(eighths + 15 + 1 == sgc_size_classes.count,
           "above the linear classes there is one for each eighth of a power of two (%u of %u)", eighths,
           sgc_size_classes.count);
}

/* Where requests crowd: what is zeroed and scanned for nothing. */
static void test_powers(void)
{
    for (uint32_t bytes = 16; bytes < SGC_SMALL_MAX; bytes *= 2) {
        uint32_t size = sgc_class_bytes(class_of_bytes(bytes + 1));
        uint32_t most = (bytes + 1) / 8 > SGC_GRANULE ? (bytes + 1) / 8 : SGC_GRANULE;

        tap_ok(size - bytes <= most, "%u bytes and the end byte get %u", bytes, size);
    }
}

/* Between two classes lies at most an eighth of the smaller and what widening adds. */
static void test_steps(void)
{
    uint32_t worst = 0;

    for (uint32_t cls = 17; cls < sgc_size_classes.count; cls++) {
        uint32_t before = sgc_size_classes.of[cls - 1].granules;
        uint32_t loss = (sgc_size_classes.of[cls].granules - before - 1) * 1000 / sgc_size_classes.of[cls].granules;
        worst = loss > worst ? loss : worst;
    }
    tap_ok(worst <= 250, "the worst request above 256 bytes wastes %u.%u %% of its object", worst / 10, worst % 10);
}

struct waste {
    double bytes;           /* of all bytes in objects */
    double request;         /* of an object, averaged over requests */
};

static struct waste waste_of_mix(uint32_t end_byte)
{
    double asked = 0, given = 0, part = 0, share = 0;

    for (int i = 0; i < MIX; i++) {
        double need = mix[i].bytes + end_byte;
        double size = sgc_class_bytes(class_of_bytes(mix[i].bytes + end_byte));
        asked += mix[i].share * need;
        given += mix[i].share * size;
        part += mix[i].share * (size - need) / size;
        share += mix[i].share;
    }
    return (struct waste){ (given - asked) / given * 100, part / share * 100 };
}

static void test_mix(void)
{
    struct waste plain = waste_of_mix(0), with_end = waste_of_mix(1);

    tap_ok(plain.bytes <= 12.5, "over the mix %.1f %% of the bytes in objects are wasted", plain.bytes);
    tap_ok(plain.request <= 12.5, "averaged over requests an object wastes %.1f %%", plain.request);
    tap_diag("with the end byte: %.1f %% of the bytes, %.1f %% averaged over requests", with_end.bytes, with_end.request);
    tap_ok(with_end.bytes <= 12.5, "with the end byte it is still at most an eighth of the bytes (%.1f %%)",
           with_end.bytes);
}

static void test_document(void)
{
    const char *folder = getenv("SGC_SRCDIR");
    char path[4096], line[256];
    FILE *file;
    int rows = 0, wrong = 0;
    unsigned bytes, share;

    snprintf(path, sizeof path, "%s/doc/design/heap-mix.md", folder != NULL ? folder : ".");
    file = fopen(path, "r");
    if (file == NULL) {
        tap_skip("%s is not here", path);
        return;
    }
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "| %u | %u |", &bytes, &share) == 2) {
            wrong += rows >= MIX || mix[rows].bytes != bytes || mix[rows].share != share;
            rows++;
        }
    fclose(file);
    tap_ok(rows == MIX && wrong == 0, "doc/design/heap-mix.md shows this mix (%d rows)", rows);
}

int main(void)
{
    sgc_size_classes_init();
    struct sgc_size_classes before = sgc_size_classes;
    sgc_size_classes_init();
    tap_ok(memcmp(&before, &sgc_size_classes, sizeof before) == 0, "the tables are made once");
    tap_each(test_by_granules, test_slots, test_pages, SGC_TRACES ? test_widened : test_eighths, test_powers, test_steps);
    return tap_all(test_mix, test_document);
}
