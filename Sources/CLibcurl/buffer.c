/// A block of memory that grows as bytes are appended.
#if defined(__linux__)

#include "exchange.h"

#include <stdlib.h>
#include <string.h>

bool buffer_reserve(struct buffer *buffer, size_t more) {
    if (buffer->capacity - buffer->count >= more) return true;
    if (more > SIZE_MAX / 2 - buffer->count) return false;
    // The first capacity is enough for the header fields of most requests. It is small because every waiting request
    // has a buffer of its own, and there may be ten thousand.
    size_t capacity = buffer->capacity ? buffer->capacity * 2 : 192;
    if (capacity < buffer->count + more) capacity = buffer->count + more;
    char *bytes = realloc(buffer->bytes, capacity);
    if (!bytes) return false;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

bool buffer_append(struct buffer *buffer, const void *bytes, size_t count) {
    if (!buffer_reserve(buffer, count)) return false;
    if (count) memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
    return true;
}

void buffer_free(struct buffer *buffer) {
    free(buffer->bytes);
    *buffer = (struct buffer){0};
}

#endif
