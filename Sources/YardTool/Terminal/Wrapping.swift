extension String {
    /// Returns the text in lines of at most this number of columns, broken between words.
    ///
    /// All lines except the first start with `indent` spaces. Several spaces in a row are kept. A word that is longer
    /// than a line is not broken.
    func wrapped(to limit: Int, indent: Int) -> [String] {
        guard columns > limit else { return [self] }
        let lead = prefix { $0 == " " }
        var (lines, line, isFirst): ([String], String, Bool) = ([], String(lead), true)
        for word in dropFirst(lead.count).split(separator: " ", omittingEmptySubsequences: false) {
            if !isFirst, line.columns + 1 + word.count > limit {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            } else {
                line += isFirst ? String(word) : " \(word)"
            }
            isFirst = false
        }
        return lines + [line]
    }

    /// Returns the text with each line wrapped to this number of columns between words.
    func wrappedLines(to limit: Int) -> String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { String($0).wrapped(to: limit, indent: 12) }.joined(separator: "\n")
    }
}
