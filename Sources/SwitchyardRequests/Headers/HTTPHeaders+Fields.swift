public import SwitchyardHTTP

/// Fields by their name, in addition to the fields of `SwitchyardHTTP`.
extension HTTPHeaders.Field {
    /// `Accept-Charset`: the character sets that the app accepts.
    public static func acceptCharset(_ value: String) -> Self { Self(name: "Accept-Charset", value: value) }
    /// `Accept-Encoding`: the content codings that the app decodes itself.
    ///
    /// By default the transport sets the field to the codings that it can decode. Set it only to receive an encoded
    /// body.
    public static func acceptEncoding(_ value: String) -> Self { Self(name: "Accept-Encoding", value: value) }
    /// `Accept-Language`: the languages that the app prefers.
    public static func acceptLanguage(_ value: String) -> Self { Self(name: "Accept-Language", value: value) }
    /// `Cache-Control`: directives for caches.
    public static func cacheControl(_ value: String) -> Self { Self(name: "Cache-Control", value: value) }
    /// `Content-Disposition`: how content is presented, and its file name.
    public static func contentDisposition(_ value: String) -> Self { Self(name: "Content-Disposition", value: value) }
    /// `Content-Encoding`: the codings of the body, such as compression.
    public static func contentEncoding(_ value: String) -> Self { Self(name: "Content-Encoding", value: value) }
    /// `Cookie`: cookies, already joined into one value.
    public static func cookie(_ value: String) -> Self { Self(name: "Cookie", value: value) }
    /// `If-Match`: process the request only if the entity tag matches.
    public static func ifMatch(_ value: String) -> Self { Self(name: "If-Match", value: value) }
    /// `If-Modified-Since`: process the request only if the resource has changed since an HTTP date.
    public static func ifModifiedSince(_ value: String) -> Self { Self(name: "If-Modified-Since", value: value) }
    /// `If-None-Match`: process the request only if the entity tag does not match.
    public static func ifNoneMatch(_ value: String) -> Self { Self(name: "If-None-Match", value: value) }
    /// `Origin`: the origin that causes the request.
    public static func origin(_ value: String) -> Self { Self(name: "Origin", value: value) }
    /// `Range`: the requested part of the resource.
    public static func range(_ value: String) -> Self { Self(name: "Range", value: value) }
    /// `Referer`: the page that linked to the resource.
    public static func referer(_ value: String) -> Self { Self(name: "Referer", value: value) }
    /// `Sec-WebSocket-Protocol`: the subprotocols that the app supports over a WebSocket.
    public static func webSocketProtocol(_ value: String) -> Self { Self(name: "Sec-WebSocket-Protocol", value: value) }
}
