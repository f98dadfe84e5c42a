import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct APITargetTests {
    enum Topics: APITarget {
        case list(page: Int)
        case create(title: String)

        var path: String { "topics" }
        var method: HTTPMethod { if case .create = self { .post } else { .get } }
        var parameters: Parameters {
            switch self {
            case .list(let page): ["page": page]
            case .create(let title): ["title": title]
            }
        }
        var sampleResponse: HTTPResponse { HTTPResponse(status: 200, body: .whole(Data("[]".utf8))) }
    }

    enum Users: APITarget {
        case avatar(Int)

        var path: String { "users/{id}/avatar" }
        var headers: HTTPHeaders { [.accept("image/png")] }
        func configure(_ configuration: inout APIConfiguration) {
            if case .avatar(let id) = self { configuration.pathValues = ["id": id] }
            configuration.timeout = .seconds(3)
        }
    }

    /// The common settings of all calls of an app.
    ///
    /// A subclass for each call overrides some of them.
    class Call: APITarget, @unchecked Sendable {  // The class has no stored properties.
        var path: String { "" }
        var method: HTTPMethod { .get }
        var parameters: Parameters { [:] }
        func configure(_ configuration: inout APIConfiguration) { configuration.headers.set("X-App", "demo") }
    }

    final class Login: Call, @unchecked Sendable {
        override var path: String { "login" }
        override var method: HTTPMethod { .post }
    }

    @Test func `an APITarget class may override the settings of its superclass`() throws {
        let configuration = Login().configuration

        let request = try BuiltRequest.request(configuration)

        #expect(request.method == .post)
        #expect(request.url.text == "https://api.example.com/v1/login")
        #expect(request.headers["X-App"] == "demo")
    }

    @Test func `one client can send APITargets of several types`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }
        let targets: [any APITarget] = [Topics.list(page: 2), Topics.create(title: "x"), Users.avatar(7)]

        for target in targets { _ = try await client.send(target) }

        let requests = transport.requests
        #expect(requests.map(\.method) == [.get, .post, .get])
        #expect(
            requests.map(\.url.text) == [
                "http://primary.test/v1/topics?page=2", "http://primary.test/v1/topics",
                "http://primary.test/v1/users/7/avatar",
            ]
        )
        #expect(BuiltRequest.text(requests[1].body) == "title=x")
        #expect(requests[2].headers["Accept"] == "image/png")
    }

    @Test func `an APITarget has its own options and a sample response`() {
        #expect(Users.avatar(7).configuration.timeout == .seconds(3))
        #expect(Users.avatar(7).sampleResponse.status == 200)
        guard case .whole(let sample) = Topics.list(page: 1).sampleResponse.body else { return #expect(Bool(false)) }
        #expect(sample == Data("[]".utf8))
    }
}
