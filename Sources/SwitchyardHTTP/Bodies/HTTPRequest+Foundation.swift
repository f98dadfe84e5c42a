#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

import SwitchyardServices

/// Conversions between `HTTPRequest` and Foundation's `URLRequest`. The library itself does not use `URLRequest`.
extension HTTPRequest {
    /// Creates the request that a `URLRequest` describes.
    ///
    /// The timeout interval of `URLRequest` becomes the total timeout. The cache policy
    /// `reloadIgnoringLocalAndRemoteCacheData` becomes the header field `Cache-Control: no-cache`. The other cache
    /// policies have no effect, because the transport that sends an `HTTPRequest` has no local cache. Properties
    /// without a counterpart (main document, pipelining, service type) are dropped.
    ///
    /// - Parameter request: The request. Its body must be in `httpBody`. A body stream cannot be resent, so pass it as
    ///   an ``HTTPBody/Stream`` instead.
    /// - Throws: ``RequestError`` if there is no HTTP URL, the method contains a character that is not allowed, or the
    ///   body is a stream.
    public init(_ request: URLRequest) throws(RequestError) {
        guard let url = request.url else { throw .url(text: "", reason: .notAbsolute) }
        let name = request.httpMethod ?? "GET"
        guard let method = HTTPMethod(name) else {
            throw .hook(stage: "method", message: "“\(name)” must be a token (RFC 9110 section 5.6.2)")
        }
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

    /// Returns the total timeout for an interval in seconds, or `nil` if the interval is not positive, is infinite or
    /// is at least 1e9.
    private static func total(_ interval: TimeInterval) -> Duration? {
        interval > 0 && interval < 1e9 ? .seconds(interval) : nil
    }

    /// Returns the request as a `URLRequest` that ignores local caches and handles no cookies.
    ///
    /// - Returns: The request. Repeated header fields are joined by commas, as `URLRequest` stores them.
    /// - Throws: ``RequestError`` if Foundation rejects the URL, the body is a stream, or a file cannot be opened.
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
