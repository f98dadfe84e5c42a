import Testing

@testable import SwitchyardHTTP

/// Fields as long as a hostile server makes them: where the time grows with the square of the length, these never end.
@Suite(.timeLimit(.minutes(1))) struct LongFileNameTests {
    // Where one flag ends is known only by counting all before it (Unicode Standard Annex 29, rule GB12).
    @Test func `a name of flags is cut`() {
        let flags = String(repeating: "\u{1F1E9}", count: 400_000)

        #expect((1...200).contains(SuggestedFileName.safe(flags).utf8.count))
    }

    @Test func `a disposition of many parameters is read`() {
        let names = (0..<100_000).map { "; p\(String($0, radix: 36))=" }.joined()

        #expect(ContentDisposition(parsing: "attachment\(names)").parameters.count == 100_000)
    }
}
