/// libcurl's memory on the thread of a loop.
///
/// With each request libcurl asks for some thirty pieces, one of them of 16 KiB, and gives them back. With many requests
/// under way that is more than malloc has at hand (glibc: seven pieces of a size on a thread, up to 1 KiB): for each
/// large piece it joins its small ones, to split them again at once. So a loop keeps what is given back on its thread for
/// what is asked for there next. With 32 requests at a time that gives some 4 % more of them (benchmark `overhead`).
///
/// Every piece comes from malloc, and how large it is malloc says. So whoever else uses libcurl in this process may free
/// what it got from it as ever, on any thread.
#if defined(__linux__)

#include "exchange.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/// A larger piece is not kept: libcurl's receive buffer, with its end, is the largest that each request has.
#define MOST_PIECE (RECEIVED_PIECE + 64)
/// Bytes that are kept at most, the receive buffers of 64 requests.
#define MOST_KEPT ((size_t)1 << 20)
/// The smallest piece that malloc makes.
#define LEAST_PIECE ((size_t)24)
/// Pieces are 16 bytes apart, as malloc's are, 8 of which it has for itself.
#define CLASS_OF_REQUEST(count) (((count) < LEAST_PIECE ? LEAST_PIECE + 23 : (count) + 23) / 16)
#define CLASS_OF_PIECE(count) (((count) + 8) / 16)

struct piece {
    struct piece *next;
};

struct kept_memory {
    const ycurl_loop *loop;
    size_t bytes;
    struct piece *pieces[CLASS_OF_REQUEST(MOST_PIECE) + 1];
};

/// What the loop of this thread keeps; NULL on all other threads.
static _Thread_local struct kept_memory *kept;

// MARK: A loop's thread

void memory_keep(const ycurl_loop *loop) {
    if (kept) return;
    kept = calloc(1, sizeof *kept);
    if (kept) kept->loop = loop;
}

void memory_give_back(const ycurl_loop *loop) {
    if (!kept || kept->loop != loop) return;
    for (size_t class = 0; class < sizeof kept->pieces / sizeof kept->pieces[0]; class++) {
        for (struct piece *piece = kept->pieces[class], *next; piece; piece = next) {
            next = piece->next;
            free(piece);
        }
        kept->pieces[class] = NULL;
    }
    kept->bytes = 0;
}

void memory_end(const ycurl_loop *loop) {
    if (!kept || kept->loop != loop) return;
    memory_give_back(loop);
    free(kept);
    kept = NULL;
}

size_t ycurl_kept_bytes(void) { return kept ? kept->bytes : 0; }

// MARK: What libcurl calls

/// A piece that was kept and is large enough; NULL when there is none.
static void *take(size_t count) {
    if (!kept || count > MOST_PIECE) return NULL;
    struct piece **first = &kept->pieces[CLASS_OF_REQUEST(count)];
    struct piece *piece = *first;
    if (!piece) return NULL;
    *first = piece->next;
    kept->bytes -= malloc_usable_size(piece);
    return piece;
}

void *ycurl_malloc(size_t count) {
    void *piece = take(count);
    return piece ? piece : malloc(count);
}

void *ycurl_calloc(size_t number, size_t size) {
    void *piece = size && number > MOST_PIECE / size ? NULL : take(number * size);
    return piece ? memset(piece, 0, number * size) : calloc(number, size);
}

void *ycurl_realloc(void *piece, size_t count) { return piece ? realloc(piece, count) : ycurl_malloc(count); }

char *ycurl_strdup(const char *text) {
    size_t count = strlen(text) + 1;
    char *copy = ycurl_malloc(count);
    return copy ? memcpy(copy, text, count) : NULL;
}

void ycurl_free(void *given) {
    if (!given || !kept) return free(given);
    size_t count = malloc_usable_size(given);
    if (count < LEAST_PIECE || count > MOST_PIECE || kept->bytes + count > MOST_KEPT) return free(given);
    struct piece *piece = given, **first = &kept->pieces[CLASS_OF_PIECE(count)];
    piece->next = *first;
    *first = piece;
    kept->bytes += count;
}

#endif
