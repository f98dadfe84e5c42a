import Foundation
import Testing

/// Within a target, folders use each other in one direction, so no folder depends on itself.
///
/// A folder uses another one if it names a type that is declared there at the top level. Members of extensions are not
/// detected.
@Suite struct FloorPlanTests {
    @Test(
        arguments: [
            "SwitchyardServices", "SwitchyardHTTP", "SwitchyardTransport", "SwitchyardClient", "SwitchyardAPI",
            "SwitchyardTransfers", "SwitchyardStreams", "SwitchyardMarkup", "SwitchyardRequests",
            "SwitchyardDiagnostics", "SwitchyardTesting", "SwitchyardInspector", "SwitchyardGenerator",
        ]
    )
    func `the source folders of a target have no cyclic dependencies`(target: String) throws {
        #expect(try FloorPlan(of: target).knot == [])
    }
}

/// The dependencies between the folders of a target.
private struct FloorPlan {
    /// The folders that each folder uses.
    private var arrows: [String: Set<String>] = [:]

    /// The folders that depend on themselves, in alphabetical order.
    var knot: [String] { arrows.keys.filter { reached(from: $0).contains($0) }.sorted() }

    init(of target: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/\(target)").standardizedFileURL
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        var words: [String: Set<Substring>] = [:]
        var homes: [Substring: String] = [:]
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let place = file.standardizedFileURL.path.dropFirst(root.path.count + 1).split(separator: "/")
            let folder = place.count > 1 ? String(place[0]) : ""
            let code = Self.code(of: try String(contentsOf: file, encoding: .utf8))
            words[folder, default: []].formUnion(code.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
            for name in Self.declarations(in: code) { homes[name] = folder }
        }
        for (folder, used) in words { arrows[folder] = Set(used.compactMap { homes[$0] }).subtracting([folder]) }
    }

    private func reached(from folder: String) -> Set<String> {
        var reached: Set<String> = []
        var next = arrows[folder] ?? []
        while let folder = next.popFirst() {
            guard reached.insert(folder).inserted else { continue }
            next.formUnion(arrows[folder] ?? [])
        }
        return reached
    }

    /// The text without comments and string literals.
    private static func code(of text: String) -> String {
        let lines = text.split(separator: "\n").lazy.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
        let code = lines.map { $0.contains("//") ? $0.replacing(/\/\/.*/, with: "") : $0 }
        return code.map { $0.contains("\"") ? $0.replacing(/"(?:[^"\\]|\\.)*"/, with: "") : $0 }.joined(separator: "\n")
    }

    /// The types that are declared at the top level or inside a top-level `#if`, except private ones.
    private static func declarations(in code: String) -> [Substring] {
        let declarations = declarations(in: code, behind: "")
        return declarations.isEmpty && code.hasPrefix("#if")
            ? self.declarations(in: code, behind: "    ") : declarations
    }

    private static func declarations(in code: String, behind indent: String) -> [Substring] {
        code.split(separator: "\n").compactMap { line in
            guard line.hasPrefix(indent), line.dropFirst(indent.count).first != " ", !line.contains("private ") else {
                return nil
            }
            return line.firstMatch(of: /\b(?:struct|class|enum|actor|protocol|typealias) (\w+)/)?.1
        }
    }
}
