import SwitchyardHTTP

/// The paths that patterns of requests are compared with: relative to the base URL, in normal form, with a leading
/// slash.
enum ServicePath {
    /// The base URL to which paths are appended for a comparison.
    private static let root = "http://service"

    /// Returns the path of a URL, or `nil` if the URL is not below the base URL.
    static func path(of url: RequestURL, below base: BaseURL) -> String? {
        guard url.isAt(base) else { return nil }
        let path = url.absolute.path
        if path == base.folder.dropLast() { return "/" }
        guard let rest = PercentEncoding.rest(of: path, behind: base.folder) else { return nil }
        return RequestURL(trusted: "\(root)/" + String(decoding: rest, as: UTF8.self)).pathInNormalForm
    }

    /// Returns a path in normal form, or `nil` if it is not a valid path.
    static func normalized(_ path: String) -> String? { RequestURL(root + path)?.pathInNormalForm }

    /// Whether a server could interpret a URL as a URL below the base URL.
    static func mayBe(_ url: RequestURL, below base: BaseURL) -> Bool {
        url.isAt(base) && (path(of: url, below: base) != nil || !isPlain(url.pathInNormalForm))
    }

    /// Returns the part of a URL before its path, including the user name and the password.
    static func origin(of url: RequestURL) -> String {
        let bytes = Array(url.text.utf8)
        let start = (bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0) + 3
        let end = bytes.dropFirst(start).firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// Whether a pattern matches a path.
    static func matches(_ pattern: URLPattern, _ path: String) -> Bool {
        pattern.matches(RequestURL(trusted: root + path), base: RequestURL(trusted: root))
    }

    /// Whether a path has no segment `.` or `..`.
    ///
    /// A server could resolve such a segment to a path that no pattern matches.
    static func isPlain(_ path: String) -> Bool {
        !path.utf8.split(separator: UInt8(ascii: "/")).contains { segment in
            segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
        }
    }
}
