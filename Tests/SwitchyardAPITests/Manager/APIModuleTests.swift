import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct APIModuleTests {
    private static func topics(answering answer: StubResponse, keyed envelope: Envelope = Envelope()) throws -> TopicAPI
    {
        let module = APIModule(errors: ModuleErrors(UserError.self, codes: [301: .userNotFound]), envelope: envelope)
        return TopicAPI(client: try .stubbed(StubTransport { _ in answer }), module: module)
    }

    @Test func `a value is taken out of the envelope that wraps it in the JSON body`() async throws {
        let topics = try Self.topics(answering: .json(#"{"code":0,"message":"","data":{"id":1,"title":"one"}}"#))

        #expect(try await topics.topic(1).title == "one")
        #expect(try await topics.value(Int.self, for: TopicAPI.topic(1), at: "id") == 1)
        try await topics.send(TopicAPI.topic(1))
    }

    @Test func `a code in the envelope becomes a module error with the server's message`() async throws {
        let topics = try Self.topics(answering: .json(#"{"code":301,"message":"gone","data":null}"#))

        let error = await #expect(throws: APIError.self) { try await topics.topic(1) }

        #expect(error?.module(UserError.self) == .userNotFound)
        #expect(error?.code == .module(1001))
        #expect(error?.message == "gone")
        #expect(error?.context.status == 200)
        await #expect(throws: APIError.self) { try await topics.send(TopicAPI.topic(1)) }
    }

    @Test func `an unknown code in the envelope is a failure with that code`() async throws {
        let topics = try Self.topics(answering: .json(#"{"code":777,"message":"","data":{"id":1,"title":"one"}}"#))

        let error = await #expect(throws: APIError.self) { try await topics.topic(1) }

        #expect(error?.reason == .module(ModuleFailure(module: "UserError", code: nil, serverCode: 777)))
        #expect(error?.code == .failed)
    }

    @Test(arguments: [
        "[]", "1", "null", "\"code\"", "{}", #"{"code":null}"#, #"{"code":[]}"#, #"{"code":{"code":0}}"#,
        #"{"code":0}"#, #"{"code":0,"data":null}"#, #"{"code":0,"data":[]}"#, #"{"code":0,"data":{"id":"x"}}"#, "{", "",
    ])
    func `a response with an invalid envelope is a typed error`(body: String) async throws {
        let topics = try Self.topics(answering: .json(body))

        let error = await #expect(throws: APIError.self) { try await topics.topic(1) }

        guard case .body = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `an optional value is nil if the envelope has no data`() async throws {
        let topics = try Self.topics(answering: .json(#"{"code":0}"#))

        #expect(try await topics.value(Topic?.self, for: TopicAPI.topic(1)) == nil)
    }

    @Test func `the keys of an envelope may have any name and depth`() async throws {
        let envelope = Envelope(code: "status.no", message: "status.msg", data: "result.topic", success: ["OK"])
        let good = #"{"status":{"no":"OK"},"result":{"topic":{"id":1,"title":"one"}}}"#
        let bad = #"{"status":{"no":"E1","msg":"closed"},"result":null}"#

        #expect(try await Self.topics(answering: .json(good), keyed: envelope).topic(1).id == 1)
        let error = await #expect(throws: APIError.self) {
            try await Self.topics(answering: .json(bad), keyed: envelope).topic(1)
        }
        #expect(error?.message == "closed")
    }

    @Test(arguments: [200, 404])
    func `the keys of an envelope are matched after the decoder's key strategy has converted them`(status: Int)
        async throws
    {
        let module = APIModule(
            errors: ModuleErrors(UserError.self, codes: [301: .userNotFound]),
            envelope: Envelope(code: "errorCode", message: "errorMessage"),
            decoding: JSONDecoding { $0.keyDecodingStrategy = .convertFromSnakeCase }
        )
        let transport = StubTransport { _ in .json(#"{"error_code":301,"error_message":"gone"}"#, status: status) }
        let topics = TopicAPI(client: try .stubbed(transport), module: module)

        let error = await #expect(throws: APIError.self) { try await topics.topic(1) }

        #expect(error?.module(UserError.self) == .userNotFound)
        #expect(error?.serverMessage == "gone")
    }

    @Test func `the prefix and the charset of an error response's body are handled as in a successful response`()
        async throws
    {
        var rules = ResponseRules.strict
        rules.removePrefix(")]}',\n")
        let module = APIModule(
            errors: ModuleErrors(UserError.self, codes: [301: .userNotFound]),
            envelope: Envelope(),
            rules: rules
        )
        let frame = #"{"code":301,"message":"gone"}"#
        let headers: HTTPHeaders = ["Content-Type": "application/json; charset=utf-16be"]
        let wide = Data(frame.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
        let answers: [StubResponse] = [
            .status(404, body: Data((")]}',\n" + frame).utf8)), .status(404, headers: headers, body: wide),
        ]
        for answer in answers {
            let topics = TopicAPI(client: try .stubbed(StubTransport { _ in answer }), module: module)

            let error = await #expect(throws: APIError.self) { try await topics.topic(1) }

            #expect(error?.module(UserError.self) == .userNotFound)
            #expect(error?.serverMessage == "gone")
            #expect(error?.context.status == 404)
        }
    }

    @Test func `an error response provides the server's message and a known error code of the module`() async throws {
        let refused = try Self.topics(
            answering: .status(404, body: Data(#"{"code":301,"message":"gone"}"#.utf8))
        )
        let unknown = try Self.topics(
            answering: .status(500, body: Data(#"{"code":999,"message":"broken"}"#.utf8))
        )
        let garbage = try Self.topics(answering: .status(500, body: Data("{ malformed".utf8)))

        let known = await #expect(throws: APIError.self) { try await refused.topic(1) }
        #expect(known?.module(UserError.self) == .userNotFound)
        #expect(known?.context.status == 404)
        let other = await #expect(throws: APIError.self) { try await unknown.topic(1) }
        #expect(other?.reason == .status(500))
        #expect(other?.message == "broken")
        let raw = await #expect(throws: APIError.self) { try await garbage.topic(1) }
        #expect(raw?.reason == .status(500))
        #expect(raw?.context.body == Data("{ malformed".utf8))
    }

    @Test func `a common message does not replace the messages of the module's own error codes`() throws {
        var messages = ErrorMessages(languages: [.simplifiedChinese])
        messages.set("论坛正在搬迁", for: .failed, in: .simplifiedChinese)
        messages.set("没有这个名字", for: .module(1002), in: .simplifiedChinese)
        let module = APIModule(errors: ModuleErrors(UserError.self), messages: messages)

        let words = [APIError.Reason.module(.init(module: "UserError", code: 1001)), .status(500)]
            .map { APIError($0, messages: module.messages).message }
        #expect(words == ["用户不存在", "论坛正在搬迁"])
        let own = ModuleFailure(module: "UserError", code: 1002)
        #expect(APIError(.module(own), messages: module.messages).message == "没有这个名字")
    }

    @Test func `a status in the module's error table becomes a module error, even without an envelope`()
        async throws
    {
        let errors = ModuleErrors(
            UserError.self,
            statuses: [404: .userNotFound, 409: .nameTaken],
            messages: ErrorMessages(languages: [.english])
        )
        for envelope in [nil, Envelope()] {
            let module = APIModule(errors: errors, envelope: envelope)
            for (status, expected) in [(404, UserError.userNotFound), (409, .nameTaken)] {
                let transport = StubTransport { _ in .status(status, body: Data("no JSON".utf8)) }
                let topics = TopicAPI(client: try .stubbed(transport), module: module)

                let error = await #expect(throws: APIError.self) { try await topics.topic(1) }

                #expect(error?.module(UserError.self) == expected)
                #expect(error?.code == .module(expected.rawValue))
                #expect(error?.context.status == status)
                #expect(error?.message == expected.texts[.english])
            }
            let topics = TopicAPI(client: try .stubbed(StubTransport { _ in .status(410) }), module: module)
            await #expect(throws: APIError(.status(410))) { try await topics.topic(1) }
        }
    }

    @Test(arguments: [(503, #"{"code":7}"#, true), (409, #"{"code":7}"#, false), (503, #"{"code":301}"#, true)])
    func `the status decides whether a module error is transient`(status: Int, body: String, isTransient: Bool)
        async throws
    {
        let errors = ModuleErrors(
            UserError.self,
            codes: [301: .userNotFound],
            statuses: [503: .userNotFound, 409: .nameTaken]
        )
        let transport = StubTransport { _ in .json(body, status: status) }
        let module = APIModule(errors: errors, envelope: Envelope())
        let topics = TopicAPI(client: try .stubbed(transport), module: module)

        let error = await #expect(throws: APIError.self) { try await topics.topic(1) }

        #expect(error?.module(UserError.self) != nil)
        #expect(error?.isRetryable == isTransient)
    }

    @Test func `a known code in the envelope of an error response takes precedence over its status`() async throws {
        let errors = ModuleErrors(UserError.self, codes: [301: .nameTaken], statuses: [404: .userNotFound])
        let module = APIModule(errors: errors, envelope: Envelope())
        let answers: [(String, UserError, String?)] = [
            (#"{"code":301,"message":"taken"}"#, .nameTaken, "taken"),
            (#"{"code":7,"message":"gone"}"#, .userNotFound, "gone"),
            (#"{"code":0,"message":"gone"}"#, .userNotFound, "gone"), ("{}", .userNotFound, nil),
        ]
        for (body, expected, words) in answers {
            let transport = StubTransport { _ in .json(body, status: 404) }
            let topics = TopicAPI(client: try .stubbed(transport), module: module)

            let error = await #expect(throws: APIError.self) { try await topics.topic(1) }

            #expect(error?.module(UserError.self) == expected)
            #expect(error?.serverMessage == words)
            #expect(error?.context.status == 404)
        }
    }
}
