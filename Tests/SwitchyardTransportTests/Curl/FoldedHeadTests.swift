#if os(Linux)
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardTransport

    /// Heads of a hostile server within the allowed 128 KiB.
    ///
    /// If the parsing time grew with the square of the number of folded lines, the loop's thread and all exchanges of
    /// the transport would block for long.
    @Suite(.timeLimit(.minutes(20))) struct FoldedHeadTests {
        @Test(arguments: [[UInt8(ascii: "1")], [0xE9], Array("\u{FF21}".utf8)])
        func `the value of a header field with 31,000 folded lines is parsed`(_ first: [UInt8]) throws {
            let folds = 31_000
            var head = Array("HTTP/1.1 200 OK\r\nA: ".utf8) + first + [13, 10]
            for _ in 0..<folds { head += [32, 97, 13, 10] }
            head += [13, 10]
            #expect(head.count < 128 << 10)

            let headers = head.withUnsafeBytes { CurlResponse.parse($0) }

            #expect(headers.count == 1)
            #expect(try #require(headers["A"]).unicodeScalars.count == 1 + 2 * folds)
            #expect(try #require(headers["A"]).hasSuffix(" a a a"))
        }
    }
#endif
