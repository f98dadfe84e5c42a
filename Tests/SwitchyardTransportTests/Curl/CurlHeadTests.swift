#if os(Linux)
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardClient
    @testable import SwitchyardTransport

    /// A raw head is parsed into header fields.
    @Suite struct CurlHeadTests {
        private func fields(_ lines: String...) -> [String] {
            let head = "HTTP/1.1 200 OK\r\n" + lines.joined(separator: "\r\n") + "\r\n\r\n"
            return parse(Array(head.utf8))
        }

        private func parse(_ bytes: [UInt8]) -> [String] {
            bytes.withUnsafeBytes { CurlResponse.parse($0) }.map { "\($0.name)=\($0.value)" }
        }

        @Test func `the fields of a response head keep their order and their names`() {
            #expect(fields("B: 1", "a: 2", "B: 3") == ["B=1", "a=2", "B=3"])
        }

        @Test func `whitespace around the value of a header field is removed`() {
            #expect(fields("A:1", "B:  \t2 \t ", "C:", "D:   ") == ["A=1", "B=2", "C=", "D="])
        }

        @Test func `colons in the value of a header field are kept`() {
            #expect(fields("Location: http://a:1/b") == ["Location=http://a:1/b"])
        }

        @Test func `a folded line of a response head is joined to the previous value`() {
            #expect(fields("A: 1", "  2", "\t3", "B: 4") == ["A=1 2 3", "B=4"])
        }

        @Test func `a folded line leaves no whitespace at the ends of a value`() {
            #expect(fields("Location:", "  /folded", "A: 1", "   ", "B: 2") == ["Location=/folded", "A=1", "B=2"])
        }

        @Test func `lines of a response head without a colon are skipped`() {
            #expect(fields("nothing", "A: 1") == ["A=1"])
        }

        @Test func `the value of a header field that is not UTF-8 is decoded as Latin-1`() {
            #expect(parse(Array("HTTP/1.1 200\r\nA: caf".utf8) + [0xE9, 13, 10, 13, 10]) == ["A=café"])
            #expect(fields("A: café") == ["A=café"])
        }

        @Test(arguments: ["", "HTTP/1.1 200 OK", "\r\n\r\n", "HTTP/1.1 200 OK\nA: 1\n\n", "\n", ":"])
        func `malformed response heads are parsed without a crash`(_ head: String) {
            #expect(parse(Array(head.utf8)).count <= 1)
        }
    }
#endif
