/// A heap of the exchanges that have a deadline. Each exchange stores its index in the heap, so that it can be removed
/// without a search when it ends.
#if defined(__linux__)

#include "exchange.h"

#include <stdlib.h>

static void place(ycurl_loop *loop, size_t index, struct ycurl_exchange *exchange) {
    loop->heap[index] = exchange;
    exchange->heap_index = index;
}

static void sift_up(ycurl_loop *loop, size_t index) {
    struct ycurl_exchange *exchange = loop->heap[index];
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (loop->heap[parent]->due <= exchange->due) break;
        place(loop, index, loop->heap[parent]);
        index = parent;
    }
    place(loop, index, exchange);
}

static void sift_down(ycurl_loop *loop, size_t index) {
    struct ycurl_exchange *exchange = loop->heap[index];
    for (;;) {
        size_t child = index * 2 + 1;
        if (child >= loop->heap_count) break;
        if (child + 1 < loop->heap_count && loop->heap[child + 1]->due < loop->heap[child]->due) child++;
        if (exchange->due <= loop->heap[child]->due) break;
        place(loop, index, loop->heap[child]);
        index = child;
    }
    place(loop, index, exchange);
}

static void take_out(ycurl_loop *loop, size_t index) {
    loop->heap[index]->heap_index = NOT_IN_HEAP;
    struct ycurl_exchange *last = loop->heap[--loop->heap_count];
    if (index == loop->heap_count) return;
    place(loop, index, last);
    sift_up(loop, index);
    sift_down(loop, last->heap_index);
}

bool deadlines_set(ycurl_loop *loop, struct ycurl_exchange *exchange, int64_t due) {
    exchange->due = due;
    if (due == INT64_MAX) {
        if (exchange->heap_index != NOT_IN_HEAP) take_out(loop, exchange->heap_index);
        return true;
    }
    if (exchange->heap_index == NOT_IN_HEAP) {
        if (loop->heap_count == loop->heap_capacity) {
            size_t capacity = loop->heap_capacity ? loop->heap_capacity * 2 : 64;
            struct ycurl_exchange **heap = realloc(loop->heap, capacity * sizeof *heap);
            if (!heap) return false;
            loop->heap = heap;
            loop->heap_capacity = capacity;
        }
        place(loop, loop->heap_count++, exchange);
    }
    sift_up(loop, exchange->heap_index);
    sift_down(loop, exchange->heap_index);
    return true;
}

int64_t deadlines_idle(const struct ycurl_exchange *exchange) {
    bool ends = exchange->idle_limit > 0 && exchange->idle_limit < INT64_MAX - exchange->last_activity;
    return ends ? exchange->last_activity + exchange->idle_limit : INT64_MAX;
}

bool deadlines_renew(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    int64_t due = exchange->connection ? exchange->connection->timer : INT64_MAX;
    // An abandoned exchange has no deadline that matters, because only libcurl still waits for it.
    if (exchange->place != ABANDONED) {
        due = earlier(due, earlier(exchange->connect_deadline, exchange->deadline));
        due = earlier(due, deadlines_idle(exchange));
    }
    return deadlines_set(loop, exchange, due);
}

void deadlines_shorten(ycurl_loop *loop, struct ycurl_exchange *exchange, int64_t rest) {
    exchange->deadline = earlier(exchange->deadline, loop->now + rest);
    deadlines_renew(loop, exchange);
}

#endif
