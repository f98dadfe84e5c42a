import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Error bodies of a service without an envelope.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ErrorBodyTests {
    private static func content(_ body: ErrorBody, _ text: String) throws -> ErrorBody.Content {
        body.content(of: try JSONValue(parsing: text.utf8))
    }

    @Test
    func `if an error body has a detail member, that member becomes the message and the others do not become fields`()
        throws
    {
        let content = try Self.content(ErrorBody(), #"{"detail": "Gone.", "code": "gone"}"#)

        #expect(content == ErrorBody.Content(message: "Gone.", fields: [:]))
    }

    @Test func `if an error body has no detail member, each member becomes a field and the message joins all texts`()
        throws
    {
        let content = try Self.content(ErrorBody(), #"{"name": ["Too long.", "Taken."], "age": "Too low.", "id": 7}"#)

        #expect(content.fields == ["name": ["Too long.", "Taken."], "age": ["Too low."]])
        #expect(content.message == "Too low. Too long. Taken.")
    }

    @Test func `the name of a nested field in an error body is the path of the field`() throws {
        let text = #"{"owner": {"name": ["Missing."]}, "items": [{}, {"price": ["Too low."]}]}"#

        let content = try Self.content(ErrorBody(), text)

        #expect(content.fields == ["owner.name": ["Missing."], "items.1.price": ["Too low."]])
    }

    @Test func `an error body that is a list of texts becomes a message without fields`() throws {
        #expect(try Self.content(ErrorBody(), #"["No.", "Never."]"#) == .init(message: "No. Never.", fields: [:]))
    }

    @Test func `the message and the fields of an error body are read from separate key paths`() throws {
        let body = ErrorBody(message: "error.text", fields: "error.fields")

        let content = try Self.content(body, #"{"error": {"text": "Invalid.", "fields": {"name": ["Too long."]}}}"#)

        #expect(content == ErrorBody.Content(message: "Invalid.", fields: ["name": ["Too long."]]))
    }

    @Test func `the error has no field messages if the key path of the fields is nil`() throws {
        let body = ErrorBody(message: "title", fields: nil)

        #expect(try Self.content(body, #"{"title": "Out of credit.", "type": "x"}"#).fields == [:])
        #expect(try Self.content(body, #"{"type": "x"}"#) == ErrorBody.Content())
    }

    @Test(arguments: ["null", "7", "{}", "[]", #"{"detail": null}"#, #"{"detail": "  "}"#, #"{"detail": {"a": 1}}"#])
    func `an error body without texts gives no message`(text: String) throws {
        #expect(try Self.content(ErrorBody(), text) == ErrorBody.Content())
    }

    @Test
    func `the error of a call has the messages in the body, whichever error code the module assigns to the status`()
        async throws
    {
        let yard = try LoopbackYard(answer: .json(#"{"name": ["Taken."]}"#, status: 409))
        defer { yard.stop() }
        let module = APIModule(
            errors: ModuleErrors(UserError.self, statuses: [409: .nameTaken]),
            errorBody: ErrorBody()
        )
        let topics = TopicAPI(client: yard.client, module: module)

        let error = await #expect(throws: APIError.self) { try await topics.topic(7) }

        #expect(error?.module(UserError.self) == .nameTaken)
        #expect(error?.message == "Taken.")
        #expect(error?.fieldMessages == ["name": ["Taken."]])
    }

    @Test func `an HTML page as an error body gives no message`() async throws {
        let yard = try LoopbackYard(answer: .text("<html>", status: 502))
        defer { yard.stop() }
        let module = APIModule(errorBody: ErrorBody())
        let topics = TopicAPI(client: yard.client, module: module)

        let error = await #expect(throws: APIError.self) { try await topics.topic(7) }

        #expect(error?.serverMessage == nil && error?.fieldMessages == [:])
        #expect(error?.text == "<html>")
    }
}
