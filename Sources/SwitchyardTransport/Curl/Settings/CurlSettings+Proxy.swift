#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// The proxy, in libcurl's terms.
    extension CurlSettings {
        mutating func addProxy() throws(TransportError) {
            switch configuration.proxy {
            case .none:
                options.append(.text(YCURL_PROXY, ""))  // An empty proxy also turns the environment's off.
            case .environment:
                break
            case .server(let proxy):
                let host = proxy.host.utf8.contains(UInt8(ascii: ":")) ? "[\(proxy.host)]" : proxy.host
                try require(
                    proxy.hasHost,
                    "a proxy whose host is neither a name nor an address, without brackets or port"
                )
                try require((1...65_535).contains(proxy.port), "a proxy whose port is not within 1 to 65535")
                options.append(.text(YCURL_PROXY, "\(scheme(of: proxy.kind))://\(host):\(proxy.port)"))
                options.append(.text(YCURL_NO_PROXY, proxy.exceptions.joined(separator: ",")))
                if let credentials = proxy.credentials {
                    let user = Self.escaped(credentials.user)
                    let password = Self.escaped(credentials.password)
                    options.append(.text(YCURL_PROXY_CREDENTIALS, "\(user):\(password)"))
                }
            }
        }

        /// Whether the proxy has to be trusted as well; a server of its own to libcurl.
        var reachesProxyOverTLS: Bool {
            if case .server(let proxy) = configuration.proxy { proxy.kind == .https } else { false }
        }

        /// The same, or perhaps: what the environment names is read with every request.
        var mayReachProxyOverTLS: Bool {
            if case .environment = configuration.proxy { true } else { reachesProxyOverTLS }
        }

        private func scheme(of kind: CurlTransport.Configuration.ProxyServer.Kind) -> String {
            switch kind {
            case .http: "http"
            case .https: "https"
            case .socks5: "socks5h"
            case .socks4a: "socks4a"
            }
        }

        /// Keeps the colon between user and password unique; libcurl undoes the escapes.
        private static func escaped(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }

        /// Whether a failed connection to a URL's host was one to a proxy.
        func usesProxy(for url: RequestURL) -> Bool {
            switch configuration.proxy {
            case .none:
                return false
            case .server(let proxy):
                return !Self.isException(url, among: proxy.exceptions)
            case .environment:
                let environment = ProcessInfo.processInfo.environment
                // A web server's HTTP_PROXY is what its client says in a field, so libcurl does not read that one.
                let names = url.isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
                let isSet = (names + ["all_proxy", "ALL_PROXY"]).contains { environment[$0]?.isEmpty == false }
                let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
                return isSet && !Self.isException(url, among: exceptions.components(separatedBy: ","))
            }
        }

        private static func isException(_ url: RequestURL, among exceptions: [String]) -> Bool {
            let host = url.foundationURL?.host()?.lowercased() ?? ""
            return exceptions.contains { exception in
                let name = exception.trimmingCharacters(in: CharacterSet(charactersIn: " .")).lowercased()
                return name == "*" || (!name.isEmpty && (host == name || host.hasSuffix("." + name)))
            }
        }
    }

    extension CurlTransport.Configuration.ProxyServer {
        /// What libcurl cuts a proxy's URL at, or takes for part of something else, is part of no host.
        fileprivate var hasHost: Bool {
            var address = in6_addr()
            // Of an address only the part before its zone, `fe80::1%eth0`, is one for `inet_pton`.
            if inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &address) == 1 { return true }
            return !host.isEmpty
                && host.unicodeScalars.allSatisfy {
                    $0.value > 0x20 && $0.value != 0x7F && !":/?#@[]\\%".unicodeScalars.contains($0)
                }
        }
    }
#endif
