#if os(Linux)
    import SwitchyardHTTP

    /// Failures that a proxy reports.
    extension CurlFailure {
        /// Whether a proxy has answered that it makes no connection to the server.
        var isOfProxy: Bool { !wasSent && (connectStatus >= 300 || proxyError != 0 || code == 97) }

        /// What a proxy says of the server that it was to connect to; `nil` when it says nothing of the server.
        ///
        /// Nothing of the request was sent, and another server may be well. A proxy that refuses (403, 405, 407), that
        /// cannot be used, or that fails itself is a failure of the proxy.
        var kindBehindProxy: TransportError.Kind? {
            guard !wasSent else { return nil }
            return kindOfTunnel ?? kindOfSOCKS
        }

        /// The answer to CONNECT (RFC 9110 section 15.6): Squid, Envoy and HAProxy say 503 of a server that is down,
        /// nginx 502, both 504 of one that is silent, and tinyproxy 500 of either.
        private var kindOfTunnel: TransportError.Kind? {
            switch connectStatus {
            case 500, 502, 503: .connectionRefused
            case 504: .connectTimeout
            default: nil
            }
        }

        /// The reply to a SOCKS request (RFC 1928 section 6), by CURLproxycode; SOCKS 4 has one reply for every failure.
        private var kindOfSOCKS: TransportError.Kind? {
            let reason = code == 97 ? proxyError : socksReply.flatMap { Self.replies[$0] }
            return switch reason {
            case 19, 20, 21, 22, 26: .connectionRefused
            case 24: .connectTimeout
            default: nil
            }
        }

        /// The replies of SOCKS 5 as CURLproxycode numbers them: general failure, network unreachable, host
        /// unreachable, refused, expired; and that of SOCKS 4.
        private static let replies: [Int: Int] = [1: 20, 3: 22, 4: 21, 5: 19, 6: 24, 91: 26]

        /// The reply in the words of a libcurl before 7.73, which has no code for it; `nil` when there is none.
        ///
        /// The number stands in brackets at the end of "Can't complete SOCKS5 connection to host:port".
        private var socksReply: Int? {
            guard code == 7, usesProxy, words.contains("complete SOCKS"), let start = words.lastIndex(of: "(") else {
                return nil
            }
            return Int(words[words.index(after: start)...].prefix { $0.isNumber })
        }
    }
#endif
