/// Names the managers and the methods of the operations of a document.
struct OperationNamer {
    /// The words of the names of an operation.
    struct Names {
        /// The words of the possible names of the method, with the preferred name first.
        let choices: [[String]]
        /// The words from which the names of the operation's types are made.
        let types: [String]
    }

    /// Whether the identifiers of the document only repeat the method and the path, as in `GetAccountsAccount`.
    private let areDerived: Bool

    init(_ operations: [Operation]) {
        let ids = operations.filter { $0.id?.isEmpty == false }
        let derived = ids.count { OperationPath($0.path).isWritten(in: Self.words(of: $0), of: $0.method) }
        areDerived = derived * 2 > ids.count
    }

    /// Returns the tag of the operation.
    ///
    /// If it has no tag, returns the first segment of its path that is not a placeholder.
    static func tag(of operation: Operation) -> String {
        if let tag = operation.tag, !SwiftName.words(of: tag).isEmpty { return tag }
        let fixed = OperationPath(operation.path).segments.first { !$0.isPlaceholder }
        return fixed?.text ?? "general"
    }

    /// Returns the names of an operation.
    ///
    /// If the document only derives the identifiers from the methods and the paths, or the operation has no identifier,
    /// the method is named by what it does with the path.
    func names(of operation: Operation, tag: String) -> Names {
        let tagWords = SwiftName.words(of: tag)
        let path = OperationPath(operation.path)
        let full = Self.words(of: operation)
        let names = path.names(of: operation.method, without: tagWords, canBeList: Self.returnsJSON(operation))
        if full.isEmpty { return Names(choices: names, types: Self.types(names[0], tagWords)) }
        if areDerived, path.isWritten(in: full, of: operation.method) {
            return Names(choices: names.dropLast() + [full], types: Self.types(names[0], tagWords))
        }
        return Names(choices: [Self.short(full, tagWords), full], types: Self.types(full, tagWords))
    }

    private static func types(_ words: [String], _ tag: [String]) -> [String] {
        Set(tag).isSubset(of: words) ? words : tag + words
    }

    private static func returnsJSON(_ operation: Operation) -> Bool {
        operation.responses.contains { response in
            response.status.hasPrefix("2")
                && response.contents.contains { MethodPlanner.isJSON(MethodPlanner.essence($0.type)) }
        }
    }

    // MARK: - Identifiers

    /// Returns the words of an operation's identifier, without a namespace such as the one in `issues/list`.
    private static func words(of operation: Operation) -> [String] {
        guard let id = operation.id, !id.isEmpty else { return [] }
        let plain = withoutPath(id, operation)
        let parts = plain.split(separator: "/")
        return SwiftName.words(of: parts.count > 1 ? parts.dropFirst().joined(separator: " ") : plain)
    }

    /// Returns an operation identifier without the path and the HTTP method that FastAPI appends to the name of the
    /// function.
    private static func withoutPath(_ id: String, _ operation: Operation) -> String {
        let path = operation.path.map { $0.isLetter || $0.isNumber || $0 == "_" ? String($0) : "_" }.joined()
        let tail = "\(path)_\(operation.method)"
        return id.hasSuffix(tail) && id.count > tail.count ? String(id.dropLast(tail.count)) : id
    }

    // MARK: - Words of the tag

    /// The words with which a method name can end, because its argument follows, as in `addItemsTo(playlistID:)`.
    private static let prepositions: Set<String> = ["to", "from", "for", "of", "in", "on", "by", "with"]
    private static let quantities: Set<String> = ["all", "many", "multiple", "several"]

    /// Returns the words of an identifier without the words of the tag.
    ///
    /// The tag is removed at the start, as in `products_get`. It is removed after the verb if it is a singular or a
    /// preposition follows, as in `listChatCompletions` and `findPetsByStatus`. It is removed at the end if the rest is
    /// a verb or ends with a preposition or a quantity, as in `listProducts`. It stays in `deleteProjectRoles` and
    /// `removeAlbumsUser`, because `roles.deleteProject` and `albums.removeUser` have another meaning.
    private static func short(_ full: [String], _ tag: [String]) -> [String] {
        var words = full
        let start = prefixLength(of: tag, in: words)
        if start > 0, start < words.count { words.removeFirst(start) }
        if words.count > tag.count + 1, singular(words[1...tag.count]) == singular(tag) {
            let isName = Array(words[1...tag.count]) == tag && (tag.count > 1 || singular(tag) == tag)
            if isName || prepositions.contains(words[tag.count + 1]) { words.removeSubrange(1...tag.count) }
        }
        if words.count > tag.count, words.count > 1, singular(words.suffix(tag.count)) == singular(tag) {
            let rest = words.dropLast(tag.count)
            let last = rest.last ?? ""
            if rest.count == 1 || prepositions.contains(last) || quantities.contains(last) { words = Array(rest) }
        }
        return words
    }

    /// Returns the number of words at the start of a name that together spell the tag, or 0.
    static func prefixLength(of tag: [String], in words: [String]) -> Int {
        let letters = tag.joined()
        return (1...max(1, tag.count)).reversed().first { words.prefix($0).joined() == letters } ?? 0
    }

    static func singular(_ words: some Collection<String>) -> [String] {
        guard let last = Array(words).last else { return [] }
        return words.dropLast() + [singular(last)]
    }

    private static let irregular = [
        "people": "person", "children": "child", "aliases": "alias", "statuses": "status", "indices": "index",
    ]

    static func singular(_ word: String) -> String {
        if let known = irregular[word] { return known }
        if word.hasSuffix("ies"), word.count > 4 { return word.dropLast(3) + "y" }
        if ["ss", "us", "is"].contains(where: word.hasSuffix) { return word }
        if ["sses", "xes", "ches", "shes"].contains(where: word.hasSuffix) { return String(word.dropLast(2)) }
        return word.hasSuffix("s") ? String(word.dropLast()) : word
    }
}
