/// Provides the certificates with which a server has proved its identity, so that each of them can be compared with
/// pins.
///
/// libcurl compares pins only with the key of the server's own certificate. It also returns the certificates that the
/// server has sent, but it does not verify that they belong to the chain. OpenSSL provides the chain that it has
/// verified.
#if defined(__linux__)

#include "exchange.h"

#include <stdlib.h>
#include <string.h>

/// The option SSL_OP_IGNORE_UNEXPECTED_EOF of OpenSSL 3, which libcurl sets.
#define IGNORES_END 0x80u
/// The value of CURLINFO_TLS_SSL_PTR for OpenSSL.
#define BACKEND_OPENSSL 1
/// The flag SSL_RECEIVED_SHUTDOWN.
#define RECEIVED_SHUTDOWN 2

/// X509_V_ERR_APPLICATION_VERIFICATION, the only error that OpenSSL itself never reports.
#define REFUSED_BY_APPLICATION 50

/// The functions of OpenSSL 1.1 and 3. Their arguments are opaque pointers here.
static struct {
    void (*set_verify_callback)(void *context, int (*verify)(void *store, void *argument), void *argument);
    int (*verify)(void *store);
    void *(*chain)(void *store);
    void (*set_error)(void *store, int error);
    int (*count)(const void *stack);
    void *(*value)(const void *stack, int index);
    int (*encode)(const void *certificate, unsigned char **place);
    uint64_t (*clear_options)(void *session, uint64_t options);
    int (*get_shutdown)(const void *session);
} openssl;

static bool found, minds_ends;

void chain_find_functions(void *library, const char *tls) {
    // libcurl's TLS context is an OpenSSL context only if libcurl reports that it uses OpenSSL.
    if (!tls || strncmp(tls, "OpenSSL/", 8) != 0 || strchr(tls, '(')) return;
    const struct wanted_function wanted[] = {
        {"SSL_CTX_set_cert_verify_callback", &openssl.set_verify_callback},
        {"X509_verify_cert", &openssl.verify},
        {"X509_STORE_CTX_get0_chain", &openssl.chain},
        {"X509_STORE_CTX_set_error", &openssl.set_error},
        {"OPENSSL_sk_num", &openssl.count},
        {"OPENSSL_sk_value", &openssl.value},
        {"i2d_X509", &openssl.encode},
    };
    // The search covers only libcurl and the libraries it is linked with, not other libraries that the program has
    // loaded.
    found = library_find(library, wanted, sizeof wanted / sizeof wanted[0]) == NULL;
    const struct wanted_function ends[] = {
        {"SSL_clear_options", &openssl.clear_options},
        {"SSL_get_shutdown", &openssl.get_shutdown},
    };
    minds_ends = strncmp(tls, "OpenSSL/1", 9) != 0 && library_find(library, ends, sizeof ends / sizeof ends[0]) == NULL;
}

/// The OpenSSL session of an exchange's connection, or NULL if there is none.
static void *session_of(struct ycurl_exchange *exchange) {
    struct curl_tls_session *session = NULL;
    if (!minds_ends || ycurl_lib.easy_getinfo(exchange->easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK) return NULL;
    return session && session->backend == BACKEND_OPENSSL ? session->internals : NULL;
}

bool chain_mind_end(struct ycurl_exchange *exchange) {
    void *session = session_of(exchange);
    if (session) openssl.clear_options(session, IGNORES_END);
    return session != NULL;
}

bool chain_has_ended(struct ycurl_exchange *exchange) {
    void *session = session_of(exchange);
    return session && openssl.get_shutdown(session) & RECEIVED_SHUTDOWN;
}

bool chain_goes_on(struct ycurl_exchange *exchange) {
    void *session = session_of(exchange);
    return session && !(openssl.get_shutdown(session) & RECEIVED_SHUTDOWN);
}

bool ycurl_shows_chains(void) { return found; }

static bool is_wanted(const struct chain_judge *judge, const void *certificate) {
    int count = openssl.encode(certificate, NULL);
    unsigned char *bytes = count > 0 ? malloc((size_t)count) : NULL;
    if (!bytes) return false;
    unsigned char *end = bytes;  // OpenSSL moves this pointer to the end of the bytes that it writes.
    bool wanted = openssl.encode(certificate, &end) == count && judge->accepts(judge->context, bytes, (size_t)count);
    free(bytes);
    return wanted;
}

/// OpenSSL calls this function instead of its own check. The function runs OpenSSL's check first. A chain that fails
/// this check is rejected.
static int verify_chain(void *store, void *argument) {
    const struct chain_judge *judge = argument;
    int outcome = openssl.verify(store);
    if (outcome <= 0) return outcome;
    const void *chain = openssl.chain(store);
    for (int i = 0; chain && i < openssl.count(chain); i++)
        if (is_wanted(judge, openssl.value(chain, i))) return 1;
    openssl.set_error(store, REFUSED_BY_APPLICATION);
    return 0;
}

static int prepare_context(void *easy, void *context, void *judge) {
    (void)easy;
    openssl.set_verify_callback(context, verify_chain, judge);
    return CURLE_OK;
}

void ycurl_loop_judge_chains(ycurl_loop *loop, ycurl_judge accepts, const void *context) {
    loop->judge = (struct chain_judge){accepts, context};
}

int chain_install(struct ycurl_exchange *exchange) {
    // A connection, and its certificate check, may outlive the exchange that opened it, but not the loop.
    struct chain_judge *judge = &exchange->loop->judge;
    if (!judge->accepts) return CURLE_OK;
    int code = ycurl_lib.easy_setopt(exchange->easy, CURLOPT_SSL_CTX_FUNCTION, prepare_context);
    return code | ycurl_lib.easy_setopt(exchange->easy, CURLOPT_SSL_CTX_DATA, judge);
}

bool chain_was_refused(struct ycurl_exchange *exchange) {
    long reason = 0;
    ycurl_lib.easy_getinfo(exchange->easy, CURLINFO_SSL_VERIFYRESULT, &reason);
    return exchange->loop->judge.accepts && reason == REFUSED_BY_APPLICATION;
}

#endif
