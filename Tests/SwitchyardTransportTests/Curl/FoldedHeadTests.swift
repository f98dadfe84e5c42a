#if os(Linux)
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardTransport

    /// Heads as a hostile server makes them, within the 128 KiB that are allowed:
    /// where the time grows with the square of the number of folds, the loop's thread, and with it every exchange of the
    /// transport, stands still for long.
    @Suite(.timeLimit(.minutes(1))) struct FoldedHeadTests {
        @Test(arguments: [[UInt8(ascii: "1")], [0xE9], Array("\u{FF21}".utf8)])
        func `a value of very many folds is read`(_ first: [UInt8]) throws {
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
