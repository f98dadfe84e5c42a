import Foundation

extension Verdict {
    /// The verdict as HTML, which can be read without scripts.
    package var html: String {
        let details = details.map { "<p class=\"verdict-detail\">\(HTMLText.escaped($0))</p>" }.joined(separator: "\n")
        return """
            <section class="verdict is-\(level.rawValue)" aria-label="Result">
            <p class="verdict-headline">\(HTMLText.escaped(headline))</p>
            \(details)
            </section>
            """
    }
}

/// The text of HTML elements.
package enum HTMLText {
    /// Returns a text with the characters escaped that have a meaning in HTML, so that it is safe in an element and in
    /// a quoted attribute.
    package static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
