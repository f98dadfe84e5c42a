/// The part of libcurl's ABI that this target uses, declared from libcurl's documentation. Private to this target.
#ifndef CLIBCURL_ABI_H
#define CLIBCURL_ABI_H

#include "CLibcurl.h"

#include <sys/socket.h>

struct curl_version_info {
    int age;
    const char *version;
    unsigned version_number;
    const char *host;
    int features;
    const char *tls;
};

struct curl_slist {
    char *data;
    struct curl_slist *next;
};

struct curl_blob {
    void *data;
    size_t count;
    unsigned flags;
};

struct curl_message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int code;
    } data;
};

struct curl_tls_session {
    int backend;
    void *internals;
};

struct curl_sockaddr {
    int family;
    int type;
    int protocol;
    unsigned length;
    struct sockaddr address;
};

/// The functions of libcurl. `setopt` and `getinfo` are variadic here because they are variadic in libcurl.
struct curl_functions {
    int (*global_init_mem)(long flags, void *(*malloc)(size_t), void (*free)(void *), void *(*realloc)(void *, size_t),
                           char *(*strdup)(const char *), void *(*calloc)(size_t, size_t));
    const struct curl_version_info *(*version_info)(int age);
    const char *(*easy_strerror)(int code);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *easy);
    int (*easy_setopt)(void *easy, int option, ...);
    int (*easy_getinfo)(void *easy, int info, ...);
    int (*easy_pause)(void *easy, int mask);
    int (*easy_send)(void *easy, const void *bytes, size_t count, size_t *sent);
    int (*easy_recv)(void *easy, void *place, size_t room, size_t *received);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *multi);
    int (*multi_setopt)(void *multi, int option, ...);
    int (*multi_add_handle)(void *multi, void *easy);
    int (*multi_remove_handle)(void *multi, void *easy);
    int (*multi_socket_action)(void *multi, int socket, int events, int *running);
    struct curl_message *(*multi_info_read)(void *multi, int *left);
};

/// The functions of the opened libcurl. Valid after ycurl_open has returned YCURL_AVAILABLE.
extern struct curl_functions ycurl_lib;

/// A function to find in a library, and the address of the pointer to set.
struct wanted_function {
    const char *name;
    void *place;
};

/// Finds functions in a library and sets their pointers. Returns NULL, or the name of the first missing function.
const char *library_find(void *library, const struct wanted_function *wanted, size_t count);
/// Finds and initializes libcurl once. Returns NULL if libcurl cannot be used.
void *library_open(void);
/// The result of the search for libcurl, as in ycurl_open.
int library_availability(void);
/// Finds the functions for ycurl_loop_judge_chains. `tls` is the name of the TLS library that libcurl reports.
void chain_find_functions(void *library, const char *tls);
/// Finds the functions of zlib, which libcurl depends on.
void codings_find_functions(void);

/// The codings of bodies that this libcurl can decode.
enum { CURL_VERSION_LIBZ = 1 << 3, CURL_VERSION_BROTLI = 1 << 23, CURL_VERSION_ZSTD = 1 << 26 };

/// The header field with the codings that this libcurl can decode.
const char *ycurl_encodings_line(void);

enum {
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_URL = 10002,
    CURLOPT_READDATA = 10009,
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_READFUNCTION = 20012,
    CURLOPT_POSTFIELDS = 10015,
    CURLOPT_HTTPHEADER = 10023,
    CURLOPT_HEADERDATA = 10029,
    CURLOPT_CUSTOMREQUEST = 10036,
    CURLOPT_VERBOSE = 41,
    CURLOPT_NOPROGRESS = 43,
    CURLOPT_NOBODY = 44,
    CURLOPT_UPLOAD = 46,
    CURLOPT_POST = 47,
    CURLOPT_XFERINFODATA = 10057,
    CURLOPT_HTTPPROXYTUNNEL = 61,
    CURLOPT_FRESH_CONNECT = 74,
    CURLOPT_HEADERFUNCTION = 20079,
    CURLOPT_DEBUGFUNCTION = 20094,
    CURLOPT_DEBUGDATA = 10095,
    CURLOPT_HTTPGET = 80,
    CURLOPT_BUFFERSIZE = 98,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_ACCEPT_ENCODING = 10102,
    CURLOPT_PRIVATE = 10103,
    CURLOPT_SSL_CTX_FUNCTION = 20108,
    CURLOPT_SSL_CTX_DATA = 10109,
    CURLOPT_HTTP_CONTENT_DECODING = 158,
    CURLOPT_CONNECT_ONLY = 141,
    CURLOPT_INFILESIZE_LARGE = 30115,
    CURLOPT_POSTFIELDSIZE_LARGE = 30120,
    CURLOPT_IGNORE_CONTENT_LENGTH = 136,
    CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_OPENSOCKETFUNCTION = 20163,
    CURLOPT_OPENSOCKETDATA = 10164,
    CURLOPT_SEEKFUNCTION = 20167,
    CURLOPT_SEEKDATA = 10168,
    CURLOPT_PROTOCOLS = 181,
    CURLOPT_CLOSESOCKETFUNCTION = 20208,
    CURLOPT_CLOSESOCKETDATA = 10209,
    CURLOPT_XFERINFOFUNCTION = 20219,
    CURLOPT_PATH_AS_IS = 234,
    CURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
    CURLOPT_RESOLVER_START_FUNCTION = 20272,
    CURLOPT_RESOLVER_START_DATA = 10273,
    CURLOPT_UPLOAD_BUFFERSIZE = 280,
    CURLOPT_PREREQFUNCTION = 20312,
    CURLOPT_PREREQDATA = 10313,
    CURLOPT_QUICK_EXIT = 322,
};

enum {
    CURLINFO_RESPONSE_CODE = 0x200002,
    CURLINFO_SIZE_UPLOAD_T = 0x600007,
    CURLINFO_SIZE_DOWNLOAD_T = 0x600008,
    CURLINFO_REQUEST_SIZE = 0x20000C,
    CURLINFO_SSL_VERIFYRESULT = 0x20000D,
    CURLINFO_PRIVATE = 0x100015,
    CURLINFO_HTTP_CONNECTCODE = 0x200016,
    CURLINFO_OS_ERRNO = 0x200019,
    CURLINFO_PRIMARY_PORT = 0x200028,
    CURLINFO_LOCAL_PORT = 0x20002A,
    CURLINFO_PROXY_ERROR = 0x20003B,
    CURLINFO_NUM_CONNECTS = 0x20001A,
    CURLINFO_HTTP_VERSION = 0x20002E,
    CURLINFO_ACTIVESOCKET = 0x50002C,
    CURLINFO_TLS_SSL_PTR = 0x40002D,
    CURLINFO_TOTAL_TIME_T = 0x600032,
    CURLINFO_NAMELOOKUP_TIME_T = 0x600033,
    CURLINFO_CONNECT_TIME_T = 0x600034,
    CURLINFO_PRETRANSFER_TIME_T = 0x600035,
    CURLINFO_STARTTRANSFER_TIME_T = 0x600036,
    CURLINFO_APPCONNECT_TIME_T = 0x600038,
};

enum {
    CURLMOPT_SOCKETFUNCTION = 20001,
    CURLMOPT_SOCKETDATA = 10002,
    CURLMOPT_TIMERFUNCTION = 20004,
    CURLMOPT_TIMERDATA = 10005,
};

enum { CURL_POLL_NONE = 0, CURL_POLL_IN = 1, CURL_POLL_OUT = 2, CURL_POLL_REMOVE = 4 };
enum { CURL_CSELECT_IN = 1, CURL_CSELECT_OUT = 2 };
enum { CURL_HTTP_VERSION_1_1 = 2, CURL_HTTP_VERSION_2 = 3 };
enum { CURLPAUSE_RECV = 1, CURLPAUSE_SEND = 4, CURLPAUSE_CONT = 0 };
enum { CURL_SEEKFUNC_OK = 0, CURL_SEEKFUNC_FAIL = 1 };
enum { CURL_PREREQFUNC_OK = 0, CURL_PREREQFUNC_ABORT = 1 };
enum { CURLMSG_DONE = 1 };
/// The type with which CURLOPT_DEBUGFUNCTION receives libcurl's informational messages.
enum { CURLINFO_TEXT = 0 };
/// The size of the buffer for CURLOPT_ERRORBUFFER.
enum { CURL_ERROR_SIZE = 256 };
enum { CURL_SOCKET_TIMEOUT = -1, CURL_SOCKET_BAD = -1 };
enum { CURLPROTO_HTTP_AND_HTTPS = 3 };
enum {
    CURLE_OK = 0,
    CURLE_NOT_BUILT_IN = 4,
    CURLE_WEIRD_SERVER_REPLY = 8,
    CURLE_HTTP2 = 16,
    CURLE_PARTIAL_FILE = 18,
    CURLE_WRITE_ERROR = 23,
    CURLE_OUT_OF_MEMORY = 27,
    CURLE_BAD_FUNCTION_ARGUMENT = 43,
    CURLE_UNKNOWN_OPTION = 48,
    CURLE_BAD_CONTENT_ENCODING = 61,
    CURLE_GOT_NOTHING = 52,
    CURLE_AGAIN = 81,
    CURLE_HTTP2_STREAM = 92,
    CURLE_TOO_LARGE = 100,
};

#define CURL_WRITEFUNC_PAUSE ((size_t)0x10000001)
#define CURL_READFUNC_PAUSE ((size_t)0x10000001)
#define CURL_READFUNC_ABORT ((size_t)0x10000000)

#endif
