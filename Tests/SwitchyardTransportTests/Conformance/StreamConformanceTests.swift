import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// A streamed body arrives as it is sent and waits for its reader.
@Suite(.timeLimit(.minutes(5)), .prompt) struct StreamConformanceTests {
    @Test(arguments: Subject.allCases, ["/chunks", "/large"])
    func `a streamed body equals the same body in memory`(_ subject: Subject, _ path: String) async throws {
        try await Lab.run(subject) { lab in
            let streamed = try await lab.transport.send(try lab.request(path, delivery: .stream)).bytes()
            let whole = try await lab.transport.send(try lab.request(path)).bytes()

            #expect(streamed == whole)
            #expect(streamed == (path == "/large" ? Lab.large : Lab.chunks.reduce(Data(), +)))
        }
    }

    @Test(arguments: Subject.networked)
    func `the head and each chunk of a streamed response arrive before the end of the body`(_ subject: Subject)
        async throws
    {
        let second = Latch()
        try await Lab.run(subject) { server in
            server.route(.get, "/steps") { _ in
                .stream { writer in
                    try await writer.write("first")
                    await second.wait()
                    try await writer.write("second")
                }
            }
        } _: { lab in
            let response = try await lab.transport.send(try lab.request("/steps", delivery: .stream))
            guard case .stream(let stream) = response.body else { return #expect(Bool(false), "expected a stream") }
            var iterator = stream.makeAsyncIterator()

            #expect(try await iterator.next() == Data("first".utf8))
            second.open()
            #expect(try await iterator.next() == Data("second".utf8))
            #expect(try await iterator.next() == nil)
            #expect(try await iterator.next() == nil)
        }
    }

    @Test(arguments: Subject.networked)
    func `a response without a body is an empty stream`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            server.route(.get, "/empty", answering: LoopbackResponse(status: 204))
        } _: { lab in
            let response = try await lab.transport.send(try lab.request("/empty", delivery: .stream))

            #expect(response.status == 204)
            #expect(try await response.bytes().isEmpty)
        }
    }

    @Test(arguments: Subject.networked)
    func `if the reader of a response body pauses, the server stops sending`(_ subject: Subject) async throws {
        guard !subject.isLimited else { return limit("the server cannot be slowed down") }
        let sent = Locked(0)
        try await Lab.run(subject) { server in
            server.route(.get, "/endless") { _ in
                .stream { writer in
                    while true {
                        try await writer.write(Data(count: 65_536))
                        sent.withLock { $0 += 65_536 }
                    }
                }
            }
        } _: { lab in
            let response = try await lab.transport.send(try lab.request("/endless", delivery: .stream))
            guard case .stream(let stream) = response.body else { return #expect(Bool(false), "expected a stream") }
            var iterator = stream.makeAsyncIterator()
            _ = try await iterator.next()

            // The buffered data settles: our buffer, libcurl's buffer, and the buffers of both sockets, which grow to
            // some MiB.
            let settled = await Settling.value { sent.withLock { $0 } }
            #expect(settled < 16 << 20)

            var read = 0
            while read < 20 << 20, let piece = try await iterator.next() { read += piece.count }
            #expect(read >= 20 << 20)
        }
    }

    @Test(arguments: Subject.networked)
    func `the progress of sending and of receiving never decreases, and ends at the total`(_ subject: Subject)
        async throws
    {
        try await Lab.run(subject) { lab in
            let reports = Locked<[TransferProgress]>([])
            let request = try lab.request("/echo", method: .post, body: .data(Lab.large))

            let response = try await lab.transport.send(request) { report in
                reports.withLock { $0.append(report) }
            }

            #expect(try await response.bytes().count == Lab.large.count)
            for direction in [TransferProgress.Direction.upload, .download] {
                let counts = reports.withLock { $0.filter { $0.direction == direction } }
                #expect(counts.map(\.completed) == counts.map(\.completed).sorted())
                #expect(counts.last?.completed == Int64(Lab.large.count))
                #expect(counts.last?.fraction == 1)
            }
        }
    }
}

/// Waits for a number to stop growing.
enum Settling {
    /// Returns the number when it has been the same in 20 checks, 20 ms apart.
    static func value(_ number: () -> Int) async -> Int {
        var last = number()
        var same = 0
        while same < 20 {
            try? await Task.sleep(for: .milliseconds(20))
            let now = number()
            same = now == last ? same + 1 : 0
            last = now
        }
        return last
    }
}
