#if os(Linux)
    import CLibcurl
    import SwitchyardHTTP

    /// The opened library.
    struct CurlLibrary: Sendable {
        /// The version as 0xXXYYZZ.
        let version: UInt32

        /// Opens libcurl, or says what is wrong and what to install.
        static func open() throws(TransportError) -> CurlLibrary {
            guard ycurl_open() == Int32(YCURL_AVAILABLE.rawValue) else {
                throw TransportError(
                    .closed,
                    message: String(cString: ycurl_open_message()),
                    mayHaveBeenSent: false
                )
            }
            return CurlLibrary(version: ycurl_version())
        }

        func has(_ feature: Int) -> Bool {
            ycurl_has_feature(Int32(feature))
        }

        /// Whether all certificates of a server can be compared with pins, not only its own.
        var showsChains: Bool { ycurl_shows_chains() }

        /// The text of a result code, in libcurl's words.
        static func text(of code: Int32) -> String {
            String(cString: ycurl_error_text(code))
        }
    }
#endif
