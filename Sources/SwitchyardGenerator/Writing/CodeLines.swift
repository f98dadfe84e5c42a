/// The lines of a generated Swift file, formatted as `swift format` does.
struct CodeLines {
    static let width = 120

    private(set) var lines: [String] = []
    private var depth = 0

    /// Adds a line with the current indentation.
    ///
    /// An empty line has no spaces.
    mutating func line(_ text: String = "") {
        lines.append(text.isEmpty ? "" : String(repeating: " ", count: depth * 4) + text)
    }

    /// Adds lines that are indented by one level.
    mutating func indented(_ body: (inout CodeLines) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// Adds the first line of a block, an indented body, and a closing brace.
    mutating func block(_ head: String, _ body: (inout CodeLines) -> Void) {
        line(head + " {")
        indented(body)
        line("}")
    }

    /// Adds a list between brackets: on one line if it fits, otherwise with each element on a separate line.
    mutating func list(_ head: String, _ elements: [Element], _ tail: String) {
        let oneLine = head + elements.map(\.oneLine).joined(separator: ", ") + tail
        // If a collection literal is split over several lines, it has a trailing comma. `swift format` therefore
        // reserves a column for the comma when it decides whether the literal fits on one line.
        let needsRoom = elements.contains(where: \.hasCollection)
        if fits(oneLine, room: needsRoom ? 1 : 0) { return line(oneLine) }
        guard !elements.isEmpty else { return function(head, tail) }
        line(head)
        indented { code in
            for (index, element) in elements.enumerated() {
                let comma = index < elements.count - 1 ? "," : ""
                code.element(element, comma)
            }
        }
        line(tail)
    }

    /// Adds the head of a function without parameters that does not fit on one line.
    private mutating func function(_ head: String, _ tail: String) {
        guard tail.hasPrefix(") "), tail.hasSuffix(" {") else { return line(head + tail) }
        line(head + ")")
        indented { $0.line(String(tail.dropFirst(2).dropLast(2))) }
        line("{")
    }

    private mutating func element(_ element: Element, _ comma: String) {
        switch element {
        case .text(let text): line(text + comma)
        case .pair(let key, let value):
            if fits(element.oneLine + comma) { return line(element.oneLine + comma) }
            line("\(key):")
            indented { $0.line(value + comma) }
        case .call(let head, let elements, let tail):
            list(head, elements, tail + comma)
        case .list(let head, let elements, let tail):
            if fits(element.oneLine + comma, room: 1) { return line(element.oneLine + comma) }
            line(head)
            indented { $0.rows(elements) }
            line(tail + comma)
        }
    }

    /// An element of a list.
    enum Element {
        case text(String)
        /// A call that is an argument of another call.
        indirect case call(String, [Element], String)
        /// An entry of a dictionary literal: the key and the value.
        case pair(String, String)
        /// A literal of a collection, with as many elements on each line as fit.
        case list(String, [String], String)

        /// Whether the element is, or contains, a collection literal.
        var hasCollection: Bool {
            switch self {
            case .list: true
            case .call(_, let elements, _): elements.contains(where: \.hasCollection)
            case .text, .pair: false
            }
        }

        var oneLine: String {
            switch self {
            case .text(let text): text
            case .pair(let key, let value): "\(key): \(value)"
            case .call(let head, let elements, let tail):
                head + elements.map(\.oneLine).joined(separator: ", ") + tail
            case .list(let head, let elements, let tail): head + elements.joined(separator: ", ") + tail
            }
        }
    }

    /// Adds a computed property whose value is an array, with as many elements on each line as fit.
    mutating func property(_ head: String, values: [String]) {
        let array = "[\(values.joined(separator: ", "))]"
        if fits("\(head) { \(array) }", room: 1) { return line("\(head) { \(array) }") }
        block(head) { code in
            if code.fits(array, room: 1) { return code.line(array) }
            code.line("[")
            code.indented { $0.rows(values) }
            code.line("]")
        }
    }

    /// Adds the elements of a literal of a collection, with as many elements on each line as fit.
    private mutating func rows(_ elements: [String]) {
        for row in Self.rows(of: elements, width: Self.width - depth * 4 - 1, { $0.joined(separator: ", ") }) {
            line(row.joined(separator: ", ") + ",")
        }
    }

    private func fits(_ text: String, room: Int = 0) -> Bool { depth * 4 + text.count + room <= Self.width }

    /// Adds an assignment: on one line if it fits, otherwise with the value on the next line.
    mutating func assignment(_ target: String, _ value: String) {
        if fits("\(target) = \(value)") { return line("\(target) = \(value)") }
        line("\(target) =")
        indented { $0.line(value) }
    }

    /// Adds a declaration: on one line if it fits, otherwise with the type on the next line.
    mutating func declaration(_ name: String, _ type: String) {
        if fits("\(name): \(type)") { return line("\(name): \(type)") }
        line("\(name):")
        indented { $0.line(type) }
    }

    /// Adds a case of a `switch`: on one line if it fits, otherwise with the statement on the next line.
    mutating func switchCase(_ pattern: String, _ statement: String) {
        if fits("\(pattern): \(statement)") { return line("\(pattern): \(statement)") }
        line("\(pattern):")
        indented { $0.line(statement) }
    }

    /// Splits elements into rows, each with as many elements as fit into the width.
    static func rows<Item>(of items: [Item], width: Int, _ text: ([Item]) -> String) -> [[Item]] {
        var rows: [[Item]] = []
        for item in items {
            if let last = rows.last, text(last + [item]).count <= width {
                rows[rows.count - 1].append(item)
            } else {
                rows.append([item])
            }
        }
        return rows
    }

    // MARK: - Documentation

    /// Adds a documentation comment with the first sentence of a text.
    ///
    /// The sentence is wrapped over at most `maximumLines` lines.
    mutating func documentation(_ text: String?, fallback: String? = nil, maximumLines: Int = 2) {
        guard let sentence = text.flatMap(Self.sentence) ?? fallback else { return }
        let width = Self.width - depth * 4 - 4
        var rows: [String] = []
        var row = ""
        for word in sentence.split(separator: " ") {
            if !row.isEmpty, row.count + 1 + word.count > width {
                rows.append(row)
                row = ""
            }
            row += row.isEmpty ? String(word) : " \(word)"
        }
        rows.append(row)
        if rows.count > maximumLines {
            rows = Array(rows.prefix(maximumLines))
            let last = rows[maximumLines - 1]
            let cut = last.count + 3 > width ? last.split(separator: " ").dropLast().joined(separator: " ") : last
            rows[maximumLines - 1] = cut.trimmingPunctuation + "..."
        }
        for row in rows { line("/// \(row)") }
    }

    /// Returns the first sentence of a text without markup, or `nil` if there is none.
    static func sentence(_ text: String) -> String? {
        let paragraph = text.split(separator: "\n\n", omittingEmptySubsequences: true).first ?? ""
        // The rest is not needed, because no documentation comment shows more than 1,000 characters.
        var words = paragraph.prefix(1_000).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        // Regular expressions are slow, so they are only applied to strings that can match.
        if words.contains("<") { words = words.replacing(/<\/?[A-Za-z][^>]*>/, with: "") }
        if words.contains("](") { words = words.replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.1) } }
        // A hyphen at the start of a line would begin a list.
        words = words.replacing(" - ", with: " – ")
        words = words.replacing("e.g. ", with: "for example ").replacing("i.e. ", with: "that is ")
        words = words.replacing("e.g.,", with: "for example,").replacing("i.e.,", with: "that is,")
        let trimmed = words.drop { "#*->+ |:".contains($0) }
        guard let first = trimmed.first else { return nil }
        var sentence = String(trimmed)
        if let end = Self.end(of: sentence) { sentence = String(sentence[..<end]) }
        sentence = sentence.trimmingPunctuation
        guard !sentence.isEmpty else { return nil }
        let isWord = first.isLowercase && sentence.prefix { $0 != " " }.allSatisfy { $0.isLetter }
        return (isWord ? sentence.prefix(1).uppercased() + sentence.dropFirst() : sentence) + "."
    }
}

extension CodeLines {
    /// Returns the position of the punctuation mark at the end of the first sentence, or `nil` if there is none.
    private static func end(of text: String) -> String.Index? {
        text.indices.first { index in
            guard ".!?".contains(text[index]) else { return false }
            var next = text.index(after: index)
            if next < text.endIndex, "\"')".contains(text[next]) { next = text.index(after: next) }
            return next == text.endIndex || text[next] == " "
        }
    }
}

extension String {
    /// The text without spaces and punctuation at its end.
    var trimmingPunctuation: String {
        guard let end = lastIndex(where: { !".,;: !?…".contains($0) }) else { return "" }
        return String(self[...end])
    }
}
