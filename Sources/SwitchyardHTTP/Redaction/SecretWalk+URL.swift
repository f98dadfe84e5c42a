import SwitchyardServices

extension SecretWalk {
    /// A URL, or the path and query of one.
    func url(_ bytes: Bytes) -> [UInt8]? {
        var result = Replacements(of: bytes)
        if let start = Self.startOfTornUser(in: bytes) {
            result.replace(start..<bytes.endIndex, with: mark)
            return result.bytes
        }
        let hash = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        address(bytes[..<hash], &result)
        guard hash < bytes.endIndex else { return result.bytes }
        let fragment = bytes[(hash + 1)...]
        if fragment.contains(UInt8(ascii: "?")) {
            address(fragment, &result)
        } else {
            query(fragment, &result)
        }
        return result.bytes
    }

    /// A query or form, whether `&` or `;` stands between its parameters.
    func query(_ bytes: Bytes) -> [UInt8]? {
        var result = Replacements(of: bytes)
        query(bytes, &result)
        return result.bytes
    }

    /// Where user and password begin when a slash, a question mark or a hash in the password ends the authority: no port
    /// is anything but digits, and the @ comes later.
    static func startOfTornUser(in bytes: Bytes) -> Int? {
        guard bytes.contains(UInt8(ascii: "@")), let start = authority(in: bytes) else { return nil }
        let authority = bytes[start...].prefix { !"/?#".utf8.contains($0) }
        guard !authority.contains(UInt8(ascii: "@")), authority.first != UInt8(ascii: "["),
            let colon = authority.firstIndex(of: UInt8(ascii: ":")),
            !authority[(colon + 1)...].allSatisfy(\.isDigit),
            bytes[authority.endIndex...].contains(UInt8(ascii: "@"))
        else { return nil }
        return start
    }

    /// A URL without its fragment.
    private func address(_ bytes: Bytes, _ result: inout Replacements) {
        let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        path(bytes[..<end], &result)
        if end < bytes.endIndex { query(bytes[(end + 1)...], &result) }
    }

    private func query(_ bytes: Bytes, _ result: inout Replacements) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            // A semicolon may belong to a value too: nothing behind one that is hidden is shown.
            if hides(pair) { hide(pair, &result) } else { parts(of: pair, &result) }
        }
    }

    /// Pairs between semicolons, such as the parameters of a path.
    private func parts(of bytes: Bytes, _ result: inout Replacements) {
        for part in bytes.split(separator: UInt8(ascii: ";")) {
            if hides(part) {
                hide(part, &result)
            } else {
                let value = part.firstIndex(of: UInt8(ascii: "=")).map { part[($0 + 1)...] } ?? part
                result.replace(value, with: encodedLeaf(value))
            }
        }
    }

    private func hides(_ pair: Bytes) -> Bool {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let name = pair[..<equals]
        guard takesRelativeURLs || !name.contains(UInt8(ascii: "?")) else { return false }
        return redaction.hides(parameter: String(decoding: name, as: UTF8.self))
    }

    private func hide(_ pair: Bytes, _ result: inout Replacements) {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return }
        result.replace(equals + 1..<pair.endIndex, with: mark)
    }
}

// MARK: - Paths

extension SecretWalk {
    /// What stands in front of a query: scheme, authority and path.
    private func path(_ bytes: Bytes, _ result: inout Replacements) {
        var takesCredentials = false
        for segment in bytes.split(separator: UInt8(ascii: "/")) {
            defer { takesCredentials = takesCredentials || announcesCredentials(segment) }
            if isAuthority(segment, in: bytes), let at = segment.lastIndex(of: UInt8(ascii: "@")) {
                result.replace(segment.startIndex..<at, with: mark)
            } else if takesCredentials, CredentialShape.isOpaque(segment) {
                result.replace(segment.indices, with: mark)
            } else if segment.count > 3 {
                parts(of: segment, &result)
            }
        }
    }

    /// Whether what follows a part of a path may be a credential: `/webhooks/7/…`, `/reset-password/…`.
    private func announcesCredentials(_ segment: Bytes) -> Bool {
        guard (3...64).contains(segment.count) else { return false }
        let name = String(decoding: segment, as: UTF8.self)
        return name.lowercased().contains("hook") || redaction.hides(label: name)
    }

    private func isAuthority(_ segment: Bytes, in bytes: Bytes) -> Bool {
        let start = segment.startIndex
        return start >= bytes.startIndex + 2 && bytes[start - 1] == UInt8(ascii: "/")
            && bytes[start - 2] == UInt8(ascii: "/")
    }

    /// Where the authority of a URL begins; `nil` when it has none.
    private static func authority(in bytes: Bytes) -> Int? {
        let slash = UInt8(ascii: "/")
        return bytes.indices.dropLast().first { bytes[$0] == slash && bytes[$0 + 1] == slash }.map { $0 + 2 }
    }
}
