#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP

    /// Whom the transport trusts and who it is itself, in libcurl's terms.
    extension CurlSettings {
        mutating func addTrust(_ library: CurlLibrary) throws(TransportError) {
            let tls = configuration.tls
            let highest = tls.maximumVersion
            try require(highest.map { $0 >= tls.minimumVersion } ?? true, "a newest TLS version older than the oldest")
            // CURL_SSLVERSION_TLSv1_2 is 6, _1_3 is 7; the newest stands in the upper 16 bits.
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
                try require(library.version >= 0x074D00, "certificate authorities from memory (libcurl 7.77)")
                options.append(.data(YCURL_CA_DATA, data))
                if reachesProxyOverTLS { options.append(.data(YCURL_PROXY_CA_DATA, data)) }
            }
            if tls.trustRoots != .system {
                // OpenSSL looks into the folder of the system's as well.
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
            // The chain of a proxy over TLS would be judged as well.
            judgesChains = library.showsChains && !mayReachProxyOverTLS
            guard !judgesChains else { return }
            let knowsKeysOnly = pins.allSatisfy { $0.subject == .publicKey }
            try require(knowsKeysOnly, "pins of whole certificates (libcurl over OpenSSL 1.1, no proxy over TLS)")
            let keys = pins.map { "sha256//\($0.base64)" }.sorted().joined(separator: ";")
            options.append(.text(YCURL_PINNED_KEYS, keys))
        }

        mutating func addIdentity(_ library: CurlLibrary) throws(TransportError) {
            guard let identity = configuration.tls.clientIdentity else { return }
            for (source, file, data) in [
                (identity.certificate, YCURL_CLIENT_CERTIFICATE_FILE, YCURL_CLIENT_CERTIFICATE_DATA),
                (identity.privateKey, YCURL_CLIENT_KEY_FILE, YCURL_CLIENT_KEY_DATA),
            ] {
                switch source {
                case .file(let url): options.append(.text(file, try Self.readablePath(url)))
                case .pem(let bytes):
                    try require(library.version >= 0x074700, "a client certificate from memory (libcurl 7.71)")
                    options.append(.data(data, bytes))
                }
            }
            if let password = identity.password { options.append(.text(YCURL_KEY_PASSWORD, password)) }
        }
    }
#endif
