/// The keys that a runner reads, by their path, such as `steps.expect.state`.
///
/// A case with any other key has an expectation that is not checked, so it must not pass.
struct CaseKeys: ExpressibleByStringLiteral {
    /// The keys with remarks about a case.
    private static let remarks: Set = ["id", "note", "origin", "source", "upstream", "strength"]

    private let paths: Set<String>
    /// The objects whose keys are listed separately.
    private let objects: Set<String>

    /// Creates keys from a list of paths separated by white space; `name.*` allows every key of `name`.
    init(stringLiteral text: String) {
        self.init(text)
    }

    /// Creates keys from several lists.
    init(_ lists: String...) {
        let text = lists.joined(separator: " ")
        let paths = text.split(whereSeparator: \.isWhitespace).map { String($0) }
        self.paths = Set(paths)
        objects = Set(paths.compactMap { path in path.lastIndex(of: ".").map { String(path[..<$0]) } })
    }

    /// The reason why a case cannot be judged; `nil` if all its keys are read.
    func objection(to item: CaseValue) -> CaseOutcome? {
        let outer = item.keys.subtracting(CaseKeys.remarks)
        return unread(outer, of: item, in: "").map { .notApplicable("The test does not read the key \($0).") }
    }

    private func unread(_ keys: Set<String>, of item: CaseValue, in object: String) -> String? {
        for key in keys.sorted() {
            let path = object.isEmpty ? key : "\(object).\(key)"
            guard paths.contains(path) || objects.contains(path) else { return path }
            guard objects.contains(path), !paths.contains("\(path).*") else { continue }
            for value in [item[key]] + item[key].array {
                if let found = unread(value.keys, of: value, in: path) { return found }
            }
        }
        return nil
    }
}
