/// libcurl's memory on the thread of a loop.
///
/// For each request, libcurl allocates some thirty pieces, including a receive buffer of 16 KiB, and frees them with
/// the response. With many active requests this exceeds malloc's caches (glibc: seven pieces of a size per thread). If
/// many buffers are freed at the same time, malloc returns memory beyond 128 KiB to the system. The system must then
/// provide the memory again for the next requests, page by page. Therefore the loop's thread keeps freed memory for
/// later allocations of libcurl.
///
/// Every piece comes from malloc, and malloc reports the size of a piece. Therefore other users of libcurl in this
/// process may free memory from libcurl as usual, on any thread.
#if defined(__linux__)

#include "exchange.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/// The size of libcurl's receive buffer: the bytes of a piece of the response, and one byte for the terminator.
#define BUFFER (RECEIVED_PIECE + 1)
/// The maximum size of a piece that counts as a receive buffer. malloc may provide a few bytes more than requested.
#define LARGEST_BUFFER (BUFFER + 64)
/// The maximum size of a small piece that is kept. The largest small pieces of a request have 1.5 KB.
#define LARGEST_SMALL ((size_t)2 << 10)
#define SHELVES (LARGEST_SMALL / 16 + 1)
/// The maximum number of kept pieces of each size. Other threads allocate some pieces that the loop's thread frees.
/// Their sizes reach this limit without displacing other sizes.
#define MOST_SMALL 64
/// The number of receive buffers that are kept beyond one for each running exchange, 1 MiB in total. This many
/// exchanges may end at the same time.
#define SPARE_BUFFERS 64

struct piece {
    struct piece *next;
};

/// The pieces of one size.
struct shelf {
    struct piece *first;
    size_t count;
};

struct kept_memory {
    const ycurl_loop *loop;
    struct shelf buffers;
    /// The kept small pieces. `small[i]` has the pieces with room for 16 * i + 8 bytes, which are malloc's size steps.
    struct shelf small[SHELVES];
};

/// The memory kept for the loop of this thread, or NULL on all other threads.
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
    size_t most = loop->running_count + SPARE_BUFFERS;
    if (is_of(loop) && kept->buffers.count > most) trim(&kept->buffers, most);
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

// MARK: The functions for libcurl

/// Returns a kept piece with room for `count` bytes, or NULL if there is none.
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

/// libcurl uses this function mostly to grow the head of a request, from 32 bytes by doubling.
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
