import Foundation

/// The file name that a response suggests, made safe so that a server cannot choose directories, hide files or
/// overwrite arbitrary files.
package enum SuggestedFileName {
    private static let longest = 200

    /// Returns the last component of a path without dangerous characters.
    ///
    /// The result has no control and format characters, and no dots and spaces at its start and end. Names that are too
    /// long for file systems are shortened.
    package static func safe(_ name: String) -> String {
        // Iterate over scalars, because a combining mark after a separator or a dot would hide that character in a
        // `Character`.
        let parts = name.unicodeScalars.split(omittingEmptySubsequences: true) { $0 == "/" || $0 == "\\" }
        var kept = (parts.last ?? Substring.UnicodeScalarView()).filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: scalar != ":"
            }
        }
        while let first = kept.first, isTrimmed(first) { kept.removeFirst() }
        return trimmedAfter(shortened(trimmedAfter(String(kept))))
    }

    private static func trimmedAfter(_ name: String) -> String {
        var scalars = name.unicodeScalars
        while let last = scalars.last, isTrimmed(last) { scalars.removeLast() }
        return String(scalars)
    }

    private static func isTrimmed(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar.properties.isWhitespace
    }

    /// Returns the name with a number between its stem and its extension.
    package static func numbered(_ name: String, _ number: Int) -> String {
        let (stem, ending) = split(name)
        return "\(stem) \(number)\(ending)"
    }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let (stem, ending) = split(name)
        let kept = ending.utf8.count < 32 ? ending : ""
        // Shorten by scalars first, because removing characters one by one from the end takes quadratic time if the
        // characters are flag emoji.
        var short = String(stem.unicodeScalars.prefix(2 * longest))
        while short.utf8.count + kept.utf8.count > longest { short.removeLast() }
        // If the only character of a stem is too long, the name is empty, because the extension alone would be a hidden
        // file.
        return short.isEmpty ? "" : short + kept
    }

    private static func split(_ name: String) -> (stem: String, ending: String) {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }
}
