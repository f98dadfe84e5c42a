import Testing

@testable import SwitchyardDiagnostics

@Suite struct LogPartsTests {
    /// The texts of the parts without their numbers.
    private func texts(_ parts: [String]) -> [String] {
        parts.map { String(decoding: $0.utf8.drop { $0 != UInt8(ascii: " ") }.dropFirst(), as: UTF8.self) }
    }

    @Test func `a log message within the size limit is not split`() {
        let message = String(repeating: "é", count: 500)

        #expect(LogParts.parts(of: message) == [message])
    }

    @Test func `the parts of a long log message are numbered`() {
        #expect(LogParts.parts(of: "abcdefghij", size: 4) == ["(1/3) abcd", "(2/3) efgh", "(3/3) ij"])
    }

    @Test func `a log message is split after a line end if the part before the line end is long enough`() {
        #expect(texts(LogParts.parts(of: "abc\ndefgh", size: 5)) == ["abc\n", "defgh"])
        #expect(texts(LogParts.parts(of: "a\nbcdefgh", size: 6)) == ["a\nbcde", "fgh"])
    }

    // os/log.h: 1,024 bytes.
    @Test(arguments: ["x", "é", "漢", "👩‍👩‍👧‍👧", "e\u{301}", "\r\n", "\n"])
    func `the parts of a long log message together equal the message, and each part fits the system log`(piece: String)
    {
        let message = "a" + String(repeating: piece, count: 5_000)

        let parts = LogParts.parts(of: message)

        #expect(texts(parts).joined().utf8.elementsEqual(message.utf8))
        #expect(parts.allSatisfy { $0.utf8.count <= 1_024 })
    }
}
