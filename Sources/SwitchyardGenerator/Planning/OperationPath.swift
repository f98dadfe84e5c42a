/// The path of an operation, from which an operation without a name of its own is named.
struct OperationPath {
    /// A part of the path between two slashes.
    struct Segment {
        let text: String
        let isPlaceholder: Bool
        var words: [String] { SwiftName.words(of: text) }
    }

    /// The parts of the path, without leading parts such as `api` and a version.
    let segments: [Segment]
    /// The leading parts that ``segments`` leaves out, such as `api` and a version.
    private let start: [Segment]

    init(_ path: String) {
        let all = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").map { text in
            Segment(text: String(text), isPlaceholder: text.hasPrefix("{") && text.hasSuffix("}"))
        }
        let versions = /v[0-9]+(?:\.[0-9]+)?|api|[0-9]{4}-[0-9]{2}-[0-9]{2}/
        let start = all.prefix { $0.text.wholeMatch(of: versions) != nil }
        self.start = start.count < all.count ? Array(start) : []
        segments = Array(all.dropFirst(self.start.count))
    }

    /// Returns whether the words of an identifier are only the method and the parts of the path, as in
    /// `GetAccountsAccount`.
    ///
    /// A placeholder can be written with its name, as `id`, or not at all.
    func isWritten(in words: [String], of method: String) -> Bool {
        guard words.first == method, !segments.isEmpty else { return false }
        return [segments, start + segments].contains { matches(words.dropFirst(), $0[...]) }
    }

    private func matches(_ words: ArraySlice<String>, _ rest: ArraySlice<Segment>) -> Bool {
        guard let segment = rest.first else { return words.isEmpty }
        let forms = segment.isPlaceholder ? [segment.words, ["id"], []] : [segment.words]
        return forms.contains { words.starts(with: $0) && matches(words.dropFirst($0.count), rest.dropFirst()) }
    }

    // MARK: - Names

    /// The words that are verbs in a path, as in `/verify_code`.
    private static let verbs: Set<String> = [
        "add", "apply", "attach", "cancel", "clear", "confirm", "create", "delete", "detach", "disable", "enable",
        "execute", "find", "generate", "get", "mark", "move", "process", "publish", "refresh", "regenerate", "remove",
        "resend", "reset", "restart", "restore", "retry", "revoke", "search", "send", "set", "submit", "sync",
        "terminate", "update", "upload", "validate", "verify",
    ]
    private static let itemVerbs = ["get": "get", "post": "update", "put": "update", "patch": "update"]

    /// Returns the possible names for a method, with the preferred name first.
    ///
    /// If `canBeList` is `false`, the response is not JSON, so a collection is not a list but a file, for example. A
    /// path that ends with a placeholder is an item: `get`, `update`, `delete`. Any other path is a collection if its
    /// last part is a plural: `list`, `create`. Otherwise, a POST request to a path below an item is named by its last
    /// part, as in `/orders/{id}/cancel`. The words of the tag are left out of the preferred name.
    func names(of method: String, without tag: [String], canBeList: Bool) -> [[String]] {
        let fixed = segments.indices.filter { !segments[$0].isPlaceholder }
        let kept = fixed.first.map { Self.isTag(segments[$0].words, tag) } == true ? Array(fixed.dropFirst()) : fixed
        let items = segments.last?.isPlaceholder == true ? ["by"] + (segments.last?.words ?? []) : []
        let plain = [method] + nouns(kept)
        let names = [name(of: method, kept, canBeList), name(of: method, fixed, canBeList), plain]
        // A PUT request and a PATCH request of the same path both update an item.
        let ordered = method == "patch" ? [names[0], plain, names[1]] : names
        return ordered + [[method] + fixed.flatMap { segments[$0].words } + items]
    }

    private static func isTag(_ words: [String], _ tag: [String]) -> Bool {
        words.joined() == tag.joined() || OperationNamer.singular(words) == OperationNamer.singular(tag)
    }

    /// Returns the words of a name: a verb, and the parts of the path at the indexes `kept`.
    private func name(of method: String, _ kept: [Int], _ canBeList: Bool) -> [String] {
        guard let last = segments.last else { return [method] }
        let verb = Self.itemVerbs[method] ?? method
        if last.isPlaceholder { return [verb] + nouns(kept) }
        let isKept = kept.last == segments.count - 1
        let parents = nouns(isKept ? kept.dropLast() : kept)
        let words = isKept ? last.words : []
        if Self.isAction(words, method) { return Self.action(words, parents) }
        let isPlural = OperationNamer.singular(last.words) != last.words
        switch method {
        case "get": return [isPlural && canBeList ? "list" : verb] + parents + words
        case "post" where isPlural: return ["create"] + parents + OperationNamer.singular(words)
        case "post" where isKept && segments.dropLast().last?.isPlaceholder == true:
            return Self.action(words, parents)
        case "post": return [method] + parents + words
        default: return [verb] + parents + words
        }
    }

    private static func isAction(_ words: [String], _ method: String) -> Bool {
        guard let first = words.first, verbs.contains(first) else { return false }
        return method == "post" || (method == "get" && (words.count > 1 || first == "search"))
    }

    /// Returns the words of an action on an item, as in `cancelOrder` and `setDisplayForReader`.
    private static func action(_ words: [String], _ parents: [String]) -> [String] {
        guard words.count > 1, let parent = parents.last else { return words + parents }
        return words.contains(parent) ? words : words + ["for"] + parents
    }

    private func nouns(_ kept: some Collection<Int>) -> [String] {
        kept.flatMap { OperationNamer.singular(segments[$0].words) }
    }
}
