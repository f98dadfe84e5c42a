/// The keys that a runner reads, by the objects they are in, such as `steps.expect.state`.
///
/// A case with any other key asks for something that would not be looked at, and must not pass.
struct CaseKeys: ExpressibleByStringLiteral {
    /// What a case says about itself.
    private static let remarks: Set = ["id", "note", "origin", "source", "upstream", "strength"]

    private let paths: Set<String>
    /// The objects of which every key has a line of its own.
    private let objects: Set<String>

    /// Creates the keys of one list of paths, which stand apart by white space; `name.*` allows whatever `name` holds.
    init(stringLiteral text: String) {
        self.init(text)
    }

    /// Creates the keys of several lists.
    init(_ lists: String...) {
        let text = lists.joined(separator: " ")
        let paths = text.split(whereSeparator: \.isWhitespace).map { String($0) }
        self.paths = Set(paths)
        objects = Set(paths.compactMap { path in path.lastIndex(of: ".").map { String(path[..<$0]) } })
    }

    /// Why a case cannot be judged; `nil` when all of it is read.
    func objection(to item: CaseValue) -> CaseOutcome? {
        let outer = item.keys.subtracting(CaseKeys.remarks)
        return unread(outer, of: item, in: "").map { .notApplicable("Nothing here reads the key \($0).") }
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
