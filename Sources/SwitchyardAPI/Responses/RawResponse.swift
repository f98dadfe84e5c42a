public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// A response as it was received, before its body is decoded.
public struct RawResponse: Sendable {
    /// The HTTP response with its whole body.
    private var response: HTTPResponse
    /// The method of the request.
    public var method: HTTPMethod
    /// The value of `Accept` that the call itself set, or `nil` if the client or the serializer set it.
    public var accept: String?

    /// Creates a response from its parts.
    public init(
        status: Int = 200,
        headers: HTTPHeaders = HTTPHeaders(),
        data: Data = Data(),
        method: HTTPMethod = .get,
        accept: String? = nil
    ) {
        response = HTTPResponse(status: status, headers: headers, body: .whole(data))
        self.method = method
        self.accept = accept
    }

    /// Creates the raw response to a call from an HTTP response with its whole body.
    init(_ response: HTTPResponse, to configuration: APIConfiguration) {
        self.response = response
        method = configuration.method
        accept = configuration.headers["Accept"]
    }

    /// The status.
    public var status: Int {
        get { response.status }
        set { response.status = newValue }
    }
    /// The header fields.
    public var headers: HTTPHeaders {
        get { response.headers }
        set { response.headers = newValue }
    }
    /// The whole body.
    public var data: Data {
        get { response.data ?? Data() }
        set { response.body = .whole(newValue) }
    }

    /// The media type of the body, or `nil` if the `Content-Type` header is missing or unreadable.
    public var mediaType: MediaType? { headers.contentType.flatMap { MediaType($0) } }

    /// The character set of the body, or `nil` if the response names none.
    package var charset: String? {
        guard let type = headers.contentType, type.hasByte(UInt8(ascii: "=")) else { return nil }
        return MediaType(type)?.charset
    }

    /// Whether HTTP defines that the response has no body, because it is a response to HEAD or its status is 1xx, 204,
    /// 205 or 304 (RFC 9110 section 6.4.1).
    package var hasNoBodyByRule: Bool {
        method == .head || status < 200 || [204, 205, 304].contains(status)
    }
}
