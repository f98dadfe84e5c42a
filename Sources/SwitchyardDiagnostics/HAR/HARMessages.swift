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

        /// The content type; empty when there is none.
        public var mimeType: String
        /// The fields of a form.
        public var params: [HARField] = []
        /// The body as text, or in base64.
        public var text: String
        /// `base64` when the text is that; a field of our own, since the format has none for requests.
        ///
        /// Other programs write it without the underscore, which is read as well.
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
    /// The parts of the query.
    public var queryString: [HARField]
    /// The body; `nil` when there is none, or it was not in memory.
    public var postData: PostData?
    /// The size of the head in bytes; not known.
    public var headersSize = -1
    /// The size of the body in bytes; -1 when it is not known.
    public var bodySize: Int

    /// The bytes of the body; `nil` when there are none.
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
        /// The size in bytes.
        public var size: Int
        /// The content type; empty when there is none.
        public var mimeType: String
        /// The body as text, or in base64; `nil` when it was a stream.
        public var text: String?
        /// `base64` when the text is that.
        public var encoding: String?
    }

    /// The status; 0 when no response came.
    public var status: Int
    /// The words beside it; empty, as in HTTP/2.
    public var statusText = ""
    /// The version of HTTP.
    public var httpVersion: String
    /// The cookies that were set.
    public var cookies: [HARField]
    /// The header fields, in order.
    public var headers: [HARField]
    /// The body.
    public var content: Content
    /// Where a redirect leads; empty when it is none.
    public var redirectURL: String
    /// The size of the head in bytes; not known.
    public var headersSize = -1
    /// The size of the body in bytes; -1 when it is not known.
    public var bodySize: Int
    /// Why no response came, in words.
    public var error: String?
    /// Why no response came: the raw value of a ``/SwitchyardHTTP/TransportError/Kind``.
    public var errorKind: String?

    /// The bytes of the body; `nil` when they were not recorded.
    public var body: Data? {
        content.text.flatMap { HARText.content($0, content.encoding, type: content.mimeType).data }
    }
}
