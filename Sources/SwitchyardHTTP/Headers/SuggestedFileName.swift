import Foundation

/// The name under which an answer wants to be kept, made safe: a server does not choose directories, hide files or
/// overwrite what it pleases.
package enum SuggestedFileName {
    private static let longest = 200

    /// The last part of a path, without what is dangerous in a name: control and format characters that disguise it, a dot
    /// in front, dots and blanks behind, and more bytes than file systems take.
    package static func safe(_ name: String) -> String {
        // By scalars: a character that combines with a separator or a dot must not hide it.
        let parts = name.unicodeScalars.split(omittingEmptySubsequences: true) { $0 == "/" || $0 == "\\" }
        var kept = (parts.last ?? Substring.UnicodeScalarView()).filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: scalar != ":"
            }
        }
        while let first = kept.first, isTrimmed(first) { kept.removeFirst() }
        return trimmedBehind(shortened(trimmedBehind(String(kept))))
    }

    private static func trimmedBehind(_ name: String) -> String {
        var scalars = name.unicodeScalars
        while let last = scalars.last, isTrimmed(last) { scalars.removeLast() }
        return String(scalars)
    }

    private static func isTrimmed(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar.properties.isWhitespace
    }

    /// The name with a number between its stem and its extension.
    package static func numbered(_ name: String, _ number: Int) -> String {
        let (stem, ending) = split(name)
        return "\(stem) \(number)\(ending)"
    }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let (stem, ending) = split(name)
        let kept = ending.utf8.count < 32 ? ending : ""
        // By scalars first: to take characters off from behind costs the square of their number where they are flags.
        var short = String(stem.unicodeScalars.prefix(2 * longest))
        while short.utf8.count + kept.utf8.count > longest { short.removeLast() }
        // A name of one character that is too long is none, and must not leave its extension as a hidden file.
        return short.isEmpty ? "" : short + kept
    }

    private static func split(_ name: String) -> (stem: String, ending: String) {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }
}
