/// The grammar of `tracestate` (W3C Trace Context section 3.3).
enum TraceState {
    /// The maximum number of members.
    private static let mostMembers = 32
    /// The maximum length of a list that is passed on unchanged, in bytes.
    private static let longest = 512
    /// The length in bytes above which a member is removed first, if the list is too long.
    private static let longMember = 128

    /// Returns the list without spaces and empty members, or `nil` if it is empty or invalid.
    ///
    /// If the list is longer than 512 bytes, members of more than 128 bytes are removed first, and then the last ones.
    static func normalized(_ text: String) -> String? {
        var members = text.split(separator: ",").map(\.trimmingSpaces).filter { !$0.isEmpty }
        guard members.count <= mostMembers, members.allSatisfy(isMember),
            Set(members.map { $0.prefix { $0 != "=" } }).count == members.count
        else { return nil }
        func length() -> Int { members.reduce(max(0, members.count - 1)) { $0 + $1.utf8.count } }
        if length() > longest { members.removeAll { $0.utf8.count > longMember } }
        while length() > longest { members.removeLast() }
        return members.isEmpty ? nil : members.joined(separator: ",")
    }

    private static func isMember(_ text: String) -> Bool {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && isKey(parts[0]) && isValue(parts[1])
    }

    /// Whether the bytes are a key, such as `vendor` or `tenant@vendor`.
    private static func isKey(_ bytes: ArraySlice<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return isName(parts[0], atMost: 256) && isLetter(parts[0].first)
        case 2: return isName(parts[0], atMost: 241) && isName(parts[1], atMost: 14) && isLetter(parts[1].first)
        default: return false
        }
    }

    private static func isName(_ bytes: ArraySlice<UInt8>, atMost limit: Int) -> Bool {
        (1...limit).contains(bytes.count)
            && bytes.allSatisfy { isLetter($0) || (48...57).contains($0) || "_-*/".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8?) -> Bool { byte.map { (97...122).contains($0) } ?? false }

    private static func isValue(_ bytes: ArraySlice<UInt8>) -> Bool {
        (1...256).contains(bytes.count) && bytes.last != 32
            && bytes.allSatisfy { (32...126).contains($0) && $0 != UInt8(ascii: "=") }
    }
}
