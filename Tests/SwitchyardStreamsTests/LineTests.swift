import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient
@testable import SwitchyardStreams

/// Lines and decoded values of bodies that arrive in pieces.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct LineTests {
    private static func lines(_ text: String, _ rule: LineSplitter.Rule, cut size: Int) throws -> [String] {
        var splitter = LineSplitter(rule, limit: 1_000)
        var lines: [String] = []
        var rest = Data(text.utf8)
        while !rest.isEmpty {
            splitter.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let line = try splitter.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        }
        if let last = splitter.finish() { lines.append(String(decoding: last, as: UTF8.self)) }
        return lines
    }

    @Test(arguments: 1...9)
    func `a line ends with LF or CRLF wherever the body is split into chunks`(size: Int) throws {
        let text = "eins\nzwei\r\n\nvier 😀 é\r\nCR \r bleibt\nletzte"

        let lines = try Self.lines(text, .lineFeed, cut: size)

        #expect(lines == ["eins", "zwei", "", "vier 😀 é", "CR \r bleibt", "letzte"])
    }

    @Test(arguments: 1...9)
    func `a line of an event stream may also end with CR`(size: Int) throws {
        let lines = try Self.lines("a\rb\r\nc\n\r\rd\r\n", .any, cut: size)

        #expect(lines == ["a", "b", "c", "", "", "d"])
    }

    @Test func `a line above the length limit is rejected before it is complete`() throws {
        var splitter = LineSplitter(.lineFeed, limit: 10)
        splitter.append(Data("12345678901".utf8))

        let error = #expect(throws: TransportError.self) { try splitter.next() }

        #expect(error?.kind == .bodyTooLarge)
    }

    @Test(arguments: ["\n", "\r\n"], 1...12)
    func `the line end does not count towards the length limit of a line`(end: String, size: Int) throws {
        var splitter = LineSplitter(.lineFeed, limit: 10)
        var rest = Data("1234567890\(end)".utf8)
        var line: Data?

        while !rest.isEmpty {
            splitter.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            line = try splitter.next()
        }

        #expect(line == Data("1234567890".utf8))
    }

    @Test func `the line splitter returns all of 100,000 short lines`() throws {
        var splitter = LineSplitter(.lineFeed, limit: 100)
        splitter.append(Data(String(repeating: "ab\n", count: 100_000).utf8))
        var count = 0

        while try splitter.next() != nil { count += 1 }

        #expect(count == 100_000)
    }

    @Test func `the line splitter releases the memory of the lines that it has returned`() throws {
        var splitter = LineSplitter(.lineFeed, limit: 1_000)
        let piece = Data((String(repeating: "x", count: 499) + "\n" + String(repeating: "y", count: 500)).utf8)
        var farthest = 0

        for _ in 0..<2_000 {
            splitter.append(piece)
            while let line = try splitter.next() { farthest = max(farthest, line.endIndex) }
        }

        // The offset of a line in the buffer, which would grow with the body if no memory were released.
        #expect(farthest < 100_000)
    }

    private func body(_ pieces: [String], _ path: String = "live") throws -> DownloadLab {
        let lab = try DownloadLab()
        lab.server.route(.get, "/live") { _ in
            .stream { writer in
                for piece in pieces { try await writer.write(piece) }
            }
        }
        return lab
    }

    @Test func `a body is read line by line`() async throws {
        let lab = try body(["one\ntw", "o\r", "\nthree"])

        let answer = try await lab.client.stream(APIConfiguration(path: "live"))
        var lines: [String] = []
        for try await line in answer.bytes.lines { lines.append(line) }

        #expect(lines == ["one", "two", "three"])
    }

    // Only the first of several byte order marks is removed; the others are characters of the text.
    @Test(arguments: [1, 2, 3, 4, 100])
    func `a byte order mark at the start is removed from lines, values and text`(cut size: Int) async throws {
        let lab = try DownloadLab()
        let bytes = Data("\u{feff}1\n\u{feff}2\n".utf8)
        lab.server.route(.get, "/live") { _ in
            .stream { writer in
                var rest = bytes[...]
                while !rest.isEmpty {
                    try await writer.write(Data(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
            }
        }
        let call = APIConfiguration(path: "live")

        var lines: [String] = []
        for try await line in try await lab.client.stream(call).bytes.lines(limit: 4) { lines.append(line) }
        var text = ""
        for try await piece in try await lab.client.stream(call).bytes.text { text += piece }
        var values = try await lab.client.stream(call).bytes.values(of: Int.self).makeAsyncIterator()

        #expect(lines.map { Array($0.utf8) } == ["1", "\u{feff}2"].map { Array($0.utf8) })
        #expect(Array(text.utf8) == Array("1\n\u{feff}2\n".utf8))
        #expect(try await values.next() == 1)
    }

    @Test(arguments: [("\u{feff}", []), ("\u{feff}a", ["a"]), ("", [])] as [(String, [String])])
    func `a body of only a byte order mark has no line`(text: String, expected: [String]) throws {
        #expect(try Self.lines(text, .lineFeed, cut: 1) == expected)
    }

    @Test func `a body is read as text, and a character that is split between chunks is kept whole`() async throws {
        let lab = try DownloadLab()
        let text = "a😀é\u{301}漢字z"
        lab.server.route(.get, "/live") { _ in
            .stream { writer in
                for byte in text.utf8 { try await writer.write(Data([byte])) }
            }
        }

        let answer = try await lab.client.stream(APIConfiguration(path: "live"))
        var pieces: [String] = []
        for try await piece in answer.bytes.text { pieces.append(piece) }

        #expect(pieces.joined() == text)
        #expect(pieces.allSatisfy { !$0.contains("\u{fffd}") })
    }

    private struct Tick: Decodable, Sendable, Equatable {
        var n: Int
    }

    @Test func `each line of a body is decoded as one value`() async throws {
        let lab = try body([#"{"n":1}"# + "\n{\"n\"", ":2}\r\n\n  \n", #"{"n":3}"#])

        let answer = try await lab.client.stream(APIConfiguration(path: "live"))
        var ticks: [Tick] = []
        for try await tick in answer.bytes.values(of: Tick.self) { ticks.append(tick) }

        #expect(ticks == [Tick(n: 1), Tick(n: 2), Tick(n: 3)])
    }

    @Test func `a line that cannot be decoded ends the transfer, and the error has the line number`() async throws {
        let lab = try body(["{\"n\":1}\n{\"m\":2}\n{\"n\":3}\n"])

        let answer = try await lab.client.stream(APIConfiguration(path: "live"))
        let error = await #expect(throws: LineDecodingError.self) {
            for try await _ in answer.bytes.values(of: Tick.self) {}
        }

        #expect(error?.line == 2)
        await lab.server.waitUntilIdle()
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `a line above the length limit ends the transfer`() async throws {
        let lab = try body([String(repeating: "x", count: 2_000), "\n"])

        let answer = try await lab.client.stream(APIConfiguration(path: "live"))
        let error = await #expect(throws: RequestFailure.self) {
            for try await _ in answer.bytes.lines(limit: 1_000) {}
        }

        guard case .transport(let cause)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.kind == .bodyTooLarge)
    }

    /// Nested arrays of any depth.
    private struct Nest: Decodable, Sendable {
        var inner: [Nest]

        init(from decoder: any Decoder) throws { inner = try decoder.singleValueContainer().decode([Nest].self) }
    }

    @Test(arguments: [(128, nil), (129, 1), (500, 1)] as [(Int, Int?)])
    func `a line with JSON that is nested too deeply cannot be decoded`(depth: Int, line: Int?) async throws {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let lab = try body([text, "\n"])

        let answer = try await lab.client.stream(APIConfiguration(path: "live"))
        var found: Int?
        do {
            for try await _ in answer.bytes.values(of: Nest.self) {}
        } catch let error as LineDecodingError {
            found = error.line
        }

        #expect(found == line)
    }

    @Test(arguments: [
        (#"{"kind":"s3cr3t"}"#, "line 1 cannot be decoded: unusable at kind"),
        (#"{"s3cr3t":1}"#, "line 1 cannot be decoded: key missing at kind"),
        (#"{"kind":["s3cr3t"]}"#, "line 1 cannot be decoded: not of type String at kind"),
        ("s3cr3t", "line 1 cannot be decoded: unusable"),
    ])
    func `the description of a decoding error does not quote the line`(text: String, description: String) async throws {
        enum Kind: String, Decodable { case news }
        struct Event: Decodable, Sendable { var kind: Kind }
        let lab = try body([text, "\n"])

        let answer = try await lab.client.stream(APIConfiguration(path: "live"))
        let error = await #expect(throws: LineDecodingError.self) {
            for try await _ in answer.bytes.values(of: Event.self) {}
        }

        #expect(error?.description == description)
    }
}
