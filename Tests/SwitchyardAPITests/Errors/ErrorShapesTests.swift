import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

/// How an error can be asked, numbered and shown.
@Suite struct ErrorShapesTests {
    @Test func `H2: an app that comes from TSwift finds its numbers`() {
        let errors: [APIError] = [
            APIError(.status(500)), APIError(.limited(.deadline)), APIError(.cancelled(.caller)),
            APIError(.transport(.init(.offline, message: ""))), APIError(.list(.noData)), APIError(.list(.noMoreData)),
        ]

        #expect(errors.map { $0.number(in: .tSwift) } == [101, 102, 103, 104, 105, 106])
        // TSW-15: the library's own numbers never change their meaning.
        #expect(errors.map { $0.number(in: .standard) } == [104, 101, 103, 102, 105, 106])
    }

    @Test func `H3: the kinds of a manager's error are default, no content, parameters, timeout and no network`() {
        let errors: [APIError] = [
            APIError(.status(500)), APIError(.body(.empty)), APIError(.configuration(.other("x"))),
            APIError(.limited(.deadline)), APIError(.transport(.init(.dnsFailure, message: ""))),
            UserError.nameTaken.error(),
        ]

        #expect(errors.map { $0.number(in: .rtNetworking) } == [0, 2, 3, 4, 5, 1_002])
    }

    @Test func `H12, H13: the reason is a typed enum, and requests fail under another name than answers`() {
        guard
            case .configuration(.request(let request)) = APIError(
                .configuration(.request(.template(text: "{", reason: .syntax(offset: 0))))
            ).reason
        else { return #expect(Bool(false)) }
        #expect(!request.message.isEmpty)
        guard
            case .body(.decoding(let answer)) = APIError(decoding: DecodingFailure(.missingKey, keyPath: "a.b")).reason
        else { return #expect(Bool(false)) }
        #expect(answer.keyPath == "a.b")
    }

    @Test func `H17: a result says whether it is a cancellation`() {
        let cancelled = Result<Int, APIError>.failure(APIError(CancellationError()))

        #expect(cancelled.isCancellation)
        #expect(!Result<Int, APIError>.success(1).isCancellation)
        #expect(!Result<Int, APIError>.failure(APIError(.status(500))).isCancellation)
    }

    @Test func `H20: an error knows when it happened`() {
        let before = Date()
        let error = APIError(.status(500))

        #expect(error.context.date >= before && error.context.date <= Date())
    }

    @Test func `H21: Foundation shows the message, in the user's language`() {
        let error = APIError(.list(.noData), messages: ErrorMessages(languages: [.simplifiedChinese]))

        #expect((error as any Error).localizedDescription == "这里还没有内容")
        #expect(error.errorDescription == error.message)
    }

    @Test func `H26: the body of a refused response is the service's own error model, or stays raw`() {
        struct Problem: Decodable, Equatable { var title: String }
        var error = APIError(.status(422))
        error.context.keep(status: 422, headers: [:], body: Data(#"{"title":"Name taken"}"#.utf8))

        #expect(error.decodedBody(as: Problem.self) == Problem(title: "Name taken"))
        #expect(error.decodedBody(as: [Int].self) == nil)
        #expect(error.context.body == Data(#"{"title":"Name taken"}"#.utf8))
        #expect(APIError(.status(422)).decodedBody(as: Problem.self) == nil)
    }

    @Test func `G26, G27, H19: a refused status is -8, a refused shape -9, and the status comes first`() {
        var rules = ResponseRules(shape: .object(["id": .integer]))
        func number(_ text: String, status: Int = 200) -> Int? {
            let answer = ResponseSerializerTests.json(text, status: status)
            return #expect(throws: APIError.self) { try ResponseSerializer.json.value(of: answer, rules: rules) }?
                .validationNumber
        }

        #expect(number("{}", status: 500) == -8)
        #expect(number("{}") == -9)
        #expect(number(#"{"id":null}"#) == -9)
        rules.shape = .object(["id": .nullable(.integer)])
        #expect(
            (try? ResponseSerializer.json.value(of: ResponseSerializerTests.json(#"{"id":null}"#), rules: rules)) != nil
        )
        #expect(APIError(.cache(.versionMismatch)).validationNumber == -2)
        #expect(APIError(.cancelled(.caller)).validationNumber == nil)
    }
}
