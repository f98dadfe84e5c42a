#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// The configuration of a transport as libcurl options, which are set on every handle.
    struct CurlSettings: Sendable {
        enum Option: Sendable {
            case number(ycurl_option, Int)
            case rate(ycurl_option, Int)
            case text(ycurl_option, String)
            /// An empty value that replaces libcurl's default.
            case noText(ycurl_option)
            case data(ycurl_option, Data)
            case resolve([String])
        }

        let configuration: CurlTransport.Configuration
        var options: [Option] = []
        /// Whether Switchyard compares the pins with the whole chain.
        ///
        /// If `false`, libcurl compares the pins with the server's own certificate.
        var judgesChains = false
        /// Whether servers may choose HTTP/2.
        private(set) var offersHTTP2 = false
        /// The hosts that are reached without the proxy of the configuration.
        private let exceptions: ProxyExceptions

        /// - Throws: ``TransportError`` if this libcurl does not support the configuration.
        init(_ configuration: CurlTransport.Configuration, library: CurlLibrary) throws(TransportError) {
            self.configuration = configuration
            exceptions =
                if case .server(let proxy) = configuration.proxy { ProxyExceptions(proxy.exceptions) } else {
                    ProxyExceptions([])
                }
            try addProtocol(library)
            try addProxy()
            try addTrust(library)
            try addPins(library)
            try addIdentity(library)
        }

        var streamWindow: Int { max(16 << 10, configuration.streamBufferSize) }
        var idleNanoseconds: Int64 { max(0, configuration.idleConnectionTimeout.clampedNanoseconds) }

        // MARK: Connections

        private mutating func addProtocol(_ library: CurlLibrary) throws(TransportError) {
            offersHTTP2 = configuration.httpVersion == .automatic && library.has(YCURL_FEATURE_HTTP2)
            options.append(.number(YCURL_HTTP_VERSION, offersHTTP2 ? 4 : 2))  // 2TLS, 1_1
            let age = max(1, Int(clamping: configuration.idleConnectionTimeout.components.seconds))
            options.append(.number(YCURL_MAXIMUM_AGE_SECONDS, age))
            if let rate = configuration.maximumDownloadRate { options.append(.rate(YCURL_RECEIVE_SPEED, rate)) }
            if let rate = configuration.maximumUploadRate { options.append(.rate(YCURL_SEND_SPEED, rate)) }
            if let path = configuration.unixSocketPath {
                try require(library.has(YCURL_FEATURE_UNIX_SOCKETS), "Unix sockets")
                // unix(7): 108 bytes including the terminating zero. libcurl would detect a longer path only with each
                // request, and report it as a DNS failure.
                try require(
                    (1...107).contains(path.utf8.count),
                    "a Unix socket path that is empty or longer than 107 bytes"
                )
                options.append(.text(YCURL_UNIX_SOCKET, path))
            }
            try addOverrides()
        }

        /// Adds the host overrides.
        ///
        /// This method validates them. libcurl would detect an invalid entry only with each request, and would then
        /// report an invalid option.
        private mutating func addOverrides() throws(TransportError) {
            var entries: [String] = []
            for override in configuration.hostOverrides {
                try require(
                    override.hasHost,
                    "a host override whose host is empty, contains a colon, or starts with - or +"
                )
                try require(override.hasPort, "a host override with a port outside 1 to 65535")
                try require(
                    override.hasAddresses,
                    "a host override without addresses, or with an address that is not an IP address"
                )
                entries.append("\(override.host):\(override.port):\(override.addresses.joined(separator: ","))")
            }
            if !entries.isEmpty { options.append(.resolve(entries)) }
        }

        // MARK: Helpers

        static func readablePath(_ url: URL) throws(TransportError) -> String {
            guard url.isFileURL, FileManager.default.isReadableFile(atPath: url.path) else {
                throw TransportError(.closed, message: "\(url.path) cannot be read", mayHaveBeenSent: false)
            }
            return url.path
        }

        func require(_ condition: Bool, _ what: String) throws(TransportError) {
            guard condition else {
                throw TransportError(.unsupported, message: "not supported: \(what)", mayHaveBeenSent: false)
            }
        }

        // MARK: Application

        /// Sets the options on a new handle.
        func apply(to handle: OpaquePointer) throws(TransportError) {
            for option in options {
                let code = set(option, on: handle)
                guard code == 0 else {
                    let message = "libcurl refused \(option.name): \(CurlLibrary.text(of: code))"
                    throw TransportError(.unsupported, message: message, code: Int(code), mayHaveBeenSent: false)
                }
            }
        }

        private func set(_ option: Option, on handle: OpaquePointer) -> Int32 {
            switch option {
            case .number(let option, let value): return ycurl_set_long(handle, option.number, value)
            case .rate(let option, let value): return ycurl_set_offset(handle, option.number, Int64(value))
            case .text(let option, let value): return ycurl_set_string(handle, option.number, value)
            case .noText(let option): return ycurl_clear_string(handle, option.number)
            case .data(let option, let value):
                return value.withUnsafeBytes { ycurl_set_blob(handle, option.number, $0.baseAddress, $0.count) }
            case .resolve(let entries):
                let copies = entries.map { strdup($0) }
                defer { copies.forEach { free($0) } }
                let pointers = copies.map { UnsafePointer($0) }
                return ycurl_set_resolve(handle, pointers, pointers.count)
            }
        }

        /// Sets the connection limits of a new loop.
        func apply(toLoop loop: OpaquePointer) {
            // With more streams than this number on a connection, another connection is faster, because libcurl (7.88)
            // checks all requests of a connection for each event of its socket.
            ycurl_loop_set(loop, YCURL_LOOP_CONCURRENT_STREAMS.number, 256)
            ycurl_loop_set(loop, YCURL_LOOP_IDLE_CONNECTIONS.number, max(1, configuration.maximumIdleConnections))
            if let limit = configuration.maximumConnectionsPerHost {
                ycurl_loop_set(loop, YCURL_LOOP_HOST_CONNECTIONS.number, max(1, limit))
            }
            if let limit = configuration.maximumConnections {
                ycurl_loop_set(loop, YCURL_LOOP_ALL_CONNECTIONS.number, max(1, limit))
            }
        }
    }

    extension CurlSettings.Option {
        /// The name of the option, without its value, which may be secret.
        fileprivate var name: String {
            switch self {
            case .number(let option, _), .rate(let option, _), .text(let option, _), .data(let option, _),
                .noText(let option):
                "option \(option.rawValue)"
            case .resolve: "the host overrides"
            }
        }
    }

    extension ycurl_option {
        fileprivate var number: Int32 { Int32(bitPattern: rawValue) }
    }

    extension ycurl_loop_option {
        fileprivate var number: Int32 { Int32(bitPattern: rawValue) }
    }

    extension CurlTransport.Configuration.HostOverride {
        /// Whether the override has a valid host.
        ///
        /// libcurl reads the host up to the first colon, and treats a leading sign as a command.
        fileprivate var hasHost: Bool {
            !host.isEmpty && !host.utf8.contains(UInt8(ascii: ":")) && host.first != "-" && host.first != "+"
        }

        fileprivate var hasPort: Bool { (1...65_535).contains(port) }

        fileprivate var hasAddresses: Bool { !addresses.isEmpty && addresses.allSatisfy(Self.isAddress) }

        private static func isAddress(_ text: String) -> Bool {
            var address = in6_addr()
            return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
        }
    }

    /// The trust settings and the client identity as libcurl options.
    extension CurlSettings {
        mutating func addTrust(_ library: CurlLibrary) throws(TransportError) {
            let tls = configuration.tls
            let highest = tls.maximumVersion
            try require(
                highest.map { $0 >= tls.minimumVersion } ?? true,
                "a maximum TLS version below the minimum TLS version"
            )
            // CURL_SSLVERSION_TLSv1_2 is 6, _1_3 is 7; the maximum version is in the upper 16 bits.
            let oldest = tls.minimumVersion == .tls13 ? 7 : 6
            let newest = highest.map { $0 == .tls13 ? 7 << 16 : 6 << 16 } ?? 0
            if library.has(YCURL_FEATURE_TLS) { options.append(.number(YCURL_TLS_VERSION, oldest | newest)) }
            if reachesProxyOverTLS { options.append(.number(YCURL_PROXY_TLS_VERSION, oldest | newest)) }
            switch tls.trustRoots {
            case .system: break
            case .file(let url):
                let path = try Self.readablePath(url)
                options.append(.text(YCURL_CA_FILE, path))
                if reachesProxyOverTLS { options.append(.text(YCURL_PROXY_CA_FILE, path)) }
            case .pem(let data):
                try require(library.version >= 0x074D00, "trust roots from memory (they need libcurl 7.77 or newer)")
                options.append(.data(YCURL_CA_DATA, data))
                if reachesProxyOverTLS { options.append(.data(YCURL_PROXY_CA_DATA, data)) }
            }
            if tls.trustRoots != .system {
                // This option is set because OpenSSL would also search the system's directory.
                options.append(.noText(YCURL_CA_FOLDER))
                if reachesProxyOverTLS { options.append(.noText(YCURL_PROXY_CA_FOLDER)) }
            }
            switch tls.revocation {
            case .system: break
            case .list(let url): options.append(.text(YCURL_REVOCATION_LIST, try Self.readablePath(url)))
            case .stapled: options.append(.number(YCURL_STAPLED_STATUS, 1))
            }
        }

        mutating func addPins(_ library: CurlLibrary) throws(TransportError) {
            let pins = configuration.tls.pins
            guard !pins.isEmpty else { return }
            // If a proxy may be reached over TLS, its chain would be compared with the pins too.
            judgesChains = library.showsChains && !mayReachProxyOverTLS
            guard !judgesChains else { return }
            let knowsKeysOnly = pins.allSatisfy { $0.subject == .publicKey }
            try require(
                knowsKeysOnly,
                "pins of whole certificates (they need libcurl with OpenSSL 1.1 or newer, and no TLS proxy)"
            )
            let keys = pins.map { "sha256//\($0.base64)" }.sorted().joined(separator: ";")
            options.append(.text(YCURL_PINNED_KEYS, keys))
        }

        mutating func addIdentity(_ library: CurlLibrary) throws(TransportError) {
            guard let identity = configuration.tls.clientIdentity else { return }
            let fromMemory = library.version >= 0x074700
            switch identity.form {
            case .pem(let certificate, let privateKey):
                try addIdentity(certificate, privateKey, fromMemory)
            case .pkcs12(let bytes):
                try require(fromMemory, "a client certificate from memory (it needs libcurl 7.71 or newer)")
                options.append(.text(YCURL_CLIENT_CERTIFICATE_TYPE, "P12"))
                options.append(.data(YCURL_CLIENT_CERTIFICATE_DATA, bytes))
            case .keychain:
                try require(false, "a client certificate from the keychain, which only Apple systems have")
            }
            if let password = identity.password { options.append(.text(YCURL_KEY_PASSWORD, password)) }
        }

        private mutating func addIdentity(
            _ certificate: TLSConfiguration.ClientIdentity.Source,
            _ privateKey: TLSConfiguration.ClientIdentity.Source,
            _ fromMemory: Bool
        ) throws(TransportError) {
            for (source, file, data) in [
                (certificate, YCURL_CLIENT_CERTIFICATE_FILE, YCURL_CLIENT_CERTIFICATE_DATA),
                (privateKey, YCURL_CLIENT_KEY_FILE, YCURL_CLIENT_KEY_DATA),
            ] {
                switch source {
                case .file(let url): options.append(.text(file, try Self.readablePath(url)))
                case .pem(let bytes):
                    try require(fromMemory, "a client certificate from memory (it needs libcurl 7.71 or newer)")
                    options.append(.data(data, bytes))
                }
            }
        }
    }

    /// The proxy as libcurl options.
    extension CurlSettings {
        mutating func addProxy() throws(TransportError) {
            switch configuration.proxy {
            case .none:
                options.append(.text(YCURL_PROXY, ""))  // Also disables the environment's proxy.
            case .environment:
                break
            case .server(let proxy):
                let host = proxy.host.utf8.contains(UInt8(ascii: ":")) ? "[\(proxy.host)]" : proxy.host
                try require(
                    proxy.hasHost,
                    "a proxy with an invalid host (must be a host name or an IP address, without brackets or port)"
                )
                try require((1...65_535).contains(proxy.port), "a proxy with a port outside 1 to 65535")
                options.append(.text(YCURL_PROXY, "\(scheme(of: proxy.kind))://\(host):\(proxy.port)"))
                if let credentials = proxy.credentials {
                    let user = Self.escaped(credentials.user)
                    let password = Self.escaped(credentials.password)
                    options.append(.text(YCURL_PROXY_CREDENTIALS, "\(user):\(password)"))
                }
            }
        }

        /// Whether the proxy is reached over TLS.
        ///
        /// In this case, the certificate of the proxy must be verified too, for which libcurl has separate options.
        var reachesProxyOverTLS: Bool {
            if case .server(let proxy) = configuration.proxy { proxy.kind == .https } else { false }
        }

        /// Whether the proxy may be reached over TLS.
        ///
        /// A proxy from the environment is known only when a request is sent.
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

        /// Escapes a user name or password, so that the colon between them is unambiguous.
        ///
        /// libcurl removes the escapes.
        private static func escaped(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }

        /// Returns whether a URL's host is reached without the proxy, or `nil` if no proxy is set.
        ///
        /// libcurl receives this result instead of the list of exceptions, because different versions of libcurl
        /// interpret the list differently.
        func bypassesProxy(for url: RequestURL) -> Bool? {
            switch configuration.proxy {
            case .none: nil
            case .server: exceptions.contains(url.origin.host)
            case .environment:
                Self.variable("no_proxy", "NO_PROXY").map { ProxyExceptions([$0]).contains(url.origin.host) } ?? false
            }
        }

        /// Returns whether a connection to a URL's host goes through a proxy.
        func usesProxy(for url: RequestURL) -> Bool {
            guard bypassesProxy(for: url) == false else { return false }
            guard configuration.proxy == .environment else { return true }
            // In a web server, a client can set HTTP_PROXY with a header field. libcurl therefore does not read that
            // variable, and neither does this code.
            let own = url.isSecure ? Self.variable("https_proxy", "HTTPS_PROXY") : Self.variable("http_proxy")
            return own != nil || Self.variable("all_proxy", "ALL_PROXY") != nil
        }

        /// Returns the first of these environment variables that is set and not empty.
        private static func variable(_ names: String...) -> String? {
            names.lazy.compactMap { getenv($0).map { String(cString: $0) } }.first { !$0.isEmpty }
        }
    }

    extension CurlTransport.Configuration.ProxyServer {
        /// Whether the host contains only characters of a host.
        ///
        /// Other characters could end the host in a proxy's URL.
        fileprivate var hasHost: Bool {
            var address = in6_addr()
            // `inet_pton` accepts an address only without its zone, as in `fe80::1%eth0`.
            if inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &address) == 1 { return true }
            return !host.isEmpty
                && host.unicodeScalars.allSatisfy {
                    $0.value > 0x20 && $0.value != 0x7F && !":/?#@[]\\%".unicodeScalars.contains($0)
                }
        }
    }
#endif
