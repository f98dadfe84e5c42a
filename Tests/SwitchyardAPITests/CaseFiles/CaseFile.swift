import Foundation
import SwitchyardAPI
import SwitchyardServices
import Testing

/// A file of test cases from another project, with its source and license.
struct CaseFile {
    /// A test case.
    struct Case {
        let id: String
        let value: JSONValue

        subscript(key: String) -> JSONValue? { value[key] }

        /// The keys of the case.
        var keys: Set<String> { Set(value.object.map { Array($0.keys) } ?? []) }

        /// The reason why a case cannot be judged with these keys; `nil` if all its keys are read.
        ///
        /// A `*` stands for all keys without an expectation.
        func objection(reading known: String?) -> Verdict? {
            guard let known else { return nil }
            let remarks: Set = ["id", "note", "origin", "source", "upstream", "strength", "description"]
            let read = Set(known.split(whereSeparator: \.isWhitespace).map { String($0) })
            let asked = read.contains("*") ? keys.filter { $0.hasPrefix("expect") } : keys
            let unread = asked.subtracting(remarks).subtracting(read).min()
            return unread.map { .notApplicable("the test does not read the key \($0)") }
        }
    }

    let name: String
    let cases: [Case]

    init(_ name: String) throws {
        self.name = name
        let url = try #require(Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Cases"))
        let file = try JSONValue(parsing: try Data(contentsOf: url), maximumDepth: JSONDepth.ceiling)
        cases = try #require(file["cases"]?.array).map { Case(id: try #require($0["id"]?.string), value: $0) }
    }

    /// Runs all cases, prints their outcomes and fails for every failed case.
    ///
    /// - Parameters:
    ///   - keys: The keys that the judge reads, separated by spaces; a case with any other key is not judged, because
    ///     its other keys would not be checked.
    ///   - judge: Returns the outcome of a case.
    func run(reading keys: String? = nil, _ judge: (Case) throws -> Verdict) {
        var report = CaseReport(name: name)
        for item in cases {
            do {
                report.add(try item.objection(reading: keys) ?? judge(item), to: item.id)
            } catch {
                report.add(.failed("threw \(error)"), to: item.id)
            }
        }
        report.finish()
    }

    /// Runs all cases with an asynchronous judge.
    func run(reading keys: String? = nil, _ judge: (Case) async throws -> Verdict) async {
        var report = CaseReport(name: name)
        for item in cases {
            do {
                if let objection = item.objection(reading: keys) {
                    report.add(objection, to: item.id)
                } else {
                    report.add(try await judge(item), to: item.id)
                }
            } catch {
                report.add(.failed("threw \(error)"), to: item.id)
            }
        }
        report.finish()
    }
}

/// The outcome of a case.
enum Verdict {
    case passed
    /// The library has no such feature.
    case notApplicable(String)
    /// The library deliberately behaves differently, for the given reason.
    case difference(String)
    case failed(String)

    /// Passes if the values are equal.
    static func equal<Value: Equatable>(_ actual: Value, _ expected: Value) -> Verdict {
        actual == expected ? .passed : .failed("\(actual) instead of \(expected)")
    }

    /// The first verdict that is not a pass.
    static func all(_ verdicts: [Verdict]) -> Verdict {
        verdicts.first { if case .passed = $0 { false } else { true } } ?? .passed
    }
}

/// Counts the outcomes of a file's cases.
struct CaseReport {
    let name: String
    private var passed = 0
    private var failures: [String] = []
    private var notApplicable: [String: Int] = [:]
    private var differences: [String: [String]] = [:]

    init(name: String) {
        self.name = name
    }

    mutating func add(_ verdict: Verdict, to id: String) {
        switch verdict {
        case .passed: passed += 1
        case .notApplicable(let why): notApplicable[why, default: 0] += 1
        case .difference(let why): differences[why, default: []].append(id)
        case .failed(let what): failures.append("\(id): \(what)")
        }
    }

    func finish() {
        let absent = notApplicable.values.reduce(0, +)
        let different = differences.values.reduce(0) { $0 + $1.count }
        print(
            "cases \(name): \(passed) passed, \(absent) not applicable, \(different) deliberate differences, "
                + "\(failures.count) failed"
        )
        for (why, count) in notApplicable.sorted(by: { $0.key < $1.key }) { print("  not applicable \(count): \(why)") }
        for (why, ids) in differences.sorted(by: { $0.key < $1.key }) {
            print("  difference \(ids.joined(separator: " ")): \(why)")
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
        #expect(passed > 0)
    }
}

extension JSONValue {
    /// A text in the notation of the case files: `{"$repeat": s, "count": n}` and `{"$concat": [...]}`.
    var caseText: String? {
        if let string { return string }
        if let part = self["$repeat"]?.string, let count = self["count"]?.int {
            return String(repeating: part, count: count)
        }
        return self["$concat"]?.array.map { $0.compactMap(\.caseText).joined() }
    }
}
