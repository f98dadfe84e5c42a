public import Foundation
public import SwitchyardHTTP

/// A request modifier that signs requests with a secret shared with the server.
///
/// ### Use
///
///     let signer = RequestSigner(.hmacSHA256(key: secret), in: .header("X-Signature"))
///     options.generator.modifiers.append(signer.sign)
///
/// ### What is signed
/// By default five lines are signed: the method, the path, the query with its parameters sorted, the given header
/// fields as `name:value`, and the SHA-256 digest of the body in hexadecimal.
public struct RequestSigner: Sendable {
    /// The algorithm that computes the signature from the signed bytes.
    public enum Method: Sendable {
        /// HMAC with SHA-256, in hexadecimal (RFC 2104).
        case hmacSHA256(key: Data)
        /// The SHA-256 digest of the text followed by the secret, in hexadecimal.
        ///
        /// Use it only if the server requires it. Otherwise prefer HMAC, because anyone who has seen such a signature
        /// can extend the signed text.
        case sha256(secret: String)
        /// The MD5 digest of the text followed by the secret, in hexadecimal, for old servers only.
        case md5(secret: String)
        /// A custom signature of the text. If the closure throws, the call fails with its error.
        case custom(@Sendable (Data) throws -> String)
    }

    /// The part of the request that is signed.
    public enum Content: Sendable {
        /// The five lines of the default (see ``RequestSigner``), with these header fields.
        case canonical(headers: [String])
        /// The decoded parameters of the query and the form body, sorted and joined with `&`. The result is the same
        /// for GET and POST.
        case parameters
        /// The path followed by the sorted parameters, as in older REST services.
        case pathAndParameters
        /// Custom bytes. If the closure throws, the call fails with its error.
        case custom(@Sendable (HTTPRequest) throws -> Data)
    }

    /// The position of the signature in the request.
    public enum Place: Sendable, Hashable {
        /// A header field with this name.
        case header(String)
        /// A query parameter with this name, after all other parameters.
        case query(String)
    }

    /// The algorithm that computes the signature from the signed bytes.
    public var method: Method
    /// The part of the request that is signed.
    public var content: Content
    /// The position of the signature in the request.
    public var place: Place

    /// Creates a signer.
    ///
    /// By default, it signs the five lines described at ``RequestSigner``, with no header fields among them.
    public init(_ method: Method, of content: Content = .canonical(headers: []), in place: Place) {
        self.method = method
        self.content = content
        self.place = place
    }

    /// Adds the signature to a request.
    ///
    /// - Throws: ``/SwitchyardHTTP/RequestError`` if the digest of the body cannot be computed, or the error that a
    ///   custom closure throws.
    @Sendable
    public func sign(_ request: inout HTTPRequest) throws {
        let signature = try signature(of: try signedBytes(of: request))
        switch place {
        case .header(let name): request.headers.set(name, signature)
        case .query(let name):
            var output = ByteBuffer(capacity: request.url.text.utf8.count + 96)
            output.append(request.url.text)
            let plan = ParameterSerializerPlan(ParameterEncodingOptions())
            var serializer = ParameterSerializer(plan, lead: output.queryLead())
            try serializer.write([name: signature], to: &output)
            request.url = RequestURL(trusted: output.text())
        }
    }

    /// Returns the bytes of a request that are signed.
    ///
    /// - Throws: ``/SwitchyardHTTP/RequestError`` if the digest of the body cannot be computed, or the error that a
    ///   custom closure throws.
    public func signedBytes(of request: HTTPRequest) throws -> Data {
        switch content {
        case .canonical(let headers): try Data(Self.canonicalText(of: request, headers: headers).utf8)
        case .parameters: Data(try Self.parameterText(of: request).utf8)
        case .pathAndParameters: Data((request.url.path + (try Self.parameterText(of: request))).utf8)
        case .custom(let make): try make(request)
        }
    }

    private func signature(of bytes: Data) throws -> String {
        switch method {
        case .hmacSHA256(let key): MessageDigest.hmacSHA256(bytes, key: key).hexText
        case .sha256(let secret): MessageDigest.sha256(bytes + Data(secret.utf8)).hexText
        case .md5(let secret): MessageDigest.md5(bytes + Data(secret.utf8)).hexText
        case .custom(let make): try make(bytes)
        }
    }

    private static func canonicalText(of request: HTTPRequest, headers: [String]) throws(RequestError) -> String {
        let fields = headers.map { $0.lowercased() }.sorted().map { name in
            "\(name):\(request.headers.values(of: name).joined(separator: ","))"
        }
        let path = request.url.path.isEmpty ? "/" : request.url.path
        let query = (request.url.query ?? "").split(separator: "&").sorted().joined(separator: "&")
        let digest = try request.body.sha256().hexText
        return [request.method.name, path, query, fields.joined(separator: ";"), digest].joined(separator: "\n")
    }

    private static func parameterText(of request: HTTPRequest) throws(RequestError) -> String {
        var text = request.url.query ?? ""
        if request.headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") ?? false {
            guard case .data(let data) = request.body else { throw .body(kind: "form", reason: .notInMemory) }
            text += text.isEmpty ? "" : "&"
            text += String(decoding: data, as: UTF8.self)
        }
        return text.split(separator: "&")
            .map { $0.replacing("+", with: " ").removingPercentEncoding ?? String($0) }
            .sorted().joined(separator: "&")
    }
}

extension RequestSigner.Method: RedactedDescribable {
    /// The name of the signature method, without its key.
    public var description: String {
        switch self {
        case .hmacSHA256: "HMAC-SHA-256 ***"
        case .sha256: "SHA-256 ***"
        case .md5: "MD5 ***"
        case .custom: "custom"
        }
    }
}

extension HTTPBody {
    /// Returns the SHA-256 digest of the body as it will be sent, for signatures and cache keys.
    ///
    /// If there is no body, it is the digest of zero bytes. Parameters and encodable values are written with sorted
    /// names, so equal bodies have equal digests. A file is read in chunks.
    ///
    /// - Returns: 32 bytes.
    /// - Throws: ``/SwitchyardHTTP/RequestError/body(kind:reason:)`` for a stream, whose bytes do not exist yet, and
    ///   ``/SwitchyardHTTP/RequestError/file(path:reason:)``.
    package func sha256() throws(RequestError) -> Data {
        switch self {
        case .none: MessageDigest.sha256([])
        case .data(let data): MessageDigest.sha256(data)
        case .file(let url): try MessageDigest.sha256(ofFile: url)
        case .stream: throw .body(kind: "streamed", reason: .notInMemory)
        }
    }
}
