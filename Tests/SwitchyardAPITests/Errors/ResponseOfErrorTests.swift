import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// The response and the request in an error.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ResponseOfErrorTests {
    private static let headers: HTTPHeaders = ["Content-Type": "text/plain; charset=iso-8859-1", "Retry-After": "7"]

    @Test func `responses and errors provide status, header fields and text in the same way`() async throws {
        let yard = try LoopbackYard(answer: .status(200, headers: Self.headers, body: Data([0xFC])))
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)
        let call = APIConfiguration(path: "x")

        let service = try await yard.client.send(call)
        let response = try await topics.response(for: call, with: .string)
        let refused = try #require(await #expect(throws: APIError.self) { try await topics.topic(7) })

        #expect([service.status, service.response.status, response.status, refused.status] == [200, 200, 200, 200])
        let types = [service.headers, service.response.headers, response.headers, refused.headers]
        #expect(types.allSatisfy { $0["Content-Type"] == Self.headers["Content-Type"] })
        #expect([service.text, service.response.text, response.value, refused.text] == ["ü", "ü", "ü", "ü"])
        #expect([service.data, service.response.data, refused.data] == Array(repeating: Data([0xFC]), count: 3))
    }

    @Test func `an error without a response has no status and no text`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.fault = .resetBeforeHead

        let error = try #require(
            await #expect(throws: APIError.self) { try await TopicAPI(client: yard.client).topic(7) }
        )

        #expect(error.status == nil && error.data == nil && error.text == nil && error.headers.isEmpty)
        #expect(error.retryAfter == nil)
    }

    @Test func `an error provides the time in Retry-After`() async throws {
        let yard = try LoopbackYard(answer: .status(429, headers: Self.headers))
        defer { yard.stop() }

        let error = await #expect(throws: APIError.self) { try await TopicAPI(client: yard.client).topic(7) }

        #expect(error?.retryAfter == .seconds(7))
        #expect(APIError(.limited(.rate(retryAfter: .seconds(3)))).retryAfter == .seconds(3))
    }

    @Test(arguments: [(301, true), (302, true), (303, true), (307, false), (308, false)])
    func `the description of an error names a redirect that turned a POST into a GET`(status: Int, becomesGet: Bool)
        async throws
    {
        let yard = try LoopbackYard(answer: .json("{}", status: 405))
        defer { yard.stop() }
        yard.server.route(nil, "/v1/old", answering: .status(status, headers: ["Location": "/v1/new?token=secret"]))
        let call = APIConfiguration(path: "old?token=secret", method: .post, body: .json(["a": 1]))

        let error = try #require(
            await #expect(throws: APIError.self) { try await TopicAPI(client: yard.client).send(call) }
        )

        let (text, base) = (error.description, yard.server.baseURL)
        #expect(text.contains("POST \(base)/v1/old"))
        let step = becomesGet ? ", \(status) turned it into GET \(base)/v1/new" : ", \(status) led to \(base)/v1/new"
        #expect(text.contains(step))
        #expect(!text.contains("secret"))
        #expect(error.context.redirects.map(\.status) == [status])
    }

    @Test func `the description of a call that was not sent names its method and path`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        var options = NetworkClient.Options()
        options.credentials = Credentials { _ in nil }
        let client = try NetworkClient(service: yard.client.service, options: options)
        defer { client.shutdown() }

        let error = await #expect(throws: APIError.self) { try await TopicAPI(client: client).topic(7) }

        #expect(error?.description.contains("path GET topics/7") == true)
    }

    @Test func `a module whose error table has a clash sends no call`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        let errors = ModuleErrors(UserError.self, statuses: [404: .userNotFound, 404: .nameTaken])
        let topics = TopicAPI(client: yard.client, module: APIModule(errors: errors))
        let clash = APIError.Reason.configuration(
            .moduleCodes(.repeatedStatus(module: "UserError", status: 404))
        )

        let call = await #expect(throws: APIError.self) { try await topics.topic(7) }
        let download = await #expect(throws: APIError.self) {
            try await topics.download(DownloadConfiguration(path: "film"))
        }
        let upload = await #expect(throws: APIError.self) {
            try await topics.upload(UploadConfiguration(path: "film", from: .data(Data())), as: EmptyBody.self)
        }

        #expect([call, download, upload].map { $0?.reason } == [clash, clash, clash])
        #expect(call?.description.contains("the status 404 must be mapped only once") == true)
        #expect(yard.server.requests.isEmpty)
    }
}
