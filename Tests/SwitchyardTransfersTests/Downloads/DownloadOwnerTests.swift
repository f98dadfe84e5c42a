import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// A partial download belongs to one user and does not continue as another user.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DownloadOwnerTests {
    private let session = AppSession()

    /// A server that sends each user a different content with the same validator.
    private func lab(isNamed: Bool) throws -> DownloadLab {
        var options = NetworkClient.Options(seed: 1)
        session.prepare(&options, knowsUsers: isNamed)
        let lab = try DownloadLab(options: options)
        lab.server.route(.get, "/film") { request in
            let byte = request.headers["Authorization"]?.last.flatMap(\.asciiValue) ?? 0
            return LoopbackContent(Data(repeating: byte, count: 1_000_000), entityTag: "\"v1\"").response(to: request)
        }
        return lab
    }

    private func cut(_ lab: DownloadLab) async throws {
        lab.server.fault = .truncate(after: 300_000)
        _ = try await lab.failure(of: lab.download())
        lab.server.fault = nil
    }

    @Test(arguments: [false, true])
    func `a partial download does not resume for another user`(isNamed: Bool) async throws {
        let lab = try lab(isNamed: isNamed)
        session.logIn("ann", token: "a")
        try await cut(lab)

        session.logIn("bob", token: "b")
        _ = try await lab.client.download(lab.download())

        #expect(try Set(lab.content) == [UInt8(ascii: "b")])
    }

    @Test(arguments: [false, true])
    func `a partial download resumes for the same user`(isNamed: Bool) async throws {
        let lab = try lab(isNamed: isNamed)
        session.logIn("ann", token: "a")
        try await cut(lab)

        if isNamed { session.logIn("ann", token: "na") } else { session.credentials.update(.bearer("na"), in: .test) }
        _ = try await lab.client.download(lab.download())

        #expect(try lab.content.count == 1_000_000)
        #expect(lab.server.requests.last?.headers["Range"] == "bytes=300000-")
    }

    @Test(arguments: [false, true])
    func `an active download ends when another user logs in`(isNamed: Bool) async throws {
        let lab = try lab(isNamed: isNamed)
        session.logIn("ann", token: "a")
        let changed = Locked(false)
        var download = lab.download { $0.maximumContinuations = 3 }
        download.onEvent = { [session, server = lab.server] event in
            guard case .interrupted = event, !changed.withLock({ $0 }) else { return }
            changed.withLock { $0 = true }
            server.fault = nil
            session.logIn("bob", token: "b")
        }
        lab.server.fault = .truncate(after: 300_000)

        let failure = try await lab.failure(of: download)

        #expect(changed.withLock { $0 })
        #expect(lab.server.requests.allSatisfy { $0.headers["Authorization"] == "Bearer a" })
        guard case .request(let reason) = failure.reason else {
            Issue.record("\(failure)")
            return
        }
        #expect([.cancelled, .credentials(.loggedOut)].contains(reason))
    }
}
