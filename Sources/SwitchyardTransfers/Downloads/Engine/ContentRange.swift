import SwitchyardServices

/// The part of a content that an answer holds: the header field `Content-Range` (RFC 9110 section 14.4).
struct ContentRange: Sendable, Hashable {
    /// The first and the last byte, counted from 0; `nil` when the range could not be satisfied (with status 416).
    var bytes: ClosedRange<Int64>?
    /// The length of the whole content; `nil` when the server does not know it.
    var total: Int64?

    /// Reads a field; `nil` for one that is malformed, contradicts itself, or counts in other units than bytes.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = Self.number(parts[1]) else { return nil }
            self.total = total
        }
        guard parts[0] != "*" else {
            if total == nil { return nil }
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < total ?? .max
        else { return nil }
        bytes = first...last
    }

    /// A number of digits only.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }
}
