/// One form for all ways to write the same URL (RFC 3986 section 6.2.2 and 6.2.3, RFC 9110 section 4.2.3).
///
/// It is for comparing: what is sent is ``text``, as it was given.
extension RequestURL {
    /// The URL with scheme and host in lower case, the host in ASCII, no port that is the scheme's own, a path of at least
    /// a slash, and escapes in capitals where they are needed and nowhere else.
    ///
    /// A dot at the end of the host stays: with it the name is another one to TLS, to cookies and to servers.
    package var normalForm: String {
        let url = absolute
        let origin = Origin(url)
        var bytes = Array("\(origin.scheme)://".utf8)
        if let user = url.authority.userInfo { bytes += user + [UInt8(ascii: "@")] }
        bytes += origin.description.utf8.dropFirst(origin.scheme.utf8.count + 3)
        bytes += url.path.isEmpty ? [UInt8(ascii: "/")] : PercentEncoding.normalForm(of: url.path)
        if let query = url.query { bytes += [UInt8(ascii: "?")] + PercentEncoding.normalForm(of: query) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The path with escapes in capitals where they are needed and nowhere else; may be empty.
    package var pathInNormalForm: String {
        String(decoding: PercentEncoding.normalForm(of: absolute.path), as: UTF8.self)
    }
}

extension PercentEncoding {
    /// Bytes of a URL with escapes in capitals, and without those of letters, digits, `-`, `.`, `_` and `~`, which mean the
    /// same as what they stand for.
    static func normalForm(of bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex { appendUnit(of: bytes, at: &index, to: &output) }
        return output
    }

    /// What stands behind a beginning, as it was written, whichever way the beginning is; `nil` when there is another one.
    package static func rest(of bytes: [UInt8], behind stem: [UInt8]) -> ArraySlice<UInt8>? {
        if bytes.starts(with: stem) { return bytes[stem.count...] }
        var expected = normalForm(of: stem)[...]
        var index = bytes.startIndex
        var unit: [UInt8] = []
        while !expected.isEmpty {
            guard index < bytes.endIndex else { return nil }
            unit.removeAll(keepingCapacity: true)
            appendUnit(of: bytes, at: &index, to: &unit)
            guard expected.starts(with: unit) else { return nil }
            expected = expected.dropFirst(unit.count)
        }
        return bytes[index...]
    }

    /// Appends the byte or the escape at a place in its normal form, and goes on behind it.
    private static func appendUnit(of bytes: [UInt8], at index: inout Int, to output: inout [UInt8]) {
        guard isEscape(bytes, at: index), let high = value(bytes[index + 1]), let low = value(bytes[index + 2]) else {
            output.append(bytes[index])
            index += 1
            return
        }
        let byte = high << 4 | low
        if URLCharacters.unreserved.contains(byte) { output.append(byte) } else { appendEscaped(byte, to: &output) }
        index += 3
    }
}
