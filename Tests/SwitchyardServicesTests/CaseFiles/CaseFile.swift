import Foundation
import Testing

/// A file of test cases from another project, with its source and license.
///
/// General rules, never the ID of a case, decide whether a case differs deliberately or does not apply. Further cases
/// of the same family are therefore judged alike.
struct CaseFile {
    let name: String
    var cases: [CaseValue]

    init(_ name: String) throws {
        self.name = name
        let url = Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Cases")
        let root = CaseValue(try JSONSerialization.jsonObject(with: Data(contentsOf: #require(url))))
        try #require(root["source"].string != nil && root["licence"].string != nil)
        cases = root["cases"].array
    }

    /// Runs every case, prints the counts and the reasons, and fails for every failed case.
    ///
    /// - Parameters:
    ///   - keys: The keys that the judge reads; a case with any other key is not judged.
    ///   - judge: Returns the outcome of a case.
    func run(reading keys: CaseKeys, _ judge: (CaseValue) throws -> CaseOutcome) {
        var passed = 0
        var failures: [String] = []
        var others: [String: Int] = [:]
        for item in cases {
            let id = item["id"].string ?? "?"
            do {
                switch try keys.objection(to: item) ?? judge(item) {
                case .passed: passed += 1
                case .notApplicable(let reason): others["not applicable: \(reason)", default: 0] += 1
                case .differs(let reason): others["difference: \(reason)", default: 0] += 1
                case .failed(let what): failures.append("\(id): \(what)")
                }
            } catch {
                failures.append("\(id): threw \(error)")
            }
        }
        let otherwise = others.values.reduce(0, +)
        print("cases \(name): \(passed) passed, \(otherwise) otherwise, \(failures.count) failed")
        for (reason, count) in others.sorted(by: { $0.key < $1.key }) { print("  \(count) \(reason)") }
        for failure in failures { Issue.record("\(name) \(failure)") }
    }
}

/// A value of a case file; a missing value is empty.
struct CaseValue {
    private let raw: Any?

    init(_ raw: Any?) {
        self.raw = raw
    }

    subscript(key: String) -> CaseValue { CaseValue((raw as? [String: Any])?[key]) }

    /// Whether the value exists, even as null.
    var exists: Bool { raw != nil }
    var array: [CaseValue] { (raw as? [Any] ?? []).map { CaseValue($0) } }
    var keys: Set<String> { Set((raw as? [String: Any] ?? [:]).keys) }
    var string: String? { raw as? String }
    var double: Double? { raw as? Double }
    var int: Int? { raw as? Int }
    var bool: Bool? { raw as? Bool }
}
