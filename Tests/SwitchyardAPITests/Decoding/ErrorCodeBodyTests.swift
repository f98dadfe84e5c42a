import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Codes, lists of fields and common messages in error bodies.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ErrorCodeBodyTests {
    private enum NoteError: Int, ModuleErrorCode {
        case invalid = 1001
        case gone = 1002

        var texts: [MessageLanguage: String] { self == .invalid ? [.english: "Please check the note."] : [:] }
    }

    private func error(_ module: APIModule, _ body: String, status: Int = 400) async throws -> APIError {
        let transport = StubTransport { _ in .json(body, status: status) }
        let topics = TopicAPI(client: try .stubbed(transport), module: module)
        return try #require(await #expect(throws: APIError.self) { try await topics.topic(1) })
    }

    private static let errors = ModuleErrors(
        NoteError.self,
        codes: [110: .invalid, "gone": .gone],
        statuses: [400: .gone],
        messages: ErrorMessages(languages: [.english])
    )

    // MARK: - Codes

    @Test(
        arguments: [
            ("errno", #"{"errno": 110, "message": "name: Required"}"#, 1001 as Int?),
            ("error.code", #"{"error": {"code": "gone"}, "message": "Gone."}"#, 1002),
            ("errno", #"{"errno": 7, "message": "Other."}"#, 1002), ("errno", #"{"message": "None."}"#, 1002),
        ]
    )
    func `an error has an error code of the module only if the error body contains a known code`(
        path: String,
        body: String,
        code: Int?
    ) async throws {
        let module = APIModule(errors: Self.errors, errorBody: ErrorBody(message: "message", fields: nil, code: path))

        let error = try await error(module, body)

        #expect(error.module(NoteError.self)?.rawValue == code)
        #expect(error.serverMessage?.isEmpty == false)
        #expect(error.status == 400)
    }

    @Test func `the serverCode of an error keeps an unknown code from the error body`() async throws {
        let module = APIModule(errorBody: ErrorBody(message: "message", fields: nil, code: "errno"))

        let error = try await error(module, #"{"errno": 121, "message": "Forbidden."}"#, status: 403)

        #expect(error.serverCode == 121)
        #expect(error.reason == .status(403))
    }

    @Test(arguments: [(503, true), (400, false)])
    func `the status, not the code in the body, decides whether an error is transient`(
        status: Int,
        isRetryable: Bool
    ) async throws {
        let module = APIModule(errors: Self.errors, errorBody: ErrorBody(message: "message", code: "errno"))

        let error = try await error(module, #"{"errno": 110, "message": "Busy."}"#, status: status)

        #expect(error.module(NoteError.self) == .invalid)
        #expect(error.isRetryable == isRetryable)
    }

    @Test func `with prefersModuleTexts, an error has the message of the module and not of the server`() async throws {
        var body = ErrorBody(message: "message", fields: nil, code: "errno")
        body.prefersModuleTexts = true
        let module = APIModule(errors: Self.errors, errorBody: body)

        let known = try await error(module, #"{"errno": 110, "message": "body.name: Required"}"#)
        let unnamed = try await error(module, #"{"errno": "gone", "message": "It is gone."}"#)

        #expect(known.message == "Please check the note.")
        #expect(known.serverMessage == "body.name: Required")
        #expect(unnamed.message == "It is gone.")
    }

    // MARK: - Fields

    @Test(
        arguments: [
            #"[{"field": "name", "message": "Too long."}, {"field": "name", "message": "Taken."}]"#,
            #"[{"name": "name", "location": "body", "description": ["Too long.", "Taken."]}]"#,
            #"[{"loc": ["name"], "msg": "Too long.", "type": "x"}, {"loc": ["name"], "msg": "Taken."}]"#,
            #"[{"source": {"pointer": "/name"}, "detail": "Too long."}, {"path": "name", "error": "Taken."}]"#,
            #"[{"source": {"parameter": "name"}, "detail": "Too long."}, {"source": {"header": "name"}, "detail": "Taken."}]"#,
            #"{"name": ["Too long.", "Taken."]}"#,
        ]
    )
    func `an error body may contain its fields as a list of objects`(fields: String) async throws {
        let module = APIModule(errorBody: ErrorBody(message: "message", fields: "errors"))

        let error = try await error(module, #"{"message": "Invalid.", "errors": \#(fields)}"#)

        #expect(error.fieldMessages == ["name": ["Too long.", "Taken."]])
        #expect(error.message == "Invalid.")
    }

    @Test func `an error body may name a field by a list of keys or by a JSON Pointer`() async throws {
        let list = #"{"loc": ["body", "items", 2, "price"], "msg": "Low."}, {"pointer": "/data/name", "msg": "Long."}"#
        let text = "[\(list)]"

        let error = try await error(APIModule(errorBody: ErrorBody()), text)

        #expect(error.fieldMessages == ["body.items.2.price": ["Low."], "data.name": ["Long."]])
        #expect(error.message == "Low. Long.")
    }

    // RFC 9457 section 3 and the examples of JSON:API.
    @Test func `an error body may name a field by a JSON Pointer with escapes or in a URI fragment`()
        async throws
    {
        let list = [
            ##"{"detail": "Low.", "pointer": "#/age"}"##,
            ##"{"detail": "Odd.", "pointer": "#/profile/gr%C3%B6%C3%9Fe"}"##,
            ##"{"detail": "Long.", "source": {"pointer": "/data/a~1b/m~0n"}}"##,
            ##"{"detail": "Void.", "source": {"pointer": ""}}"##, ##"{"detail": "Null.", "pointer": "#"}"##,
            ##"{"detail": "Taken.", "field": "email", "pointer": ""}"##,
            ##"{"detail": "Big.", "source": {"pointer": "#", "parameter": "page"}}"##,
        ]
        let module = APIModule(errorBody: ErrorBody(message: "title", fields: "errors"))

        let error = try await error(module, #"{"title": "Bad.", "errors": [\#(list.joined(separator: ","))]}"#)

        #expect(
            error.fieldMessages == [
                "age": ["Low."], "profile.größe": ["Odd."], "data.a/b.m~n": ["Long."], "email": ["Taken."],
                "page": ["Big."],
            ]
        )
        #expect(error.message == "Bad. Void. Null.")
    }

    // MARK: - Common messages

    @Test(
        arguments: [
            (#"{"message": "No."}"#, "No."), (#"{"detail": "No."}"#, "No."), (#"{"error": "No."}"#, "No."),
            (#"{"error": "not_found", "error_description": "No."}"#, "No."),
            (#"{"error": {"code": 7, "message": "No."}}"#, "No."), (#"{"type": "about:blank", "title": "No."}"#, "No."),
            (#"{"message": "", "detail": "No.", "errors": {"a": "b"}}"#, "No."), (#"{"a": "b"}"#, nil), ("[]", nil),
            ("<html>", nil),
        ] as [(String, String?)]
    )
    func `a module that does not describe its error bodies finds common messages in JSON`(
        body: String,
        message: String?
    ) async throws {
        let error = try await error(.standard, body, status: 404)

        #expect(error.serverMessage == message)
        #expect(error.fieldMessages == [:])
        #expect(error.reason == .status(404))
    }

    @Test func `by default, a module takes no message from the body of a 5xx response`() async throws {
        let body = #"{"message": "NullPointerException"}"#

        #expect(try await error(.standard, body, status: 500).serverMessage == nil)
        #expect(try await error(APIModule(errorBody: nil), body, status: 404).serverMessage == nil)
        let explicit = APIModule(errorBody: ErrorBody(message: "message", fields: nil))
        #expect(try await error(explicit, body, status: 500).serverMessage == "NullPointerException")
    }
}
