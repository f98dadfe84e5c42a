/// The lists of a loop from which the caller takes: the exchanges with events, and the exchanges that have ended.
#if defined(__linux__)

#include "exchange.h"

void list_append(ycurl_loop *loop, int list, struct ycurl_exchange *exchange) {
    struct ycurl_exchange *last = loop->lists[list].last;
    exchange->links[list] = (struct list_link){.next = NULL, .is_listed = true};
    if (last) last->links[list].next = exchange;
    else loop->lists[list].first = exchange;
    loop->lists[list].last = exchange;
}

struct ycurl_exchange *list_take(ycurl_loop *loop, int list) {
    struct ycurl_exchange *exchange = loop->lists[list].first;
    if (!exchange) return NULL;
    loop->lists[list].first = exchange->links[list].next;
    if (!loop->lists[list].first) loop->lists[list].last = NULL;
    exchange->links[list].is_listed = false;
    return exchange;
}

void list_forget(ycurl_loop *loop, int list, struct ycurl_exchange *gone) {
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
    if (!exchange->links[EVENTS].is_listed && exchange->place != ABANDONED) list_append(loop, EVENTS, exchange);
}

ycurl_exchange *ycurl_loop_next_event(ycurl_loop *loop, unsigned *events) {
    struct ycurl_exchange *exchange = list_take(loop, EVENTS);
    if (!exchange) return NULL;
    *events = exchange->events;
    exchange->events = 0;
    return exchange;
}

void loop_note_finished(ycurl_loop *loop, struct ycurl_exchange *exchange, int code) {
    deadlines_set(loop, exchange, INT64_MAX);
    if (exchange->links[FINISHED].is_listed) return;
    exchange->code = code;
    list_append(loop, FINISHED, exchange);
}

ycurl_exchange *ycurl_loop_next_finished(ycurl_loop *loop, int *code) {
    struct ycurl_exchange *exchange = list_take(loop, FINISHED);
    if (exchange) *code = exchange->code;
    return exchange;
}

void loop_forget(ycurl_loop *loop, struct ycurl_exchange *gone) {
    list_forget(loop, EVENTS, gone);
    list_forget(loop, FINISHED, gone);
}

#endif
