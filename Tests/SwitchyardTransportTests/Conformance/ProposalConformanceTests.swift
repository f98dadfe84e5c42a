import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// The behaviors that the conformance suite of Swift's HTTP API proposal (`HTTPClientConformance`) requires of a
/// client, as far as they concern a transport and the other conformance suites do not test them.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ProposalConformanceTests {
    @Test(arguments: Subject.networked, [HTTPMethod.head, .get, .put, .post, .delete])
    func `an empty response body is accepted for every request method`(_ subject: Subject, _ method: HTTPMethod)
        async throws
    {
        try await Lab.run(subject) { server in
            server.route(nil, "/200") { _ in .status(200) }
        } _: { lab in
            let response = try await lab.transport.send(try lab.request("/200", method: method))

            #expect(response.status == 200)
            #expect(try await response.bytes() == Data())
        }
    }

    /// A content coding and the bytes of "TEST" and a line feed in it.
    private static let codings = [
        ("gzip", "H4sIAAAAAAAAAwtxDQ7hAgC+14P3BQAAAA=="), ("deflate", "eJwLcQ0O4QIABGgBSw=="), ("br", "CwKAVEVTVAoD"),
        ("identity", "VEVTVAo="),
    ]

    @Test(arguments: Subject.networked, codings)
    func `a body in a requested coding is decoded`(_ subject: Subject, _ coding: (name: String, bytes: String))
        async throws
    {
        try await Lab.run(subject) { server in
            let bytes = try #require(Data(base64Encoded: coding.bytes))
            server.route(.get, "/coded") { request in
                // A server uses a coding only if the client offers it.
                let offered = request.headers["Accept-Encoding"] ?? ""
                let isUsed = coding.name != "identity" && offered.contains(coding.name)
                let headers: HTTPHeaders = isUsed ? ["Content-Encoding": coding.name] : [:]
                return .data(isUsed ? bytes : Data("TEST\n".utf8), headers: headers)
            }
        } _: { lab in
            let response = try await lab.get("/coded")

            #expect(try await response.bytes() == Data("TEST\n".utf8))
        }
    }

    @Test(arguments: Subject.networked)
    func `a streamed body without bytes arrives as an empty body`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/echo", method: .post, body: .pieces([Data()]))

            try await withKnownIssue("URLSession on Linux cannot wait for a body") {
                let response = try await lab.transport.send(request)

                #expect(try await response.bytes() == Data())
                #expect(lab.server.requests.count == 1)
            } when: {
                subject.isLimited
            }
        }
    }

    @Test(arguments: Subject.networked)
    func `a megabyte that the server echoes is received completely`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let body = Data(repeating: UInt8(ascii: "A"), count: 1_000_000)

            let response = try await lab.transport.send(try lab.request("/echo", method: .post, body: .data(body)))

            #expect(try await response.bytes() == body)
        }
    }

    @Test(arguments: Subject.networked)
    func `a status above 599 is returned`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            server.route(.get, "/999") { _ in .status(999) }
        } _: { lab in
            let response = try await lab.get("/999")

            #expect(response.status == 999)
        }
    }

    @Test(arguments: Subject.networked)
    func `one hundred transports can send at the same time`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/text")
            let transports = try (0..<100).map { _ in try subject.makeTransport() }
            defer { for transport in transports { transport.shutdown() } }

            let count = try await withThrowingTaskGroup(of: Int.self) { group in
                for transport in transports { group.addTask { try await transport.send(request).status } }
                return try await group.reduce(0) { $0 + ($1 == 200 ? 1 : 0) }
            }

            #expect(count == 100)
        }
    }

    @Test(arguments: Subject.networked)
    func `a reader may stop after the first bytes of a body`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            do {
                let response = try await lab.transport.send(try lab.request("/large", delivery: .stream))
                guard case .stream(let stream) = response.body else { return #expect(Bool(false), "expected a stream") }
                var iterator = stream.makeAsyncIterator()
                let first = try await iterator.next()
                #expect(first.map { Lab.large.starts(with: $0) } == true)
            }

            let next = try await lab.get("/text")
            #expect(try await next.bytes() == Data("hello".utf8))
        }
    }

    @Test(arguments: Subject.networked)
    func `a body is sent in chunks while its response arrives`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            server.route(.post, "/interleaved") { request in
                .stream { writer in
                    for try await piece in request.body { try await writer.write(piece) }
                }
            }
        } _: { lab in
            guard !subject.isLimited else { return limit("a streamed body is refused") }
            let (pieces, more) = AsyncStream<Data>.makeStream()
            let body = HTTPBody.stream(HTTPBody.Stream(length: nil) { pieces })
            more.yield(Data([0]))
            let request = try lab.request("/interleaved", method: .post, body: body, delivery: .stream)
            let response = try await lab.transport.send(request)
            guard case .stream(let stream) = response.body else { return #expect(Bool(false), "expected a stream") }

            // Each byte is sent after the byte before it has come back.
            var received: [UInt8] = []
            for try await piece in stream {
                received += piece
                if received.count < 100 { more.yield(Data([UInt8(received.count)])) } else { more.finish() }
            }

            #expect(received == (0..<100).map { UInt8($0) })
        }
    }
}
