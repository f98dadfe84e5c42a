import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// A request that cannot be sent is rejected before a byte of it is sent.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RefusalConformanceTests {
    @Test(arguments: Subject.networked, ["X\r\nY", "X Y", "", "X:"])
    func `a malformed header field name is rejected`(_ subject: Subject, _ name: String) async throws {
        try await Lab.run(subject) { lab in
            let error = await lab.failure(of: try lab.request("/text", headers: [name: "v"]))

            #expect(error?.kind == .invalidRequest)
            #expect(error?.mayHaveBeenSent == false)
            #expect(lab.server.requests.isEmpty)
        }
    }

    @Test(arguments: Subject.networked, ["a\r\nInjected: 1", "a\nb", "a\0b"])
    func `a malformed header field value is rejected`(_ subject: Subject, _ value: String) async throws {
        try await Lab.run(subject) { lab in
            let error = await lab.failure(of: try lab.request("/text", headers: ["X": value]))

            #expect(error?.kind == .invalidRequest)
            #expect(lab.server.requests.isEmpty)
        }
    }

    @Test(arguments: Subject.networked)
    func `a HEAD request with a body is rejected`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/text", method: .head, body: .data(Data("x".utf8)))

            #expect(await lab.failure(of: request)?.kind == .invalidRequest)
        }
    }

    @Test(arguments: Subject.networked)
    func `a request that opens another protocol but has a body is rejected`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            var request = try lab.request("/text", method: .post, body: .data(Data("x".utf8)))
            request.opensConnection = true

            let error = await lab.failure(of: request)

            #expect(error?.kind == (subject.isLimited ? .unsupported : .invalidRequest))
            #expect(error?.mayHaveBeenSent == false)
            #expect(lab.server.requests.isEmpty)
        }
    }

    @Test(arguments: Subject.networked)
    func `a missing file or a folder cannot be a request body`(_ subject: Subject) async throws {
        let folder = try TemporaryFolder.made()
        try await Lab.run(subject) { lab in
            for url in [folder.url, folder.url.appending(path: "nothing")] {
                let error = await lab.failure(of: try lab.request("/echo", method: .put, body: .file(url)))

                #expect(error?.kind == .requestBodyFailed)
                #expect(error?.mayHaveBeenSent == false)
            }
        }
    }

    @Test(arguments: Subject.networked)
    func `a wrong Content-Length never reaches the server`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            let request = try lab.request(
                "/echo",
                method: .post,
                headers: ["Content-Length": "9"],
                body: .data(Data("hi".utf8))
            )

            let error = await lab.failure(of: request)

            #expect(error == nil || error?.kind == .invalidRequest)
            #expect(lab.server.requests.allSatisfy { $0.headers.values(of: "Content-Length") == ["2"] })
        }
    }

    @Test(
        arguments: Subject.networked,
        [(pieces: 2, announced: 30, fails: false), (pieces: 4, announced: 30, fails: false), (2, 30, true)]
    )
    func `a streamed body that throws or has another length is an error`(
        _ subject: Subject,
        _ body: (pieces: Int, announced: Int64, fails: Bool)
    ) async throws {
        try await Lab.run(subject) { lab in
            let pieces = (0..<body.pieces).map { Data(repeating: UInt8($0), count: 10) }
            let whole = body.pieces == 4 ? [pieces.reduce(Data(), +)] : pieces
            let source = HTTPBody.pieces(whole, length: body.announced, fails: body.fails)

            let error = await lab.failure(of: try lab.request("/echo", method: .put, body: source))

            #expect(error?.kind == (subject.isLimited ? .unsupported : .requestBodyFailed))
        }
    }

    @Test(arguments: Subject.allCases)
    func `a request after the shutdown fails`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            lab.transport.shutdown()
            lab.transport.shutdown()

            let error = await lab.failure(of: try lab.request("/text"))

            #expect(error?.kind == .closed)
            #expect(error?.mayHaveBeenSent == false)
        }
    }
}
