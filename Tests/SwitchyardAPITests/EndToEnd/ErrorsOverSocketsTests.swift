import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Errors of calls to a real server: their codes, messages and contexts.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ErrorsOverSocketsTests {
    /// A typical module of an app.
    private static func module(_ language: MessageLanguage = .english) throws -> APIModule {
        let messages = ErrorMessages(languages: [language])
        return APIModule(
            errors: ModuleErrors(UserError.self, codes: [301: .userNotFound, 302: .nameTaken], messages: messages),
            envelope: Envelope(success: [200])
        )
    }

    private static func error(
        _ answer: LoopbackResponse,
        _ module: APIModule = APIModule(messages: ErrorMessages(languages: [.english]))
    ) async throws -> APIError {
        let yard = try LoopbackYard(answer: answer)
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client, module: module)
        return try #require(await #expect(throws: APIError.self) { try await topics.topic(7) })
    }

    private static func error(fault: Fault) async throws -> APIError {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.fault = fault
        // A client with a running clock, so that the deadline passes.
        let client = try NetworkClient(service: yard.client.service)
        defer { client.shutdown() }
        var configuration = TopicAPI.topic(7)
        configuration.timeout = .milliseconds(300)
        let topics = TopicAPI(client: client)
        return try #require(
            await #expect(throws: APIError.self) { try await topics.value(Topic.self, for: configuration) }
        )
    }

    private static func cancelled() async throws -> APIError {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.fault = .hang
        let topics = TopicAPI(client: yard.client)
        let result: Result<Topic, APIError> = await withCheckedContinuation { continuation in
            let id = topics.value(Topic.self, for: TopicAPI.topic(7), on: .global()) {
                continuation.resume(returning: $0)
            }
            topics.cancel(id)
        }
        return try #require(#expect(throws: APIError.self) { try result.get() })
    }

    private static func listErrors() async throws -> [APIError] {
        let yard = try LoopbackYard(answer: .json("[]"))
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)
        let none = try #require(await #expect(throws: APIError.self) { try await topics.refreshTopics() })
        yard.server.route(.get, "/v1/topics") { request in
            .json(request.queryValue("page") == "1" ? #"[{"id":1,"title":"a"},{"id":2,"title":"b"}]"# : "[]")
        }
        _ = try await topics.refreshTopics()
        let noMore = try #require(await #expect(throws: APIError.self) { try await topics.loadMoreTopics() })
        return [none, noMore]
    }

    @Test func `a downloaded file with the wrong digest is a body error`() async throws {
        let yard = try LoopbackYard(answer: .json("[]"))
        defer { yard.stop() }
        var download = DownloadConfiguration(TopicAPI.topic(7))
        download.digest = ContentDigest(.sha256, bytes: MessageDigest.sha256(Data("{}".utf8)))

        let error = try #require(
            await #expect(throws: APIError.self) { try await TopicAPI(client: yard.client).download(download) }
        )

        #expect(error.reason == .body(.digest))
        #expect(error.code.number == 104)
        #expect(!error.message.isEmpty)
        #expect(error.description.contains("does not have the expected digest"))
    }

    @Test func `each common failure has its code number from 101 to 106`() async throws {
        var errors = [
            try await Self.error(fault: .hang), try await Self.error(fault: .refuse), try await Self.cancelled(),
            try await Self.error(.json("{}", status: 500)),
        ]
        errors += try await Self.listErrors()

        #expect(errors.map(\.code.number) == [101, 102, 103, 104, 105, 106])
        #expect(errors.map(\.code) == [.timeout, .notConnected, .cancelled, .failed, .noData, .noMoreData])
        // Every failure has a message.
        #expect(errors.allSatisfy { !$0.message.isEmpty })
    }

    @Test func `the message for a refused connection does not blame the user's network`() async throws {
        for (language, words) in [
            (MessageLanguage.english, "The server cannot be reached."), (.simplifiedChinese, "无法连接到服务器，请稍后再试"),
        ] {
            let yard = try LoopbackYard()
            defer { yard.stop() }
            yard.server.fault = .refuse
            let module = APIModule(messages: ErrorMessages(languages: [language]))
            let topics = TopicAPI(client: yard.client, module: module)

            let error = await #expect(throws: APIError.self) { try await topics.topic(7) }

            #expect(error?.code.number == 102)
            #expect(error?.message == words)
        }
    }

    @Test func `the error of a write shows whether it may have been executed`() async throws {
        let topics = TopicAPI.topic(7)
        var write = topics
        write.method = .post
        let cases: [(APIConfiguration, LoopbackResponse, Bool)] = [
            (write, .json("{}", status: 503), true), (write, .json("{"), true),
            (write, .json("{}", status: 404), false),
            (topics, .json("{}", status: 503), false), (topics, .json("{"), false),
        ]
        for (call, answer, isOpen) in cases {
            let yard = try LoopbackYard(answer: answer)
            defer { yard.stop() }
            let module = APIModule(messages: ErrorMessages(languages: [.english]))
            let api = TopicAPI(client: yard.client, module: module)

            let error = try #require(
                await #expect(throws: APIError.self) { try await api.value(Topic.self, for: call) }
            )

            #expect(error.mayHaveBeenExecuted == isOpen)
            #expect(error.description.hasSuffix("may have been executed") == isOpen)
            #expect(error.message.hasSuffix("The server may have executed it nevertheless.") == isOpen)
        }
    }

    @Test func `a write whose response is rejected without an error status may have been executed`() async throws {
        var strict = APIModule(envelope: Envelope(success: [200]))
        strict.rules.status = .only([201])
        let lenient = APIModule(envelope: Envelope(success: [200]))
        let value = #"{"id":7,"title":"seven"}"#
        let away = { (path: String) in LoopbackResponse(status: 303, headers: ["Location": path]) }
        let cases: [(APIModule, LoopbackResponse, Int?)] = [
            (strict, .json(value, status: 202), nil),  // A status outside the rules.
            (lenient, .json("{", status: 201), nil),
            (lenient, .text("<html>", status: 200), nil),
            (lenient, .json(#"{"code": 301}"#), nil),  // A code of the module.
            (lenient, .json(value), 5),  // Larger than the limit.
            (lenient, LoopbackResponse(status: 204), nil),
            (lenient, LoopbackResponse(status: 302), nil),
            (lenient, away("/v1/gone"), nil), (lenient, away("http://127.0.0.1:1/"), nil),
            (lenient, away("ftp://x/"), nil),
        ]
        for (module, answer, limit) in cases {
            let yard = try LoopbackYard(answer: answer)
            defer { yard.stop() }
            yard.server.route(nil, "/v1/gone", answering: .json("{}", status: 404))
            var write = TopicAPI.topic(7)
            write.responseBodyLimit = limit
            for isSafe in [false, true] {
                write.method = isSafe ? .get : .post
                write.mayBeRepeated = isSafe ? false : nil
                let api = TopicAPI(client: yard.client, module: module)

                let error = try #require(
                    await #expect(throws: APIError.self) { try await api.value(Topic.self, for: write) }
                )

                #expect(error.mayHaveBeenExecuted, "\(answer.status) \(error)")
            }
        }
    }

    @Test func `a cancelled write may have been executed`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.fault = .hang
        let topics = TopicAPI(client: yard.client)
        var write = TopicAPI.topic(7)
        write.method = .post
        let result: Result<Topic, APIError> = await withCheckedContinuation { continuation in
            let id = topics.value(Topic.self, for: write, on: .global()) { continuation.resume(returning: $0) }
            Task {
                _ = await yard.server.waitForRequests(1)
                topics.cancel(id)
            }
        }

        let error = try #require(#expect(throws: APIError.self) { try result.get() })

        #expect(error.isCancellation)
        #expect(error.mayHaveBeenExecuted)
    }

    @Test(arguments: [true, false])
    func `a call that needs a login has its own error reason and message`(throwsError: Bool) async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        var options = NetworkClient.Options()
        options.credentials = Credentials { _ in
            if throwsError { throw CredentialError.loginRequired }
            return nil
        }
        let client = try NetworkClient(service: yard.client.service, options: options, time: yard.clock)
        defer { client.shutdown() }
        for (language, words) in [
            (MessageLanguage.english, "Please log in."), (.simplifiedChinese, "请先登录"),
        ] {
            let topics = TopicAPI(client: client, module: APIModule(messages: ErrorMessages(languages: [language])))

            let error = await #expect(throws: APIError.self) { try await topics.topic(7) }

            #expect(error?.reason == .security(.loginRequired))
            #expect(error?.code.number == 104)
            #expect(error?.message == words)
        }
        #expect(yard.server.requests.isEmpty)
    }

    @Test func `each error code has a message, which a message of the server replaces`() async throws {
        let plain = try await Self.error(.json(#"{"code":301}"#), Self.module())
        #expect(plain.message == "There is no such user.")
        let chinese = try await Self.error(.json(#"{"code":301}"#), Self.module(.simplifiedChinese))
        #expect(chinese.message == "用户不存在")
        let server = try await Self.error(.json(#"{"code":301,"message":"Ada left in 1852."}"#), Self.module())
        #expect(server.message == "Ada left in 1852.")
        let refused = try await Self.error(.json("{}", status: 500))
        #expect(refused.message == "The request failed.")
    }

    @Test(arguments: [
        LoopbackResponse.json(#"{"code":301,"message":""}"#), .json(#"{"code":301,"message":"  "}"#),
        .json(#"{"code":301,"message":null}"#), .json(#"{"code":999,"message":{}}"#), .json("[]"), .json(""),
        .text("no JSON"), .json("{}", status: 404), .json(#"{"code":"GONE","message":"\u0000"}"#, status: 500),
    ])
    func `an APIError always has a message for the user`(answer: LoopbackResponse) async throws {
        let error = try await Self.error(answer, Self.module())

        #expect(error.message.contains { !$0.isWhitespace })
        #expect(error.userMessage == error.message)
    }

    @Test func `the codes of a module start at 1001`() async throws {
        let module = try Self.module()

        let known = try await Self.error(.json(#"{"code":302}"#), module)
        #expect(known.code == .module(1002) && known.code.number == 1002)
        #expect(known.module(UserError.self) == .nameTaken)
        let unknown = try await Self.error(.json(#"{"code":303}"#), module)
        #expect(unknown.code.number == 104 && unknown.module(UserError.self) == nil)
    }

    @Test func `an APIError keeps its underlying error`() async throws {
        let refused = try await Self.error(fault: .refuse)
        let failure = try #require(refused.context.underlying as? RequestFailure)
        guard case .transport(let transport) = failure.reason else { throw refused }
        #expect(transport.kind == .connectionRefused && !transport.message.isEmpty)

        let shape = try await Self.error(.json(#"{"id":"seven","title":"x"}"#))
        guard case .typeMismatch(_, let context) = shape.context.underlying as? DecodingError else { throw shape }
        #expect(context.codingPath.map(\.stringValue) == ["id"])
    }

    @Test func `a response becomes a JSON tree of an object or an array`() async throws {
        let yard = try LoopbackYard(answer: .json(#"{"topics":[{"id":1,"tags":null}],"next":2.50}"#))
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)

        let object = try await topics.response(for: TopicAPI.topic(7), with: .json).value
        #expect(object.value(at: "topics.0.id") == 1)
        #expect(object["next"]?.number?.text == "2.50")
        yard.server.route(.get, "/v1/*", answering: .json(#"[true,null,"\u00e9"]"#))
        #expect(try await topics.response(for: TopicAPI.topic(7), with: .json).value == [true, nil, "é"])
    }
}
