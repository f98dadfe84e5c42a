import Foundation
import Testing

/// A file of test cases that came from another project, with its source and licence inside.
struct CaseFile {
    var cases: [CaseValue]

    init(_ name: String) throws {
        let url = Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Cases")
        let root = CaseValue(try JSONSerialization.jsonObject(with: Data(contentsOf: #require(url))))
        try #require(root["source"].string != nil && root["licence"].string != nil)
        cases = root["cases"].array
    }

    /// Runs every case, prints the counts, and expects that none fails.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - notes: The cases that are not run, and why.
    ///   - run: Runs one case, with expectations.
    /// - Throws: What `run` throws, or that the file cannot be read.
    static func run(_ name: String, except notes: [String: CaseNote], _ run: (CaseValue) throws -> Void) throws {
        let file = try CaseFile(name)
        var passed = 0
        var counts: [CaseNote.Kind: Int] = [:]
        for value in file.cases {
            let id = try #require(value["id"].string)
            if let note = notes[id] {
                counts[note.kind, default: 0] += 1
            } else {
                try run(value)
                passed += 1
            }
        }
        let known = Set(file.cases.compactMap { $0["id"].string })
        #expect(Set(notes.keys).subtracting(known).isEmpty, "notes on cases that do not exist")
        let different = counts[.different, default: 0]
        let inapplicable = counts[.notApplicable, default: 0]
        print("\(name): passed \(passed), not applicable \(inapplicable), deliberate difference \(different), failed 0")
    }
}

/// Why a case is not run, in one sentence.
struct CaseNote {
    enum Kind: Hashable {
        case notApplicable
        case different
    }

    var kind: Kind
    var reason: String

    static func notApplicable(_ reason: String) -> CaseNote {
        CaseNote(kind: .notApplicable, reason: reason)
    }

    static func different(_ reason: String) -> CaseNote {
        CaseNote(kind: .different, reason: reason)
    }
}

/// A value of a case file; what is not there is empty.
struct CaseValue {
    private let raw: Any?

    init(_ raw: Any?) {
        self.raw = raw
    }

    subscript(key: String) -> CaseValue { CaseValue((raw as? [String: Any])?[key]) }

    var exists: Bool { raw != nil }
    var array: [CaseValue] { (raw as? [Any] ?? []).map { CaseValue($0) } }
    var string: String? { raw as? String }
    var double: Double? { raw as? Double }
    var int: Int? { raw as? Int }
    var bool: Bool? { raw as? Bool }
}
