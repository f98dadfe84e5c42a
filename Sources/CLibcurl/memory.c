/// libcurl's memory on the thread of a loop.
///
/// For each request libcurl takes some thirty pieces, among them a receive buffer of 16 KiB, and gives them back with
/// the answer. With many requests under way that is more than malloc has at hand (glibc: seven pieces of a size on a
/// thread), and where many buffers come back at a time it hands what lies beyond 128 KiB to the system, which has to
/// provide it anew for the next requests, page by page. So the loop's thread keeps what is given back there for what
/// libcurl asks for next.
///
/// Every piece is malloc's, and how large it is malloc says. So whoever else uses libcurl in this process may free what
/// it got from it as ever, on any thread.
#if defined(__linux__)

#include "exchange.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/// What libcurl asks for to receive in: the bytes of a piece of the response, and one for their end.
#define BUFFER (RECEIVED_PIECE + 1)
/// malloc may give some bytes more.
#define LARGEST_BUFFER (BUFFER + 64)
/// The small pieces that are kept; the largest that each request has are of 1.5 KB.
#define LARGEST_SMALL ((size_t)2 << 10)
#define SHELVES (LARGEST_SMALL / 16 + 1)
/// Of each size so many. What callers take and the loop gives back comes to that, and fills no other size's place.
#define MOST_SMALL 64
/// Of receive buffers so many beyond one for each exchange that runs: as many as end at a time, 1 MiB.
#define SPARE_BUFFERS 64

struct piece {
    struct piece *next;
};

/// Pieces of a size.
struct shelf {
    struct piece *first;
    size_t count;
};

struct kept_memory {
    const ycurl_loop *loop;
    struct shelf buffers;
    /// Those with room for 16 times the index and 8 bytes, which is how malloc's grow.
    struct shelf small[SHELVES];
};

/// What the loop of this thread keeps; NULL on all other threads.
static _Thread_local struct kept_memory *kept;

static void *take(struct shelf *shelf) {
    struct piece *piece = shelf->first;
    shelf->first = piece->next;
    shelf->count--;
    return piece;
}

static void put(struct shelf *shelf, void *given) {
    struct piece *piece = given;
    piece->next = shelf->first;
    shelf->first = piece;
    shelf->count++;
}

static void trim(struct shelf *shelf, size_t most) {
    while (shelf->count > most) free(take(shelf));
}

// MARK: The loop's thread

void memory_keep(const ycurl_loop *loop) {
    if (kept) return;
    kept = calloc(1, sizeof *kept);
    if (kept) kept->loop = loop;
}

static bool is_of(const ycurl_loop *loop) { return kept && kept->loop == loop; }

void memory_trim(const ycurl_loop *loop) {
    if (is_of(loop)) trim(&kept->buffers, loop->running_count + SPARE_BUFFERS);
}

void memory_give_back(const ycurl_loop *loop) {
    if (!is_of(loop)) return;
    trim(&kept->buffers, 0);
    for (size_t i = 0; i < SHELVES; i++) trim(&kept->small[i], 0);
}

void memory_end(const ycurl_loop *loop) {
    if (!is_of(loop)) return;
    memory_give_back(loop);
    free(kept);
    kept = NULL;
}

size_t ycurl_kept_bytes(void) {
    if (!kept) return 0;
    size_t bytes = kept->buffers.count * BUFFER;
    for (size_t i = 0; i < SHELVES; i++) bytes += kept->small[i].count * (16 * i + 8);
    return bytes;
}

// MARK: What libcurl calls

/// A piece that is kept and has room for so many bytes; NULL when there is none.
static void *find(size_t count) {
    if (!kept || count > BUFFER || (count > LARGEST_SMALL && count < BUFFER)) return NULL;
    struct shelf *shelf = count == BUFFER ? &kept->buffers : &kept->small[count <= 24 ? 1 : (count + 7) / 16];
    return shelf->count ? take(shelf) : NULL;
}

void *ycurl_malloc(size_t count) {
    void *piece = find(count);
    return piece ? piece : malloc(count);
}

void *ycurl_calloc(size_t number, size_t size) {
    if (size && number > SIZE_MAX / size) return NULL;
    void *piece = find(number * size);
    return piece ? memset(piece, 0, number * size) : calloc(number, size);
}

/// libcurl grows each request's head from 32 bytes on, doubling them.
void *ycurl_realloc(void *piece, size_t count) {
    if (!piece) return ycurl_malloc(count);
    size_t room = kept && count ? malloc_usable_size(piece) : 0;
    if (room == 0 || room > LARGEST_SMALL) return realloc(piece, count);
    if (room >= count) return piece;
    void *larger = find(count);
    if (!larger) return realloc(piece, count);
    memcpy(larger, piece, room);
    ycurl_free(piece);
    return larger;
}

char *ycurl_strdup(const char *text) {
    size_t count = strlen(text) + 1;
    char *copy = ycurl_malloc(count);
    return copy ? memcpy(copy, text, count) : NULL;
}

void ycurl_free(void *piece) {
    if (!piece || !kept) return free(piece);
    size_t room = malloc_usable_size(piece);
    if (room >= BUFFER && room <= LARGEST_BUFFER) return put(&kept->buffers, piece);
    if (room < 24 || room > LARGEST_SMALL) return free(piece);
    struct shelf *shelf = &kept->small[(room - 8) / 16];
    return shelf->count < MOST_SMALL ? put(shelf, piece) : free(piece);
}

#endif
