#if os(Linux)
    import SwitchyardHTTP

    /// The failures that a proxy reports.
    extension CurlFailure {
        /// Whether a proxy reported that it could not connect to the server.
        var isOfProxy: Bool { !wasSent && (connectStatus >= 300 || proxyError != 0 || code == 97) }

        /// The failure of the server that a proxy reports, or `nil` if the server is not at fault.
        ///
        /// The request was not sent, and another server may work. If a proxy rejects the request (403, 405, 407),
        /// cannot be used, or fails itself, the proxy is at fault.
        var kindBeyondProxy: TransportError.Kind? {
            guard !wasSent else { return nil }
            return kindOfTunnel ?? kindOfSOCKS
        }

        /// The kind for the response to CONNECT (RFC 9110 section 15.6).
        ///
        /// If a server is down, Squid, Envoy and HAProxy respond with 503, nginx with 502. If a server does not
        /// respond, all of these respond with 504. In both cases, tinyproxy responds with 500.
        private var kindOfTunnel: TransportError.Kind? {
            switch connectStatus {
            case 500, 502, 503: .connectionRefused
            case 504: .connectTimeout
            default: nil
            }
        }

        /// The kind for the reply to a SOCKS request (RFC 1928 section 6), from CURLproxycode.
        ///
        /// SOCKS 4 has the same reply for every failure.
        private var kindOfSOCKS: TransportError.Kind? {
            let reason = code == 97 ? proxyError : socksReply.flatMap { Self.replies[$0] }
            return switch reason {
            case 19, 20, 21, 22, 26: .connectionRefused
            case 24: .connectTimeout
            default: nil
            }
        }

        /// The SOCKS 5 replies by CURLproxycode (general failure, network unreachable, host unreachable, refused,
        /// expired), and the SOCKS 4 reply.
        private static let replies: [Int: Int] = [1: 20, 3: 22, 4: 21, 5: 19, 6: 24, 91: 26]

        /// The reply as it appears in the message of libcurl before 7.73, or `nil` if the message contains no reply.
        ///
        /// These versions have no code for the reply. The number is in parentheses at the end of "Can't complete SOCKS5
        /// connection to host:port".
        private var socksReply: Int? {
            guard code == 7, usesProxy, words.contains("complete SOCKS"), let start = words.lastIndex(of: "(") else {
                return nil
            }
            return Int(words[words.index(after: start)...].prefix { $0.isNumber })
        }
    }
#endif
