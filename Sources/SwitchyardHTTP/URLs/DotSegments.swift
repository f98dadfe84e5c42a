/// The path segments `.` and `..`, which may be written with `%2E` (RFC 3986 section 5.2.4).
enum DotSegments {
    private enum Kind {
        case ordinary
        case current
        case parent
    }

    /// Returns the path without dot segments, or `nil` if `..` leads above its start.
    ///
    /// - Parameters:
    ///   - path: A percent-encoded path.
    ///   - clamps: Whether a `..` above the start is dropped, as RFC 3986 specifies, instead of returning `nil`.
    /// - Returns: The path, or `nil`.
    static func removed(from path: [UInt8], clamps: Bool) -> [UInt8]? {
        let isRooted = path.first == UInt8(ascii: "/")
        var kept: [ArraySlice<UInt8>] = []
        let segments = (isRooted ? path.dropFirst() : path[...])
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch kind(segment) {
            case .ordinary: kept.append(segment)
            case .current: if isLast { kept.append([]) }
            case .parent:
                if kept.isEmpty, !clamps { return nil }
                _ = kept.popLast()
                if isLast { kept.append([]) }
            }
        }
        var output: [UInt8] = isRooted ? [UInt8(ascii: "/")] : []
        for (index, segment) in kept.enumerated() {
            if index > 0 { output.append(UInt8(ascii: "/")) }
            output += segment
        }
        return output
    }

    /// Whether a path contains a dot segment.
    static func occur(in path: some Collection<UInt8>) -> Bool {
        path.split(separator: UInt8(ascii: "/")).contains { kind($0) != .ordinary }
    }

    /// Whether a segment is `.` or `..`, escaped or not.
    static func isOne(_ segment: some Collection<UInt8>) -> Bool { kind(segment) != .ordinary }

    private static func kind(_ segment: some Collection<UInt8>) -> Kind {
        guard !segment.isEmpty, segment.count <= 6 else { return .ordinary }
        var dots = 0
        var rest = segment[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if rest.starts(with: "%2E".utf8) || rest.starts(with: "%2e".utf8) {
                rest = rest.dropFirst(3)
            } else {
                return .ordinary
            }
            dots += 1
        }
        return dots == 1 ? .current : dots == 2 ? .parent : .ordinary
    }
}
