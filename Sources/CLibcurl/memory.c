/// libcurl's receive buffers on the thread of a loop.
///
/// libcurl takes a buffer of 16 KiB for each request, and gives it back with the answer. When many come back at a time,
/// glibc's malloc hands what lies beyond 128 KiB to the system, which has to provide it anew for the next requests, page
/// by page, and interrupts the loop for that. So the loop's thread keeps the buffers for what libcurl asks for there next.
///
/// Every buffer is malloc's, and how large it is malloc says. So whoever else uses libcurl in this process may free what
/// it got from it as ever, on any thread.
#if defined(__linux__)

#include "exchange.h"

#include <malloc.h>
#include <stdlib.h>

/// What libcurl asks for: the bytes of a piece, and one for their end.
#define BUFFER (RECEIVED_PIECE + 1)
/// malloc may give some bytes more.
#define LARGEST_BUFFER (BUFFER + 64)

struct spare_buffer {
    struct spare_buffer *next;
};

struct kept_buffers {
    const ycurl_loop *loop;
    struct spare_buffer *first;
    size_t count;
};

/// What the loop of this thread keeps; NULL on all other threads.
static _Thread_local struct kept_buffers *kept;

// MARK: The loop's thread

void memory_keep(const ycurl_loop *loop) {
    if (kept) return;
    kept = calloc(1, sizeof *kept);
    if (kept) kept->loop = loop;
}

static void *take(void) {
    struct spare_buffer *buffer = kept->first;
    kept->first = buffer->next;
    kept->count--;
    return buffer;
}

void memory_trim(const ycurl_loop *loop, size_t most) {
    if (!kept || kept->loop != loop) return;
    while (kept->count > most) free(take());
}

void memory_end(const ycurl_loop *loop) {
    if (!kept || kept->loop != loop) return;
    memory_trim(loop, 0);
    free(kept);
    kept = NULL;
}

size_t ycurl_kept_buffers(void) { return kept ? kept->count : 0; }

// MARK: What libcurl calls

void *ycurl_malloc(size_t count) {
    bool is_kept = kept && kept->count && count == BUFFER;
    return is_kept ? take() : malloc(count);
}

static bool is_buffer(void *piece) {
    size_t count = malloc_usable_size(piece);
    return count >= BUFFER && count <= LARGEST_BUFFER;
}

void ycurl_free(void *piece) {
    if (!piece || !kept || !is_buffer(piece)) return free(piece);
    struct spare_buffer *buffer = piece;
    buffer->next = kept->first;
    kept->first = buffer;
    kept->count++;
}

#endif
