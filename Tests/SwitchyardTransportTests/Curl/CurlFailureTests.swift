#if os(Linux)
    import CLibcurl
    import Glibc
    import SwitchyardClient
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardClient
    @testable import SwitchyardTransport

    /// Each libcurl result has its error kind.
    @Suite struct CurlFailureTests {
        struct Row: Sendable {
            var code: Int32
            var system: Int32 = 0
            var verdict = ycurl_verdict.none
            var connectStatus = 0
            var hasHead = false
            var isChunked = false
            var wasSent = false
            var usesProxy = false
            var isOffline = false
            var proxyError = 0
            var words = ""
            var isExhausted = false
            var kind: TransportError.Kind

            var error: TransportError {
                var failure = CurlFailure(code: code)
                failure.systemError = system
                failure.verdict = verdict
                failure.connectStatus = connectStatus
                failure.hasHead = hasHead
                failure.isChunked = isChunked
                failure.wasSent = wasSent
                failure.usesProxy = usesProxy
                failure.isOffline = isOffline
                failure.proxyError = proxyError
                failure.words = words
                failure.isExhausted = isExhausted
                return failure.error
            }
        }

        static let connecting: [Row] = [
            Row(code: 5, kind: .proxyFailure),
            Row(code: 6, kind: .dnsFailure),
            Row(code: 5, isOffline: true, kind: .offline),
            Row(code: 6, isOffline: true, kind: .offline),
            Row(code: 7, system: ECONNREFUSED, kind: .connectionRefused),
            Row(code: 7, system: EHOSTUNREACH, kind: .connectionRefused),
            Row(code: 7, system: ENOENT, kind: .connectionRefused),
            Row(code: 7, system: ENETUNREACH, kind: .offline),
            Row(code: 7, system: ENETDOWN, kind: .offline),
            Row(code: 7, system: ETIMEDOUT, kind: .connectTimeout),
            Row(code: 7, system: ECONNRESET, kind: .connectionReset),
            Row(code: 7, system: EIO, kind: .other),
            Row(code: 7, system: ECONNREFUSED, usesProxy: true, kind: .proxyFailure),
            Row(code: 28, kind: .connectTimeout),
            Row(code: 97, kind: .proxyFailure),
            Row(code: 56, connectStatus: 407, kind: .proxyFailure),
            Row(code: 35, kind: .tlsFailure),
            Row(code: 58, kind: .tlsFailure),
            Row(code: 77, kind: .tlsFailure),
            Row(code: 98, kind: .tlsFailure),
            Row(code: 51, kind: .certificateRejected),
            Row(code: 60, kind: .certificateRejected),
            Row(code: 90, kind: .certificateRejected),
            Row(code: 91, kind: .certificateRejected),
        ]

        /// Exhausted resources of this machine, whatever libcurl reports.
        static let exhausted: [Row] = [
            Row(code: 7, system: EMFILE, kind: .resourcesExhausted),
            Row(code: 7, system: ENFILE, kind: .resourcesExhausted),
            Row(code: 7, system: ENOBUFS, usesProxy: true, kind: .resourcesExhausted),
            Row(code: 6, isExhausted: true, kind: .resourcesExhausted),
            Row(code: 77, isExhausted: true, kind: .resourcesExhausted),
        ]

        /// Failures that a proxy reports about the server and about itself.
        static let behindProxies: [Row] = [
            Row(code: 56, connectStatus: 500, usesProxy: true, kind: .connectionRefused),
            Row(code: 56, connectStatus: 502, usesProxy: true, kind: .connectionRefused),
            Row(code: 56, connectStatus: 503, usesProxy: true, kind: .connectionRefused),
            Row(code: 56, connectStatus: 504, usesProxy: true, kind: .connectTimeout),
            Row(code: 56, connectStatus: 401, usesProxy: true, kind: .proxyFailure),
            Row(code: 56, connectStatus: 403, usesProxy: true, kind: .proxyFailure),
            Row(code: 56, connectStatus: 405, usesProxy: true, kind: .proxyFailure),
            Row(code: 97, usesProxy: true, proxyError: 19, kind: .connectionRefused),
            Row(code: 97, usesProxy: true, proxyError: 20, kind: .connectionRefused),
            Row(code: 97, usesProxy: true, proxyError: 21, kind: .connectionRefused),
            Row(code: 97, usesProxy: true, proxyError: 22, kind: .connectionRefused),
            Row(code: 97, usesProxy: true, proxyError: 24, kind: .connectTimeout),
            Row(code: 97, usesProxy: true, proxyError: 26, kind: .connectionRefused),
            Row(code: 97, usesProxy: true, proxyError: 18, kind: .proxyFailure),
            Row(code: 97, usesProxy: true, proxyError: 23, kind: .proxyFailure),
            Row(code: 97, usesProxy: true, proxyError: 33, kind: .proxyFailure),
            // libcurl before 7.73.
            Row(
                code: 7,
                usesProxy: true,
                words: "Can't complete SOCKS5 connection to a.test:80. (4)",
                kind: .connectionRefused
            ),
            Row(
                code: 7,
                usesProxy: true,
                words: "Can't complete SOCKS5 connection to a.test:80. (6)",
                kind: .connectTimeout
            ),
            Row(
                code: 7,
                usesProxy: true,
                words: "Can't complete SOCKS5 connection to a.test:80. (2)",
                kind: .proxyFailure
            ),
        ]

        static let transferring: [Row] = [
            Row(code: 1, wasSent: true, kind: .protocolViolation),
            Row(code: 1, kind: .unsupported),
            Row(code: 3, kind: .invalidRequest),
            Row(code: 4, kind: .unsupported),
            Row(code: 8, wasSent: true, kind: .protocolViolation),
            Row(code: 16, wasSent: true, kind: .connectionReset),
            Row(code: 16, hasHead: true, wasSent: true, kind: .truncated),
            Row(code: 18, hasHead: true, wasSent: true, kind: .truncated),
            Row(code: 27, wasSent: true, kind: .headersTooLarge),
            Row(code: 27, hasHead: true, wasSent: true, kind: .other),
            Row(code: 52, wasSent: true, kind: .connectionReset),
            Row(code: 55, system: EPIPE, wasSent: true, kind: .connectionReset),
            Row(code: 56, system: ECONNRESET, wasSent: true, kind: .connectionReset),
            Row(code: 56, system: ECONNRESET, hasHead: true, wasSent: true, kind: .connectionReset),
            Row(code: 56, hasHead: true, isChunked: true, wasSent: true, kind: .protocolViolation),
            Row(code: 56, hasHead: true, wasSent: true, kind: .truncated),
            Row(code: 61, hasHead: true, wasSent: true, kind: .decodingFailed),
            Row(code: 65, wasSent: true, kind: .connectionReset),
            Row(code: 92, wasSent: true, kind: .connectionReset),
            Row(code: 92, hasHead: true, wasSent: true, kind: .truncated),
            Row(code: 100, wasSent: true, kind: .headersTooLarge),
            Row(code: 99, wasSent: true, kind: .other),
        ]

        static let decided: [Row] = [
            Row(code: 23, verdict: .headTooLarge, wasSent: true, kind: .headersTooLarge),
            Row(code: 23, verdict: .bodyTooLarge, wasSent: true, kind: .bodyTooLarge),
            Row(code: 42, system: EIO, verdict: .uploadUnreadable, wasSent: true, kind: .requestBodyFailed),
            Row(code: 42, verdict: .uploadShort, wasSent: true, kind: .requestBodyFailed),
            Row(code: 42, verdict: .wouldSendTwice, wasSent: true, kind: .connectionReset),
            Row(code: 42, verdict: .refused, kind: .connectionReset),
            Row(code: -1, verdict: .deadlinePassed, kind: .timeout),
            Row(code: -1, verdict: .notConnected, kind: .connectTimeout),
            Row(code: -1, verdict: .idleTooLong, wasSent: true, kind: .timeout),
            Row(code: 27, verdict: .noMemory, kind: .other),
        ]

        @Test func `a header line that is too long is not reported as a lack of memory`() {
            let error = Row(code: 27, wasSent: true, kind: .headersTooLarge).error

            #expect(!error.message.lowercased().contains("memory"))
        }

        @Test(arguments: connecting + exhausted + behindProxies + transferring + decided)
        func `each libcurl result has the expected kind of TransportError`(_ row: Row) throws {
            _ = try CurlLibrary.open()

            #expect(row.error.kind == row.kind)
            #expect(row.error.mayHaveBeenSent == row.wasSent)
            #expect(!row.error.message.isEmpty)
        }
    }
#endif
