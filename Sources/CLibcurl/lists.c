/// What a loop notes for its owner: the exchanges with events, and those that have ended.
#if defined(__linux__)

#include "exchange.h"

static void append(ycurl_loop *loop, int list, struct ycurl_exchange *exchange) {
    struct ycurl_exchange *last = loop->lists[list].last;
    exchange->links[list] = (struct list_link){.next = NULL, .is_listed = true};
    if (last) last->links[list].next = exchange;
    else loop->lists[list].first = exchange;
    loop->lists[list].last = exchange;
}

/// Takes the first one off; NULL when there is none.
static struct ycurl_exchange *take(ycurl_loop *loop, int list) {
    struct ycurl_exchange *exchange = loop->lists[list].first;
    if (!exchange) return NULL;
    loop->lists[list].first = exchange->links[list].next;
    if (!loop->lists[list].first) loop->lists[list].last = NULL;
    exchange->links[list].is_listed = false;
    return exchange;
}

/// Takes any one off; the lists are nearly always empty or short.
static void forget(ycurl_loop *loop, int list, struct ycurl_exchange *gone) {
    if (!gone->links[list].is_listed) return;
    struct ycurl_exchange **link = &loop->lists[list].first;
    loop->lists[list].last = NULL;
    while (*link) {
        if (*link == gone) *link = gone->links[list].next;
        else {
            loop->lists[list].last = *link;
            link = &(*link)->links[list].next;
        }
    }
    gone->links[list].is_listed = false;
}

void loop_note(ycurl_loop *loop, struct ycurl_exchange *exchange, unsigned event) {
    exchange->events |= event;
    if (!exchange->links[EVENTS].is_listed && !exchange->abandoned) append(loop, EVENTS, exchange);
}

ycurl_exchange *ycurl_loop_next_event(ycurl_loop *loop, unsigned *events) {
    struct ycurl_exchange *exchange = take(loop, EVENTS);
    if (!exchange) return NULL;
    *events = exchange->events;
    exchange->events = 0;
    return exchange;
}

void loop_note_finished(ycurl_loop *loop, struct ycurl_exchange *exchange, int code) {
    deadlines_set(loop, exchange, INT64_MAX);
    if (exchange->links[FINISHED].is_listed) return;
    exchange->code = code;
    append(loop, FINISHED, exchange);
}

ycurl_exchange *ycurl_loop_next_finished(ycurl_loop *loop, int *code) {
    struct ycurl_exchange *exchange = take(loop, FINISHED);
    if (exchange) *code = exchange->code;
    return exchange;
}

void loop_note_doubt(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    if (!exchange->running || exchange->in_doubt || exchange->abandoned) return;
    exchange->in_doubt = true;
    loop->doubt_count++;
    loop_note_ahead(loop, exchange);
}

static bool settle_doubt(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    bool was_in_doubt = exchange->in_doubt;
    if (was_in_doubt) loop->doubt_count--;
    exchange->in_doubt = false;
    return was_in_doubt;
}

void loop_note_ahead(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    if (!exchange->links[AHEAD].is_listed && !exchange->abandoned) append(loop, AHEAD, exchange);
}

void loop_look_at_ahead(ycurl_loop *loop, bool socket_moved) {
    // No more than there are now: a look may put one on the list again, or take any off.
    size_t left = 0;
    for (struct ycurl_exchange *next = loop->lists[AHEAD].first; next; next = next->links[AHEAD].next) left++;
    struct ycurl_exchange *exchange;
    while (left-- > 0 && (exchange = take(loop, AHEAD))) {
        bool is_due = settle_doubt(loop, exchange) || socket_moved || exchange_sent(exchange) != exchange->sent_at_look;
        if (is_due) exchange_look_for_end(exchange);
        else append(loop, AHEAD, exchange);
    }
}

void loop_forget_ahead(ycurl_loop *loop, struct ycurl_exchange *gone) {
    settle_doubt(loop, gone);
    forget(loop, AHEAD, gone);
}

void loop_forget(ycurl_loop *loop, struct ycurl_exchange *gone) {
    forget(loop, EVENTS, gone);
    forget(loop, FINISHED, gone);
}

#endif
