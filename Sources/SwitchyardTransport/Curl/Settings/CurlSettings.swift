#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// A configuration in libcurl's terms: the options that every handle of a transport gets.
    struct CurlSettings: Sendable {
        enum Option: Sendable {
            case number(ycurl_option, Int)
            case rate(ycurl_option, Int)
            case text(ycurl_option, String)
            /// Nothing, in place of libcurl's own default.
            case noText(ycurl_option)
            case data(ycurl_option, Data)
            case resolve([String])
        }

        let configuration: CurlTransport.Configuration
        var options: [Option] = []
        /// Whether the pins are compared here, with the whole chain, and not by libcurl.
        var judgesChains = false

        /// - Throws: ``TransportError`` when the configuration asks for what this libcurl cannot do.
        init(_ configuration: CurlTransport.Configuration, library: CurlLibrary) throws(TransportError) {
            self.configuration = configuration
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
            let speaksHTTP2 = configuration.httpVersion == .automatic && library.has(YCURL_FEATURE_HTTP2)
            options.append(.number(YCURL_HTTP_VERSION, speaksHTTP2 ? 4 : 2))  // 2TLS, 1_1
            if configuration.waitsForMultiplexing { options.append(.number(YCURL_WAIT_FOR_MULTIPLEXING, 1)) }
            let age = max(1, Int(clamping: configuration.idleConnectionTimeout.components.seconds))
            options.append(.number(YCURL_MAXIMUM_AGE_SECONDS, age))
            if let rate = configuration.maximumDownloadRate { options.append(.rate(YCURL_RECEIVE_SPEED, rate)) }
            if let rate = configuration.maximumUploadRate { options.append(.rate(YCURL_SEND_SPEED, rate)) }
            if let path = configuration.unixSocketPath {
                try require(library.has(YCURL_FEATURE_UNIX_SOCKETS), "Unix sockets")
                // unix(7): 108 bytes with the one that ends it. libcurl would find out with each request, and call it DNS.
                try require((1...107).contains(path.utf8.count), "a Unix socket whose path has not 1 to 107 bytes")
                options.append(.text(YCURL_UNIX_SOCKET, path))
            }
            try addOverrides()
        }

        /// libcurl would find a wrong entry with each request, and say no more than that an option is wrong.
        private mutating func addOverrides() throws(TransportError) {
            var entries: [String] = []
            for override in configuration.hostOverrides {
                try require(override.hasHost, "a host override whose host is none, or has a port of its own")
                try require(override.hasPort, "a host override whose port is not within 1 to 65535")
                try require(override.hasAddresses, "a host override whose addresses are not IP addresses")
                entries.append("\(override.host):\(override.port):\(override.addresses.joined(separator: ","))")
            }
            if !entries.isEmpty { options.append(.resolve(entries)) }
        }

        // MARK: Help

        static func readablePath(_ url: URL) throws(TransportError) -> String {
            guard url.isFileURL, FileManager.default.isReadableFile(atPath: url.path) else {
                throw TransportError(.closed, message: "\(url.path) cannot be read", mayHaveBeenSent: false)
            }
            return url.path
        }

        func require(_ condition: Bool, _ what: String) throws(TransportError) {
            guard condition else {
                throw TransportError(.unsupported, message: "not available: \(what)", mayHaveBeenSent: false)
            }
        }

        // MARK: Use

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

        /// Sets the limits of a new loop.
        func apply(toLoop loop: OpaquePointer) {
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
        /// What the option is about, without its value, which may be secret.
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
        /// libcurl reads a host up to the first colon, and takes a sign in front of it for an order.
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
#endif
