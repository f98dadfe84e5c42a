import Foundation

/// Fields by name, so that a header literal reads well: `[.accept("application/json"), .bearer(token)]`.
extension HTTPHeaders.Field {
    /// `Accept`: the media types that the caller understands.
    public static func accept(_ value: String) -> Self { Self(name: "Accept", value: value) }
    /// `Accept-Charset`: the character sets that the caller understands.
    public static func acceptCharset(_ value: String) -> Self { Self(name: "Accept-Charset", value: value) }
    /// `Accept-Encoding`: the compressions that the caller undoes itself.
    ///
    /// Leave it to the transport, which names what it can undo, unless the body is wanted compressed.
    public static func acceptEncoding(_ value: String) -> Self { Self(name: "Accept-Encoding", value: value) }
    /// `Accept-Language`: the languages that the caller prefers.
    public static func acceptLanguage(_ value: String) -> Self { Self(name: "Accept-Language", value: value) }
    /// `Authorization` with any scheme.
    public static func authorization(_ value: String) -> Self { Self(name: "Authorization", value: value) }
    /// `Authorization` with a token (RFC 6750).
    public static func bearer(_ token: String) -> Self { authorization("Bearer \(token)") }
    /// `Authorization` with a name and a password in UTF-8 (RFC 7617).
    ///
    /// A name with a colon cannot be sent, since the first colon ends the name (section 2): the field of one has no valid
    /// value, and whatever is to send it fails with ``RequestError/HeaderReason/colonInUserName``.
    public static func basic(user: String, password: String) -> Self {
        // By bytes: a colon that is joined to what follows it is one all the same.
        guard !user.hasByte(UInt8(ascii: ":")) else { return authorization(valueOfNoUser) }
        return authorization("Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }
    /// Stands for a name and a password that cannot be sent: no field may hold it, so nothing sends it by mistake.
    static let valueOfNoUser = "Basic \0:"
    /// `Cache-Control`: what caches on the way may do.
    public static func cacheControl(_ value: String) -> Self { Self(name: "Cache-Control", value: value) }
    /// `Content-Disposition`: how content is to be shown or named.
    public static func contentDisposition(_ value: String) -> Self { Self(name: "Content-Disposition", value: value) }
    /// `Content-Encoding`: how the body is compressed.
    public static func contentEncoding(_ value: String) -> Self { Self(name: "Content-Encoding", value: value) }
    /// `Content-Type`: what the body is.
    public static func contentType(_ value: String) -> Self { Self(name: "Content-Type", value: value) }
    /// `Cookie`: cookies, already joined.
    public static func cookie(_ value: String) -> Self { Self(name: "Cookie", value: value) }
    /// `If-Match`: only if the entity tag is this.
    public static func ifMatch(_ value: String) -> Self { Self(name: "If-Match", value: value) }
    /// `If-Modified-Since`: only if changed after that HTTP date.
    public static func ifModifiedSince(_ value: String) -> Self { Self(name: "If-Modified-Since", value: value) }
    /// `If-None-Match`: only if the entity tag is not this.
    public static func ifNoneMatch(_ value: String) -> Self { Self(name: "If-None-Match", value: value) }
    /// `Origin`: where the request comes from.
    public static func origin(_ value: String) -> Self { Self(name: "Origin", value: value) }
    /// `Range`: the part that is wanted.
    public static func range(_ value: String) -> Self { Self(name: "Range", value: value) }
    /// `Referer`: the page that led here.
    public static func referer(_ value: String) -> Self { Self(name: "Referer", value: value) }
    /// `Sec-WebSocket-Protocol`: the protocols that the caller speaks over a WebSocket.
    public static func webSocketProtocol(_ value: String) -> Self { Self(name: "Sec-WebSocket-Protocol", value: value) }
    /// `User-Agent`: the program that asks.
    public static func userAgent(_ value: String) -> Self { Self(name: "User-Agent", value: value) }
}

extension HTTPHeaders {
    /// Removes the credentials that requests carry: `Authorization` and `Proxy-Authorization`.
    public mutating func removeAuthorization() {
        remove("Authorization")
        remove("Proxy-Authorization")
    }
}
