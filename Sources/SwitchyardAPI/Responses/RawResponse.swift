public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// An answer as it came, before it is decoded.
public struct RawResponse: Sendable {
    /// The status.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The whole body.
    public var data: Data
    /// The method of the request.
    public var method: HTTPMethod
    /// What the call said itself that it accepts; `nil` when it left that to the client and the serialiser.
    public var accept: String?

    /// Creates an answer.
    public init(
        status: Int = 200,
        headers: HTTPHeaders = HTTPHeaders(),
        data: Data = Data(),
        method: HTTPMethod = .get,
        accept: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.data = data
        self.method = method
        self.accept = accept
    }

    /// The media type of the body; `nil` when the header is missing or unreadable.
    public var mediaType: MediaType? { headers.contentType.flatMap { MediaType($0) } }

    /// The character set that the body is said to have; `nil` when none is named.
    package var charset: String? {
        guard let type = headers.contentType, type.hasByte(UInt8(ascii: "=")) else { return nil }
        return MediaType(type)?.charset
    }

    /// Whether HTTP itself says that there is no body: HEAD, 1xx, 204, 205, 304 (RFC 9110 section 6.4.1).
    public var hasNoBodyByRule: Bool {
        method == .head || status < 200 || [204, 205, 304].contains(status)
    }
}
