/* SPDX-License-Identifier: MIT */
/*
 * A program that replaces some of C++'s operators, and puts a header before each block: all other
 * forms call those, by the standard ([new.delete]).  With REPLACES_NOTHING the program has none of
 * its own, and all are the malloc's.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr std::size_t HEADER = 64;
constexpr std::uint64_t MAGIC = 0x5ca1ab1e0ddba11;
[[maybe_unused]] unsigned made, given, refused;

[[maybe_unused]] void *with_header(std::size_t bytes)
{
    char *block = bytes > PTRDIFF_MAX - HEADER ? nullptr : static_cast<char *>(std::malloc(bytes + HEADER));

    if (block == nullptr) {
        refused++;
        throw std::bad_alloc();
    }
    made++;
    std::memcpy(block, &MAGIC, sizeof MAGIC);
    return block + HEADER;
}

[[maybe_unused]] void without_header(void *object)
{
    char *block = static_cast<char *>(object) - HEADER;

    if (object == nullptr)
        return;
    given++;
    if (std::memcmp(block, &MAGIC, sizeof MAGIC) != 0) {
        std::puts("an object without a header: its form of new did not call ours");
        std::_Exit(1);
    }
    std::free(block);
}

/* Not seen through by the compiler, which may leave out pairs. */
void *volatile seen;

void *see(void *object)
{
    seen = object;
    return seen;
}

}

#ifndef REPLACES_NOTHING
void *operator new(std::size_t bytes) { return with_header(bytes); }
void operator delete(void *object) noexcept { without_header(object); }
void *operator new(std::size_t bytes, std::align_val_t) { return with_header(bytes); }
void operator delete(void *object, std::align_val_t) noexcept { without_header(object); }
constexpr unsigned FORMS = 12, REFUSED = 3;
#else
constexpr unsigned FORMS = 0, REFUSED = 0;
#endif

int main()
{
    const std::size_t much = PTRDIFF_MAX;
    const auto align = std::align_val_t(32);
    bool thrown = false;

    made = given = refused = 0;     /* libraries may have objects from their start */
    ::operator delete(see(::operator new(10)));
    ::operator delete(see(::operator new(10)), std::size_t(10));
    ::operator delete(see(::operator new(10, std::nothrow)), std::nothrow);
    ::operator delete[](see(::operator new[](10)));
    ::operator delete[](see(::operator new[](10)), std::size_t(10));
    ::operator delete[](see(::operator new[](10, std::nothrow)), std::nothrow);
    ::operator delete(see(::operator new(10, align)), align);
    ::operator delete(see(::operator new(10, align)), std::size_t(10), align);
    ::operator delete(see(::operator new(10, align, std::nothrow)), align, std::nothrow);
    ::operator delete[](see(::operator new[](10, align)), align);
    ::operator delete[](see(::operator new[](10, align)), std::size_t(10), align);
    ::operator delete[](see(::operator new[](10, align, std::nothrow)), align, std::nothrow);
    ::operator delete(nullptr);
    if (see(::operator new(much, std::nothrow)) != nullptr || see(::operator new[](much, std::nothrow)) != nullptr)
        return 1;
    try {
        see(::operator new[](much));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    std::printf("made %u, given %u, refused %u, thrown %d\n", made, given, refused, thrown);
    return made == FORMS && given == FORMS && refused == REFUSED && thrown ? 0 : 1;
}
