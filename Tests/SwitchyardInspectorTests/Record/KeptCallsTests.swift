import Testing

@testable import SwitchyardInspector

@Suite struct KeptCallsTests {
    /// Adds calls from 1 to `count`, and returns the numbers of the kept calls.
    private func kept(of count: Int, limit: Int, special: Set<Int>) -> [Int] {
        var calls = KeptCalls(limit: limit)
        var numbers: Set<Int> = []
        for number in 1...count {
            numbers.insert(number)
            if let dropped = calls.add(number, isSpecial: special.contains) { numbers.remove(dropped) }
        }
        return numbers.sorted()
    }

    @Test func `the inspector drops plain calls before special calls, such as failed or slow calls`() {
        #expect(kept(of: 100, limit: 6, special: [1, 50]) == [1, 50, 97, 98, 99, 100])
    }

    @Test func `at most half of the calls that the inspector keeps are special, such as failed or slow calls`() {
        #expect(kept(of: 100, limit: 6, special: [1, 2, 3, 4, 5]) == [3, 4, 5, 98, 99, 100])
    }

    @Test(arguments: 1...5)
    func `the limit of kept calls holds even if all of them are special, such as failed or slow calls`(limit: Int) {
        #expect(kept(of: 50, limit: limit, special: Set(1...50)).count == limit)
        #expect(kept(of: 50, limit: limit, special: []).count == limit)
    }
}
