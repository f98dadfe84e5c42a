public import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A recorded request.
public struct HARRequest: Codable, Sendable, Hashable {
    /// A recorded body.
    public struct PostData: Codable, Sendable, Hashable {
        enum CodingKeys: String, CodingKey {
            case mimeType, params, text
            case encoding = "_encoding"
        }

        /// The content type, or an empty string if there is none.
        public var mimeType: String
        /// The fields of a form body.
        public var params: [HARField] = []
        /// The body as text or in base64.
        public var text: String
        /// `base64` if the text is base64, otherwise `nil`.
        ///
        /// The format has no such member for requests, so the encoding is written as `_encoding`. The member
        /// `encoding`, which other programs write, is also read.
        public var encoding: String?
    }

    /// The method.
    public var method: String
    /// The absolute URL.
    public var url: String
    /// The version of HTTP.
    public var httpVersion: String
    /// The cookies.
    public var cookies: [HARField]
    /// The header fields, in order.
    public var headers: [HARField]
    /// The decoded parameters of the query.
    public var queryString: [HARField]
    /// The body, or `nil` if there is no body or the body was not in memory.
    public var postData: PostData?
    /// The size of the request head in bytes; always -1 because the size is not known.
    public var headersSize = -1
    /// The size of the body in bytes, or -1 if it is not known.
    public var bodySize: Int

    /// The bytes of the body, or `nil` if there is no readable body.
    public var body: Data? { postData.flatMap { HARText.content($0.text, $0.encoding, type: $0.mimeType).data } }
}

/// A recorded response.
public struct HARResponse: Codable, Sendable, Hashable {
    enum CodingKeys: String, CodingKey {
        case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
        case error = "_error"
        case errorKind = "_errorKind"
    }

    /// A recorded body.
    public struct Content: Codable, Sendable, Hashable {
        /// The size of the body in bytes.
        public var size: Int
        /// The content type, or an empty string if there is none.
        public var mimeType: String
        /// The body as text or in base64, or `nil` if the body was a stream.
        public var text: String?
        /// `base64` if the text is base64, otherwise `nil`.
        public var encoding: String?
    }

    /// The status code, or 0 if there was no response.
    public var status: Int
    /// The reason phrase of the status; empty, because this library records no reason phrase.
    public var statusText = ""
    /// The version of HTTP.
    public var httpVersion: String
    /// The cookies that the response sets.
    public var cookies: [HARField]
    /// The header fields, in order.
    public var headers: [HARField]
    /// The body.
    public var content: Content
    /// The target URL of a redirect, or an empty string if the response is not a redirect.
    public var redirectURL: String
    /// The size of the response head in bytes; always -1 because the size is not known.
    public var headersSize = -1
    /// The size of the body in bytes, or -1 if it is not known.
    public var bodySize: Int
    /// A description of the error if there was no response; otherwise, `nil`.
    public var error: String?
    /// The kind of the error if there was no response: the raw value of a ``/SwitchyardServices/WireFailure``.
    public var errorKind: String?

    /// The bytes of the body, or `nil` if they were not recorded.
    public var body: Data? {
        content.text.flatMap { HARText.content($0, content.encoding, type: content.mimeType).data }
    }
}
