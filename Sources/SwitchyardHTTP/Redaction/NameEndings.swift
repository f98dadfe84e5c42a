import SwitchyardServices

/// A matcher for names that end in a word such as `token`, however the words in the name are joined.
struct NameEndings: Sendable, Hashable {
    /// The minimum length of an ending that need not be a separate word.
    ///
    /// A shorter ending must be a separate word, because `laptop` ends in `otp` without being a one-time password.
    private static let selfEvident = 5
    /// The words before `token` in names of pagination tokens.
    ///
    /// Pagination tokens are not secret.
    private static let cursors = [
        "page", "next", "prev", "previous", "cursor", "continuation", "pagination", "paging", "sync", "scroll",
        "change", "start", "resume",
    ].map { Array($0.utf8) }
    private static let token = Array("token".utf8)

    private let endings: [[UInt8]]
    /// The last letters of all endings.
    ///
    /// Most names end with another letter and are excluded quickly.
    private let lastLetters: URLCharacters

    init(_ words: Set<String>) {
        endings = words.map { Array($0.utf8) }.filter { !$0.isEmpty }.sorted { $0.lexicographicallyPrecedes($1) }
        lastLetters = URLCharacters(String(words.compactMap(\.last)))
    }

    /// Whether a name ends in one of the words, ignoring digits after the word.
    func match(_ name: String) -> Bool {
        guard let last = name.utf8.last(where: \.isLetter), lastLetters.contains(last | 0x20) else { return false }
        let (letters, starts) = Self.letters(of: name)
        return endings.contains { ending in
            guard letters.count >= ending.count, letters.last == ending.last, letters.ends(with: ending) else {
                return false
            }
            let start = letters.count - ending.count
            if ending == Self.token, Self.cursors.contains(where: { letters[..<start].ends(with: $0) }) { return false }
            return ending.count >= Self.selfEvident || starts[start]
        }
    }

    /// Returns the letters and digits of a name in lower case, and whether a word starts at each.
    private static func letters(of name: String) -> (letters: [UInt8], starts: [Bool]) {
        var (letters, starts): ([UInt8], [Bool]) = ([], [])
        var (isBehindGap, isBehindCapital) = (true, false)
        for byte in name.utf8 {
            guard byte.isLetter || byte.isDigit || byte >= 0x80 else {
                isBehindGap = true
                continue
            }
            let isCapital = byte.isLetter && byte & 0x20 == 0
            letters.append(byte.isLetter ? byte | 0x20 : byte)
            starts.append(isBehindGap || isCapital && !isBehindCapital)
            (isBehindGap, isBehindCapital) = (false, isCapital)
        }
        while let last = letters.last, last.isDigit { letters.removeLast() }
        return (letters, starts)
    }
}

extension Collection<UInt8> where Self: BidirectionalCollection {
    func ends(with other: [UInt8]) -> Bool { count >= other.count && suffix(other.count).elementsEqual(other) }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter.
    var isLetter: Bool { self | 0x20 >= UInt8(ascii: "a") && self | 0x20 <= UInt8(ascii: "z") }
}
