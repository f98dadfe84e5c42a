/// The grammar of multipart bodies: boundaries, and the names in the header fields of parts.
enum MultipartSyntax {
    /// Whether a boundary is valid: 1 to 70 characters that RFC 2046 section 5.1.1 allows, and no space at the end.
    ///
    /// In addition to the RFC, `!` is allowed, because it is harmless and in use.
    static func isValid(boundary: String) -> Bool {
        let bytes = boundary.utf8
        return (1...70).contains(bytes.count) && bytes.last != UInt8(ascii: " ")
            && bytes.allSatisfy(boundaryCharacters.contains)
    }

    private static let boundaryCharacters = URLCharacters(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'()+_,-./:=? !"
    )

    /// Returns a name for a quoted parameter: CR, LF and the quote become `%0D`, `%0A` and `%22`, and nothing else
    /// changes.
    ///
    /// This is the WHATWG "multipart/form-data encoding algorithm", which all browsers follow. RFC 7578 forbids
    /// `filename*`.
    static func escaped(_ name: String) -> String {
        var result: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case 13: result += "%0D".utf8
            case 10: result += "%0A".utf8
            case UInt8(ascii: "\""): result += "%22".utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the name of a field with each line break as CR LF, as the WHATWG algorithm specifies for field names but
    /// not for file names.
    static func normalized(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == 13 || $0 == 10 }) else { return name }
        var result: [UInt8] = []
        var previous: UInt8 = 0
        for byte in name.utf8 {
            if byte == 10, previous == 13 {
                previous = byte
                continue
            }
            if byte == 13 || byte == 10 { result += [13, 10] } else { result.append(byte) }
            previous = byte
        }
        return String(decoding: result, as: UTF8.self)
    }
}
