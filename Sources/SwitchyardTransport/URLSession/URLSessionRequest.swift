package import SwitchyardHTTP

#if canImport(FoundationNetworking)
    import Foundation
    package import FoundationNetworking
#else
    package import Foundation
#endif

/// A request converted for `URLSession`.
package struct URLSessionRequest: Sendable {
    enum Body: Sendable {
        case none
        case data(Data)
        case file(URL)
        case stream(HTTPBody.Stream)
    }

    /// The timeout of `URLSession` in seconds: one day, so that it never ends an exchange before Switchyard's own
    /// timers.
    ///
    /// The timeout is set on the session and on every request. A request's own timeout is 60 s unless set (Apple,
    /// `URLRequest`, "timeoutInterval"), and the stricter of both timeouts applies (Apple, `URLSessionConfiguration`,
    /// the note on policies of the request). With 60 s, a long poll, a silent stream and a WebSocket would end.
    package static let systemTimeout: Double = 86_400

    package let head: URLRequest
    let body: Body

    /// - Throws: ``TransportError`` if the request cannot be sent, or is not supported by `URLSession`.
    package init(_ request: HTTPRequest) throws(TransportError) {
        guard let url = request.url.foundationURL else {
            throw Self.refusal(.invalidRequest, "the URL is malformed")
        }
        if let field = request.headers.firstInvalidField {
            let name = field.name.debugDescription
            throw Self.refusal(.invalidRequest, "the header field \(name) \(field.refusal.message)")
        }
        body = try Self.body(of: request)
        var head = URLRequest(
            url: url,
            cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: Self.systemTimeout
        )
        head.httpShouldHandleCookies = false
        head.httpMethod = request.method.name
        for field in request.headers.fields where !field.name.equalsIgnoringASCIICase("Content-Length") {
            head.addValue(OpaqueText.unmarked(field.value), forHTTPHeaderField: field.name)
        }
        #if canImport(Darwin)
            head.networkServiceType = request.traffic.serviceType
            head.allowsCellularAccess = request.networkAccess.allowsCellular
            head.allowsExpensiveNetworkAccess = request.networkAccess.allowsExpensive
            head.allowsConstrainedNetworkAccess = request.networkAccess.allowsConstrained
        #else
            guard request.networkAccess.isUnlimited else {
                throw Self.refusal(
                    .unsupported,
                    "this system does not report which network a connection uses, so networkAccess cannot be limited"
                )
            }
        #endif
        self.head = head
    }

    private static func body(of request: HTTPRequest) throws(TransportError) -> Body {
        if case .none = request.body { return .none }
        guard request.method != .head else { throw refusal(.invalidRequest, "a HEAD request must not have a body") }
        guard request.method != .get else {
            throw refusal(.unsupported, "URLSession cannot send a GET request with a body")
        }
        switch request.body {
        case .none: return .none
        case .data(let data): return .data(data)
        case .file(let url): return .file(try regularFile(url))
        case .stream(let stream):
            #if canImport(Darwin)
                return .stream(stream)
            #else
                _ = stream
                throw refusal(
                    .unsupported,
                    "URLSession on this system cannot wait for a streamed body: use CurlTransport"
                )
            #endif
        }
    }

    /// Returns the URL if it is a regular file.
    ///
    /// Uploading a directory would never end on Linux.
    private static func regularFile(_ url: URL) throws(TransportError) -> URL {
        let kind = try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
        let target = kind == .typeSymbolicLink ? url.resolvingSymlinksInPath() : url
        let values = try? FileManager.default.attributesOfItem(atPath: target.path)[.type] as? FileAttributeType
        guard url.isFileURL, values == .typeRegular, FileManager.default.isReadableFile(atPath: target.path) else {
            throw refusal(.requestBodyFailed, "\(url.path) cannot be sent: not a readable file")
        }
        return target
    }

    private static func refusal(_ kind: TransportError.Kind, _ message: String) -> TransportError {
        TransportError(kind, message: message, mayHaveBeenSent: false)
    }
}

#if canImport(Darwin)
    extension HTTPRequest.Traffic {
        fileprivate var serviceType: URLRequest.NetworkServiceType {
            switch self {
            case .standard: .default
            case .background: .background
            case .responsive: .responsiveData
            case .video: .video
            case .voice: .voice
            }
        }
    }
#endif
