#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

import SwitchyardServices

/// Conversions from and to Foundation's type, for code that has it or needs it; the library itself does without.
extension HTTPRequest {
    /// Creates the request that Foundation's type describes.
    ///
    /// Its timeout becomes the total one. A cache policy that ignores the caches on the way becomes `Cache-Control:
    /// no-cache`; there is no local one below this library. What has no counterpart here (main document, pipelining,
    /// service type) is left behind.
    ///
    /// - Parameter request: The request; a body has to be in its `httpBody`. A streamed one cannot be sent again; hand it
    ///   over as an ``HTTPBody/Stream``.
    /// - Throws: ``RequestError`` when there is no http URL, the method is none, or the body is a stream.
    public init(_ request: URLRequest) throws(RequestError) {
        guard let url = request.url else { throw .url(text: "", reason: .notAbsolute) }
        let name = request.httpMethod ?? "GET"
        guard let method = HTTPMethod(name) else { throw .hook(stage: "method", message: "“\(name)” is no token") }
        guard request.httpBodyStream == nil else { throw .body(kind: "streamed", reason: .notInMemory) }
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        var headers = HTTPHeaders(fields.map { HTTPHeaders.Field(name: $0.key, value: $0.value) })
        if request.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData, headers["Cache-Control"] == nil {
            headers.add("Cache-Control", "no-cache")
        }
        self.init(
            method: method,
            url: try RequestURL(validating: url.absoluteString),
            headers: headers,
            body: request.httpBody.map { .data($0) } ?? .none,
            timeouts: Timeouts(total: Self.total(request.timeoutInterval))
        )
        networkAccess.allowsCellular = request.allowsCellularAccess
        #if canImport(Darwin)
            networkAccess.allowsExpensive = request.allowsExpensiveNetworkAccess
            networkAccess.allowsConstrained = request.allowsConstrainedNetworkAccess
        #endif
    }

    /// The timeout of an interval; `nil` without one, as for infinity and whatever else is as good as for ever.
    private static func total(_ interval: TimeInterval) -> Duration? {
        interval > 0 && interval < 1e9 ? .seconds(interval) : nil
    }

    /// Returns the request as Foundation's type, which ignores local caches and handles no cookies.
    ///
    /// - Returns: The request; repeated header fields are joined by commas, as that type keeps them.
    /// - Throws: ``RequestError`` when Foundation does not take the URL, the body is a stream, or a file cannot be opened.
    public func foundationRequest() throws(RequestError) -> URLRequest {
        guard let url = url.foundationURL else { throw .url(text: url.text, reason: .notAbsolute) }
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.httpMethod = method.name
        request.httpShouldHandleCookies = false
        for field in headers { request.addValue(OpaqueText.unmarked(field.value), forHTTPHeaderField: field.name) }
        if let total = timeouts.total { request.timeoutInterval = total / .seconds(1) }
        request.allowsCellularAccess = networkAccess.allowsCellular
        #if canImport(Darwin)
            request.allowsExpensiveNetworkAccess = networkAccess.allowsExpensive
            request.allowsConstrainedNetworkAccess = networkAccess.allowsConstrained
        #endif
        switch body {
        case .none: break
        case .data(let data): request.httpBody = data
        case .file(let file):
            _ = try FileBody.length(of: file)
            request.httpBodyStream = InputStream(url: file)
        case .stream: throw .body(kind: "streamed", reason: .notInMemory)
        }
        return request
    }
}
