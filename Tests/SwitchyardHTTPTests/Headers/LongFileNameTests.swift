import Testing

@testable import SwitchyardHTTP

/// Overlong fields of a hostile server.
///
/// If the time grew with the square of the length, these tests would not finish.
@Suite(.timeLimit(.minutes(20))) struct LongFileNameTests {
    // The boundaries of a flag are known only after counting all flags before it (Unicode Standard Annex 29, rule
    // GB12).
    @Test func `a very long file name of flag emoji is shortened`() {
        let flags = String(repeating: "\u{1F1E9}", count: 400_000)

        #expect((1...200).contains(SuggestedFileName.safe(flags).utf8.count))
    }

    @Test func `a Content-Disposition with a hundred thousand parameters is parsed`() {
        let names = (0..<100_000).map { "; p\(String($0, radix: 36))=" }.joined()

        #expect(ContentDisposition(parsing: "attachment\(names)").parameters.count == 100_000)
    }
}
