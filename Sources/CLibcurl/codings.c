/// The codings of a response's body (RFC 9110 section 8.4): the list of codings that libcurl decodes, and a decoder for
/// gzip.
///
/// libcurl fails if it does not know the coding of a body. It reads only the first member of a gzip file (seen with
/// 7.88), but RFC 1952 section 2.2 allows any number of members. zlib is always available because libcurl depends on
/// it.
#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "exchange.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/// The state of a zlib stream. Its layout is part of zlib's ABI.
struct zlib_stream {
    const unsigned char *next_in;
    unsigned available_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned available_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *(*allocate)(void *, unsigned, unsigned);
    void (*release)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long checksum, reserved;
};

enum { Z_OK = 0, Z_STREAM_END = 1, Z_BUF_ERROR = -5, Z_NO_FLUSH = 0 };
/// The argument of zlib for the largest window and the gzip format only.
enum { GZIP_WINDOW = 15 + 16 };

static struct {
    int (*init)(struct zlib_stream *stream, int window, const char *version, int size);
    int (*inflate)(struct zlib_stream *stream, int flush);
    int (*reset)(struct zlib_stream *stream);
    int (*end)(struct zlib_stream *stream);
} zlib;

static bool has_zlib;

struct gunzip {
    struct zlib_stream stream;
    /// Whether any bytes have arrived, and whether a member is being read.
    bool has_begun, in_member;
};

void codings_find_functions(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    const struct wanted_function wanted[] = {
        {"inflateInit2_", &zlib.init},
        {"inflate", &zlib.inflate},
        {"inflateReset", &zlib.reset},
        {"inflateEnd", &zlib.end},
    };
    has_zlib = library && library_find(library, wanted, sizeof wanted / sizeof wanted[0]) == NULL;
}

// MARK: Names of codings

static bool is_token(const char *token, size_t count, const char *name) {
    return strlen(name) == count && strncasecmp(token, name, count) == 0;
}

static void note_token(struct codings *codings, const char *token, size_t count) {
    if (count == 0 || is_token(token, count, "identity") || is_token(token, count, "none")) return;
    bool is_gzip = is_token(token, count, "gzip") || is_token(token, count, "x-gzip");
    bool is_known = (is_gzip && ycurl_has_feature(CURL_VERSION_LIBZ)) ||
                    (is_token(token, count, "deflate") && ycurl_has_feature(CURL_VERSION_LIBZ)) ||
                    (is_token(token, count, "br") && ycurl_has_feature(CURL_VERSION_BROTLI)) ||
                    (is_token(token, count, "zstd") && ycurl_has_feature(CURL_VERSION_ZSTD));
    codings->count++;
    codings->names_gzip |= is_gzip;
    codings->names_unknown |= !is_known;
}

void codings_note(struct codings *codings, const char *value, size_t count) {
    const char *end = value + count;
    while (value < end) {
        size_t skipped = 0, size = 0;
        while (value + skipped < end && strchr(" \t\r\n,", value[skipped])) skipped++;
        value += skipped;
        while (value + size < end && !strchr(" \t\r\n,", value[size])) size++;
        note_token(codings, value, size);
        value += size;
    }
}

/// Whether libcurl can be told not to decode a body after the head has arrived. From 8.5 on, libcurl decides earlier.
static bool can_take_over(void) { return ycurl_version() < 0x080500; }

static struct gunzip *begin_gunzip(void) {
    struct gunzip *gunzip = calloc(1, sizeof *gunzip);
    if (!gunzip) return NULL;
    if (zlib.init(&gunzip->stream, GZIP_WINDOW, "1", (int)sizeof gunzip->stream) == Z_OK) return gunzip;
    free(gunzip);
    return NULL;
}

void codings_settle(struct ycurl_exchange *exchange) {
    const struct codings *codings = &exchange->codings;
    if (exchange->gunzip) codings_end(exchange);
    exchange->encoded = codings->count > 0 && !codings->names_unknown;
    bool is_gzip = exchange->encoded && codings->count == 1 && codings->names_gzip && has_zlib;
    if (!exchange->configured.decompress || (!is_gzip && !codings->names_unknown) || !can_take_over()) return;
    if (is_gzip) exchange->gunzip = begin_gunzip();
    if (is_gzip && !exchange->gunzip) return;  // The decoder could not start: libcurl decodes instead.
    ycurl_lib.easy_setopt(exchange->easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    exchange->configured.raw = true;
}

// MARK: gzip

bool codings_end(struct ycurl_exchange *exchange) {
    struct gunzip *gunzip = exchange->gunzip;
    if (!gunzip) return false;
    bool is_cut = gunzip->in_member;
    zlib.end(&gunzip->stream);
    free(gunzip);
    exchange->gunzip = NULL;
    return is_cut;
}

/// Starts the next gzip member, after optional zero bytes between the members.
static bool begin_member(struct gunzip *gunzip) {
    struct zlib_stream *stream = &gunzip->stream;
    while (gunzip->has_begun && stream->available_in && *stream->next_in == 0) {
        stream->next_in++;
        stream->available_in--;
    }
    if (!stream->available_in) return true;
    if (gunzip->has_begun && zlib.reset(stream) != Z_OK) return false;
    gunzip->has_begun = gunzip->in_member = true;
    return true;
}

/// Performs one step of decoding. Returns false if the bytes are not valid gzip.
static bool inflate_piece(struct gunzip *gunzip) {
    int outcome = zlib.inflate(&gunzip->stream, Z_NO_FLUSH);
    gunzip->in_member = outcome != Z_STREAM_END;
    return outcome == Z_STREAM_END || outcome == Z_OK || outcome == Z_BUF_ERROR;
}

bool gunzip_decode(struct ycurl_exchange *exchange, const char *bytes, size_t count, decoded_handler handle) {
    enum { PIECE = 32 << 10 };
    unsigned char decoded[PIECE];
    struct gunzip *gunzip = exchange->gunzip;
    struct zlib_stream *stream = &gunzip->stream;
    stream->next_in = (const unsigned char *)bytes;
    stream->available_in = (unsigned)count;
    bool has_more = false;
    while (stream->available_in || has_more) {
        if (!gunzip->in_member && !begin_member(gunzip)) return false;
        if (!gunzip->in_member) return true;
        stream->next_out = decoded;
        stream->available_out = PIECE;
        if (!inflate_piece(gunzip)) return false;
        size_t size = PIECE - stream->available_out;
        if (size && !handle(exchange, (const char *)decoded, size)) return false;
        has_more = gunzip->in_member && stream->available_out == 0;
    }
    return true;
}

#endif
