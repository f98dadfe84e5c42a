import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Notifications for parts of an app that do not know the client, without swizzling.
@Suite(.timeLimit(.minutes(5)), .prompt) struct NotificationTests {
    private struct Post: Sendable {
        var name: String
        var event: DispatchEvent?
    }

    /// The notifications about one request until its end.
    private func posts(_ answers: [StubResponse]) async throws -> [Post] {
        let center = NotificationCenter()
        let (stream, continuation) = AsyncStream.makeStream(of: Post.self)
        let names: [Notification.Name] = [
            .switchyardRequestDidStart, .switchyardRequestDidPause, .switchyardAttemptDidEnd, .switchyardRequestDidEnd,
        ]
        let tokens = names.map { name in
            center.addObserver(forName: name, object: nil, queue: nil) { note in
                continuation.yield(Post(name: note.name.rawValue, event: note.dispatchEvent))
            }
        }
        defer { for token in tokens { center.removeObserver(token) } }
        let list = AnswerList(answers)
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [.posting(to: center)]
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }) { list.answer($0) }
        _ = try? await client.send(APIConfiguration(path: "a"))
        var posts: [Post] = []
        for await post in stream {
            posts.append(post)
            if post.name == Notification.Name.switchyardRequestDidEnd.rawValue { break }
        }
        return posts
    }

    @Test func `the notifications of a request are posted in the order start, attempts, delay, end`() async throws {
        let posts = try await posts([.status(503), .status(200)])

        #expect(
            posts.map(\.name) == [
                "Switchyard.RequestDidStart", "Switchyard.AttemptDidEnd", "Switchyard.RequestDidPause",
                "Switchyard.AttemptDidEnd", "Switchyard.RequestDidEnd",
            ]
        )
        #expect(Set(posts.map { $0.event?.id }).count == 1)
    }

    @Test func `the notification that a request has ended contains the response, its body and its metrics`()
        async throws
    {
        let metrics = TransferMetrics(total: .milliseconds(3))
        let answer = HTTPResponse(status: 200, body: .whole(Data("[1]".utf8)), metrics: metrics)

        let end = try #require(try await posts([.response(answer)]).last?.event)

        guard case .ended(.success(let answer)) = end.kind else {
            Issue.record("no response in \(end)")
            return
        }
        #expect(answer.status == 200 && answer.text == "[1]")
        #expect(answer.response.metrics == metrics)
    }

    @Test func `the notification of a failed request contains its error`() async throws {
        let end = try #require(try await posts([.failure(.connectionReset)]).last?.event)

        guard case .ended(.failure(let failure)) = end.kind, case .transport(let error) = failure.reason else {
            Issue.record("no transport error in \(end)")
            return
        }
        #expect(error.kind == .connectionReset)
    }
}
