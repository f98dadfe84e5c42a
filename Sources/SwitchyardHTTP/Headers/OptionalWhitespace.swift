extension Substring.UnicodeScalarView {
    /// The text without the spaces and tabs at its ends, which is what may stand around the parts of a header's value
    /// (RFC 9110 section 5.6.3).
    var trimmed: String {
        func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
        guard let start = firstIndex(where: { !isSpace($0) }), let end = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[start...end])
    }
}
