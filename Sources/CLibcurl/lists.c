/// What a loop notes for its owner: the exchanges with events, and those that have ended.
#if defined(__linux__)

#include "exchange.h"

// MARK: Events

void loop_note(ycurl_loop *loop, struct ycurl_exchange *exchange, unsigned event) {
    exchange->events |= event;
    if (exchange->in_events || exchange->abandoned) return;
    exchange->in_events = true;
    exchange->next_event = NULL;
    if (loop->last_event) loop->last_event->next_event = exchange;
    else loop->first_event = exchange;
    loop->last_event = exchange;
}

/// Takes an exchange that goes away off the list; it is nearly always empty or short.
static void forget_events(ycurl_loop *loop, struct ycurl_exchange *gone) {
    if (!gone->in_events) return;
    struct ycurl_exchange **link = &loop->first_event;
    loop->last_event = NULL;
    while (*link) {
        if (*link == gone) *link = gone->next_event;
        else {
            loop->last_event = *link;
            link = &(*link)->next_event;
        }
    }
    gone->in_events = false;
}

ycurl_exchange *ycurl_loop_next_event(ycurl_loop *loop, unsigned *events) {
    struct ycurl_exchange *exchange = loop->first_event;
    if (!exchange) return NULL;
    loop->first_event = exchange->next_event;
    if (!loop->first_event) loop->last_event = NULL;
    exchange->in_events = false;
    *events = exchange->events;
    exchange->events = 0;
    return exchange;
}

// MARK: Ends

void loop_note_finished(ycurl_loop *loop, struct ycurl_exchange *exchange, int code) {
    deadlines_set(loop, exchange, INT64_MAX);
    if (exchange->in_finished) return;
    exchange->in_finished = true;
    exchange->code = code;
    exchange->next_finished = NULL;
    if (loop->last_finished) loop->last_finished->next_finished = exchange;
    else loop->first_finished = exchange;
    loop->last_finished = exchange;
}

ycurl_exchange *ycurl_loop_next_finished(ycurl_loop *loop, int *code) {
    struct ycurl_exchange *exchange = loop->first_finished;
    if (!exchange) return NULL;
    loop->first_finished = exchange->next_finished;
    if (!loop->first_finished) loop->last_finished = NULL;
    exchange->in_finished = false;
    *code = exchange->code;
    return exchange;
}

/// Takes an exchange that goes away off the list; it is nearly always empty.
static void forget_finished(ycurl_loop *loop, struct ycurl_exchange *gone) {
    if (!gone->in_finished) return;
    struct ycurl_exchange **link = &loop->first_finished;
    loop->last_finished = NULL;
    while (*link) {
        if (*link == gone) *link = gone->next_finished;
        else {
            loop->last_finished = *link;
            link = &(*link)->next_finished;
        }
    }
    gone->in_finished = false;
}

void loop_forget(ycurl_loop *loop, struct ycurl_exchange *gone) {
    forget_events(loop, gone);
    forget_finished(loop, gone);
}

#endif
