#if os(Linux)
    import Foundation
    import SwitchyardHTTP

    /// The writer of the head of a request that opens another protocol.
    ///
    /// libcurl does not send such requests, so Switchyard sends them itself.
    enum CurlOpening {
        /// - Throws: ``TransportError`` if the request is not a GET without a body.
        static func head(of request: HTTPRequest) throws(TransportError) -> [UInt8] {
            guard request.method == .get, case .none = request.body else {
                let found = request.method == .get ? "it has a body" : "it is a \(request.method.name)"
                let message = "a request that opens another protocol must be a GET without a body: \(found)"
                throw TransportError(.invalidRequest, message: message, mayHaveBeenSent: false)
            }
            let url = request.url.absolute
            var head = Array("GET ".utf8)
            head += url.path.isEmpty ? [UInt8(ascii: "/")] : url.path
            if let query = url.query { head += [UInt8(ascii: "?")] + query }
            head += Array(" HTTP/1.1\r\n".utf8)
            append(hostField(of: request), to: &head)
            if let field = userField(of: url), request.headers["Authorization"] == nil { append(field, to: &head) }
            for field in request.headers.fields where !isReplaced(field.name) { append(field, to: &head) }
            return head + Array("\r\n".utf8)
        }

        private static func append(_ field: HTTPHeaders.Field, to head: inout [UInt8]) {
            head += Array(field.name.utf8) + Array(": ".utf8)
            field.withBytes { head += $0.lazy.map { UInt8(bitPattern: $0) } }
            head += Array("\r\n".utf8)
        }

        private static func hostField(of request: HTTPRequest) -> HTTPHeaders.Field {
            let origin = request.url.origin
            let own = origin.description.dropFirst(origin.scheme.utf8.count + 3)
            return HTTPHeaders.Field(name: "Host", value: request.headers["Host"] ?? String(own))
        }

        /// Returns a field with the user and the password of the URL, as libcurl sends it in other requests.
        private static func userField(of url: AbsoluteURL) -> HTTPHeaders.Field? {
            guard let info = url.authority.userInfo, !info.isEmpty else { return nil }
            let text = String(decoding: info, as: UTF8.self)
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { $0.removingPercentEncoding ?? String($0) }
            return .basic(user: decoded[0], password: decoded.count > 1 ? decoded[1] : "")
        }

        /// Returns whether a header field of the request is left out, because this type writes it or because it
        /// describes a body.
        private static func isReplaced(_ name: String) -> Bool {
            ["host", "content-length", "transfer-encoding"].contains(name.lowercased())
        }
    }
#endif
