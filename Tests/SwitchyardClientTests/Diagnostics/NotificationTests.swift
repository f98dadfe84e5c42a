import Foundation
import SwitchyardClient
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct NotificationTests {
    /// What was posted: the name, and what the user info says.
    private struct Post: Sendable, Equatable {
        var name: String
        var status: Int?
        var body: Data?
        var metrics: TransferMetrics?
        var failed = false
    }

    private func posts(_ answer: StubAnswer) async throws -> [Post] {
        let center = NotificationCenter()
        let (stream, continuation) = AsyncStream.makeStream(of: Post.self)
        let names: [Notification.Name] = [.requestDidStart, .requestAttemptDidEnd, .requestDidEnd]
        let tokens = names.map { name in
            center.addObserver(forName: name, object: nil, queue: nil) { note in
                let info = note.userInfo ?? [:]
                continuation.yield(
                    Post(
                        name: note.name.rawValue,
                        status: info[RequestNotificationKey.status] as? Int,
                        body: info[RequestNotificationKey.body] as? Data,
                        metrics: info[RequestNotificationKey.metrics] as? TransferMetrics,
                        failed: info[RequestNotificationKey.error] != nil
                    )
                )
            }
        }
        defer { for token in tokens { center.removeObserver(token) } }
        let client = try NetworkClient.watched([.notifying(center)]) { _ in answer }
        _ = try? await client.send(APIConfiguration(path: "a"))
        var posts: [Post] = []
        for await post in stream {
            posts.append(post)
            if post.name == Notification.Name.requestDidEnd.rawValue { break }
        }
        return posts
    }

    @Test func `L11 to L13: start, attempt and end are posted, with status and body`() async throws {
        let body = Data("[1]".utf8)

        #expect(
            try await posts(.json("[1]")) == [
                Post(name: "switchyard.request.started"),
                Post(name: "switchyard.request.attempt", status: 200, body: body),
                Post(name: "switchyard.request.ended", status: 200, body: body),
            ]
        )
    }

    @Test func `L12: what the exchange cost is posted with its end`() async throws {
        let metrics = TransferMetrics(total: .milliseconds(3))

        let posts = try await posts(.response(HTTPResponse(status: 204, metrics: metrics)))

        #expect(posts.last?.metrics == metrics)
        #expect(posts.last?.status == 204)
    }

    @Test func `L12: a failure is posted with its error`() async throws {
        let posts = try await posts(.failure(.connectionReset))

        #expect(posts.last == Post(name: "switchyard.request.ended", failed: true))
    }

    @Test func `L14: listeners hear of the end of the client`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        let events = client.events()

        client.shutdown()

        for await _ in events {}
    }

    @Test func `L17: one call can be watched by itself`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        let (ends, continuation) = AsyncStream.makeStream(of: RequestID.self)
        var watched = APIConfiguration(path: "a")
        watched.interceptors = [
            .observing("own") { event in
                if case .ended = event.kind { continuation.yield(event.id) }
            }
        ]
        _ = try await client.send(APIConfiguration(path: "b"))
        let id = RequestID()
        _ = try await client.send(watched, id: id)

        #expect(await ends.first { _ in true } == id)
    }

    @Test func `L23: the levels are those of swift-log`() {
        #expect(
            LogLevel.allCases.map { "\($0)" } == ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        )
    }
}
