import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import Testing

@testable import SwitchyardAPI

/// Queries, numbers and messages of errors.
@Suite struct ErrorShapesTests {
    @Test func `the number scheme of TSwift is available for error codes`() {
        let errors: [APIError] = [
            APIError(.status(500)), APIError(.limited(.deadline)), APIError(.cancelled(.caller)),
            APIError(.transport(.init(.offline, message: ""))), APIError(.list(.noData)), APIError(.list(.noMoreData)),
        ]

        #expect(errors.map { $0.number(in: .tSwift) } == [101, 102, 103, 104, 105, 106])
        // The library's own numbers keep their meaning.
        #expect(errors.map { $0.number(in: .standard) } == [104, 101, 103, 102, 105, 106])
    }

    @Test func `the number scheme of RTNetworking is available for error codes`() {
        let errors: [APIError] = [
            APIError(.status(500)), APIError(.body(.empty)), APIError(.configuration(.other("x"))),
            APIError(.limited(.deadline)), APIError(.transport(.init(.dnsFailure, message: ""))),
            UserError.nameTaken.error(),
        ]

        #expect(errors.map { $0.number(in: .rtNetworking) } == [0, 2, 3, 4, 5, 1_002])
    }

    @Test func `the reason of an error is an enum that separates request failures from response failures`() {
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

    @Test func `the result of a call reports whether it is a cancellation`() {
        let cancelled = Result<Int, APIError>.failure(APIError(CancellationError()))

        #expect(cancelled.isCancellation)
        #expect(!Result<Int, APIError>.success(1).isCancellation)
        #expect(!Result<Int, APIError>.failure(APIError(.status(500))).isCancellation)
    }

    @Test func `an APIError has the date of its creation`() {
        let before = Date()
        let error = APIError(.status(500))

        #expect(error.context.date >= before && error.context.date <= Date())
    }

    @Test func `the localized description of Foundation is the error's message`() {
        let error = APIError(.list(.noData), messages: ErrorMessages(languages: [.simplifiedChinese]))

        #expect((error as any Error).localizedDescription == "这里还没有内容")
        #expect(error.errorDescription == error.message)
    }

    @Test func `the body of an error response can be decoded as the service's error model`() {
        struct Problem: Decodable, Equatable { var title: String }
        var error = APIError(.status(422))
        error.context.keep(status: 422, headers: [:], body: Data(#"{"title":"Name taken"}"#.utf8))

        #expect(error.decodedBody(as: Problem.self) == Problem(title: "Name taken"))
        #expect(error.decodedBody(as: [Int].self) == nil)
        #expect(error.context.body == Data(#"{"title":"Name taken"}"#.utf8))
        #expect(APIError(.status(422)).decodedBody(as: Problem.self) == nil)
    }

    @Test func `a rejected status has code -8, and a rejected JSON shape has code -9`() {
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
