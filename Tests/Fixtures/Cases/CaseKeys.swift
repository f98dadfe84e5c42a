#if canImport(Testing)
    /// The keys that a runner reads, with the objects that contain them, such as `config.maxMs`.
    ///
    /// A case with any other key expects something that is not checked, so it must not pass.
    package struct CaseKeys: ExpressibleByStringLiteral {
        /// The keys with which a case describes itself.
        private static let remarks: Set = ["id", "note", "origin", "source", "upstream", "strength"]

        private let paths: Set<String>
        /// The objects whose keys are all listed.
        private let objects: Set<String>

        /// Creates the keys from a list of paths separated by white space.
        ///
        /// `*` means all keys that expect nothing.
        package init(stringLiteral text: String) {
            let paths = text.split(whereSeparator: \.isWhitespace).map { String($0) }
            self.paths = Set(paths)
            objects = Set(paths.compactMap { path in path.lastIndex(of: ".").map { String(path[..<$0]) } })
        }

        /// The reason why a case cannot be judged, or `nil` if all of its keys are read.
        package func objection(to item: CaseValue) -> CaseOutcome? {
            unread(item, in: "").map { .notApplicable("The test does not read the key \($0).") }
        }

        private func unread(_ item: CaseValue, in object: String) -> String? {
            for member in item.members ?? [] {
                let path = object.isEmpty ? member.key : "\(object).\(member.key)"
                if object.isEmpty, CaseKeys.remarks.contains(member.key) { continue }
                if object.isEmpty, paths.contains("*"), !member.key.hasPrefix("expect") { continue }
                guard paths.contains(path) || objects.contains(path) else { return path }
                guard objects.contains(path) else { continue }
                for inner in [member.value] + (member.value.array ?? []) {
                    if let found = unread(inner, in: path) { return found }
                }
            }
            return nil
        }
    }
#endif
