import Testing

@Suite struct CaseKeysTests {
    private let keys: CaseKeys = "config.size steps.op steps.expect.state steps.expect.counts.* answers expected"

    @Test(
        arguments: [
            ["config": ["size": 1]], ["id": "a", "note": "b", "expected": ["anything": 1]],
            ["answers": [["status": 1]]],
            ["steps": [["op": "x", "expect": ["state": "open", "counts": ["new": 1]]], ["op": "y"]]],
        ] as [Sample]
    )
    func `a case file entry is evaluated if the runner knows all its keys`(sample: Sample) {
        #expect(keys.objection(to: CaseValue(sample.value)) == nil)
    }

    @Test(
        arguments: [
            ["new": 1], ["config": ["size": 1, "new": 2]], ["steps": [["op": "x"], ["new": 1]]],
            ["steps": [["op": "x", "expect": ["state": "open", "new": 1]]]],
        ] as [Sample]
    )
    func `a case file entry with an unknown key is not evaluated`(sample: Sample) {
        guard case .notApplicable(let reason) = keys.objection(to: CaseValue(sample.value)) else {
            Issue.record("expected a case that does not apply")
            return
        }
        #expect(reason.hasSuffix("new."))
    }

    /// The object of a test case.
    struct Sample: ExpressibleByDictionaryLiteral, @unchecked Sendable {
        // @unchecked is sound: the content of a literal never changes.
        let value: [String: Any]

        init(dictionaryLiteral elements: (String, Any)...) {
            value = Dictionary(uniqueKeysWithValues: elements)
        }
    }
}
