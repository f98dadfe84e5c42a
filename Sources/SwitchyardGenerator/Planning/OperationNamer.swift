/// Functions that name the manager and the method of an operation.
struct OperationNamer {
    /// Returns the tag of the operation.
    ///
    /// If it has no tag, returns the first segment of its path that is not a placeholder.
    static func tag(of operation: Operation) -> String {
        if let tag = operation.tag, !SwiftName.words(of: tag).isEmpty { return tag }
        let segments = operation.path.split(separator: "/").map(String.init)
        let fixed = segments.first { segment in
            !segment.hasPrefix("{")
                && segment.wholeMatch(of: /v[0-9]+(?:\.[0-9]+)?|api|[0-9]{4}-[0-9]{2}-[0-9]{2}/) == nil
        }
        return fixed ?? "general"
    }

    /// Returns the words of a method's full name, and of its short name, which lacks the words of the tag.
    static func names(of operation: Operation, tag: String) -> (short: [String], full: [String]) {
        guard let id = operation.id, !id.isEmpty else {
            return (pathWords(of: operation, without: tag), pathWords(of: operation))
        }
        let plain = withoutPath(id, operation)
        let tagWords = SwiftName.words(of: tag)
        let local =
            plain.split(separator: "/").count > 1
            ? plain.split(separator: "/").dropFirst().joined(separator: " ") : plain
        var words = SwiftName.words(of: local)
        let full = words
        if words.count > tagWords.count, Array(words.prefix(tagWords.count)) == tagWords {
            words.removeFirst(tagWords.count)
        }
        if words.count > tagWords.count, words.count > 1 {
            let tail = Array(words.suffix(tagWords.count))
            if tail == tagWords || singular(tail) == singular(tagWords) { words.removeLast(tagWords.count) }
        }
        return (words, full)
    }

    private static func singular(_ words: [String]) -> [String] {
        guard let last = words.last else { return words }
        let noun =
            last.hasSuffix("ies") ? last.dropLast(3) + "y" : last.hasSuffix("s") ? last.dropLast() : Substring(last)
        return words.dropLast() + [String(noun)]
    }

    /// Returns an operation identifier without the path and the HTTP method that FastAPI appends to the name of the
    /// function.
    private static func withoutPath(_ id: String, _ operation: Operation) -> String {
        let path = operation.path.map { $0.isLetter || $0.isNumber || $0 == "_" ? String($0) : "_" }.joined()
        let tail = "\(path)_\(operation.method)"
        return id.hasSuffix(tail) && id.count > tail.count ? String(id.dropLast(tail.count)) : id
    }

    /// Returns the words of a name for an operation without an identifier, from its HTTP method and path.
    private static func pathWords(of operation: Operation, without tag: String? = nil) -> [String] {
        let segments = operation.path.split(separator: "/").map(String.init)
        let fixed = segments.filter { !$0.hasPrefix("{") && $0.wholeMatch(of: /v[0-9]+/) == nil }
        let told = fixed.first == tag ? fixed.dropFirst() : fixed[...]
        var words = [operation.method] + told.flatMap(SwiftName.words)
        if let last = segments.last, last.hasPrefix("{") {
            words += ["by"] + SwiftName.words(of: last.filter { $0 != "{" && $0 != "}" })
        }
        return words
    }
}
