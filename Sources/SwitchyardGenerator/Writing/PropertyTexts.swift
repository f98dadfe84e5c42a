/// Decides which descriptions of properties are worth a documentation comment, because they add something to the name
/// and the type.
struct PropertyTexts {
    /// The number of properties with each name and description.
    private let counts: [String: Int]
    /// If this many properties have the same name and description, the description is left out.
    private static let limit = 4
    /// The words that add nothing to a name.
    private static let fillers: Set<String> = [
        "a", "all", "an", "and", "any", "are", "array", "as", "associated", "be", "being", "belongs", "by", "created",
        "current", "defined", "details", "field", "for", "from", "given", "has", "identifier", "identifies", "identify",
        "in", "information", "instance", "is", "it", "its", "list", "new", "object", "of", "on", "or", "our",
        "resource", "s", "string", "that", "the", "this", "to", "unique", "used", "value", "was", "we", "which", "with",
        "you", "your",
    ]

    init(_ declarations: [Declaration]) {
        var counts: [String: Int] = [:]
        for declaration in declarations {
            guard case .structure(let properties, _) = declaration.kind else { continue }
            for property in properties {
                if let text = property.description { counts[Self.key(property.name, text), default: 0] += 1 }
            }
        }
        self.counts = counts
    }

    private static func key(_ name: String, _ text: String) -> String { "\(name) \(CodeLines.sentence(text) ?? "")" }

    /// Returns whether a description adds something to the names of its property and type, and does not repeat the
    /// description of several other properties of that name.
    func isKept(_ text: String, of name: String, in declaration: Declaration) -> Bool {
        guard let sentence = CodeLines.sentence(text), counts[Self.key(name, text), default: 0] < Self.limit else {
            return false
        }
        let known = Set(SwiftName.words(of: "\(name) \(declaration.name)").map(Self.stem))
        return SwiftName.words(of: sentence).contains { !Self.fillers.contains($0) && !known.contains(Self.stem($0)) }
    }

    private static func stem(_ word: String) -> String {
        for ending in ["ies", "es", "s", "ed", "y"] where word.count > ending.count + 2 && word.hasSuffix(ending) {
            return String(word.dropLast(ending.count))
        }
        return word
    }
}
