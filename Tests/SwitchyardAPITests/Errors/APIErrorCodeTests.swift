import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardStreams
import Testing

@testable import SwitchyardAPI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct APIErrorCodeTests {
    @Test func `the six common code numbers do not change`() {
        #expect(APIError.Code.common.map(\.number) == [101, 102, 103, 104, 105, 106])
        #expect(
            APIError.Code.common == [.timeout, .notConnected, .cancelled, .failed, .noData, .noMoreData]
        )
    }

    @Test(
        arguments: [
            (TransportError.Kind.timeout, 101), (.connectTimeout, 101), (.offline, 102), (.dnsFailure, 102),
            (.connectionRefused, 102), (.cancelled, 103), (.connectionReset, 104), (.truncated, 104),
            (.protocolViolation, 104), (.tlsFailure, 104), (.certificateRejected, 104), (.proxyFailure, 104),
            (.headersTooLarge, 104), (.bodyTooLarge, 104), (.requestBodyFailed, 104), (.decodingFailed, 104),
            (.invalidRequest, 104), (.unsupported, 104), (.closed, 104), (.resourcesExhausted, 104), (.other, 104),
        ]
    )
    func `each kind of transport failure has one code`(kind: TransportError.Kind, number: Int) {
        #expect(APIError(TransportError(kind, message: "x")).code.number == number)
    }

    @Test func `the table of error codes for transport failures covers all 21 kinds`() {
        #expect(TransportError.Kind.allCases.count == 21)
    }

    @Test func `each common error code results from its kind of failure`() {
        let errors: [APIError] = [
            APIError(URLError(.timedOut)), APIError(URLError(.notConnectedToInternet)), APIError(URLError(.cancelled)),
            APIError(.status(500)), APIError(.list(.noData)), APIError(.list(.noMoreData)),
        ]

        #expect(errors.map(\.code) == APIError.Code.common)
    }

    @Test func `only network failures are reported as not connected`() {
        #expect(APIError(URLError(.secureConnectionFailed)).code == .failed)
        #expect(APIError(.status(500)).code == .failed)
        #expect(APIError(URLError(.cancelled)).code == .cancelled)
    }

    @Test func `every URLError code maps to a kind, and the documented codes keep their numbers`() {
        let expected: [Int: Int] = [-999: 103, -1001: 101, -1003: 102, -1004: 102, -1009: 102]
        for raw in -4000...0 {
            let error = NSError(domain: NSURLErrorDomain, code: raw)
            let code = APIError(error).code.number
            if let number = expected[raw] { #expect(code == number, "\(raw)") }
            #expect((101...104).contains(code))
        }
    }

    @Test(arguments: [
        (-1100, "configuration"), (-1103, "body"), (-1202, "security"), (-1016, "body"), (-1005, "transport"),
        (-1022, "configuration"), (-1020, "transport"),
    ])
    func `each URLError code becomes an error reason of the expected kind, such as transport or configuration`(
        code: Int,
        family: String
    ) {
        let error = APIError(NSError(domain: NSURLErrorDomain, code: code))

        #expect(error.reason.summary.hasPrefix(family))
    }

    @Test func `an NSError with a code of URLError but another domain is not a network failure and is kept`() {
        let foreign = NSError(domain: "app", code: -1001)

        let error = APIError(foreign)

        #expect(error.code == .failed)
        #expect((error.context.underlying as NSError?) == foreign)
    }

    @Test func `the cancellation of a task is a cancellation error`() {
        #expect(APIError(CancellationError()).isCancellation)
    }

    @Test func `a RequestError from any source is a configuration error`() {
        let wrong = RequestError.bodyNotAllowed(method: .get)

        let error = APIError(wrong as any Error)

        #expect(error.reason == .configuration(.request(wrong)))
        #expect(error.context.underlying as? RequestError == wrong)
    }

    @Test func `the APIError for a failed event source keeps the reason of the failure`() {
        let context = RequestContext(service: "topics", environment: .test, method: .get)
        let answers = [503, 200].map { status in
            let response = HTTPResponse(status: status, headers: ["Content-Type": "text/html"])
            return ServiceResponse(id: RequestID(), response: response, context: context)
        }
        let failures: [any Error] = [
            EventSourceFailure.refused(answers[0]), EventSourceFailure.contentType(answers[1]),
        ]

        #expect(
            failures.map { APIError($0).reason } == [
                .status(503), .body(.contentType(received: "text/html", acceptable: ["text/event-stream"])),
            ]
        )
    }

    @Test func `an APIError is not wrapped again`() {
        #expect(APIError(APIError(.status(418)) as any Error) == APIError(.status(418)))
    }

    @Test func `two APIErrors with the same content are equal`() {
        var late = APIError(.status(500))
        late.context.elapsed = .seconds(3)

        #expect(late == APIError(.status(500)))
        #expect(late != APIError(.status(501)))
    }

    @Test func `two decoding failures are equal if kind and key path are equal, whatever the detail`() {
        let failures = [
            DecodingFailure(.missingKey, keyPath: "a", detail: "x"), DecodingFailure(.missingKey, keyPath: "a"),
            DecodingFailure(.missingKey, keyPath: "b"), DecodingFailure(.missingValue, keyPath: "a"),
        ]

        #expect(failures[0] == failures[1])
        #expect(Set(failures).count == 3)
    }

    @Test func `the description of an error code is its number`() {
        #expect("\(APIError.Code.timeout) \(APIError.Code.module(4_711))" == "101 4711")
    }

    @Test func `a transient failure is retryable, and a missing page is not`() {
        #expect(APIError(.status(503)).isRetryable)
        #expect(!APIError(.status(404)).isRetryable)
        #expect(APIError(URLError(.timedOut)).isRetryable)
        #expect(!APIError(URLError(.cancelled)).isRetryable)
    }

    @Test(arguments: [(503, false, true), (503, true, false), (404, false, false), (404, true, false)])
    func `a call is safe to retry if its failure is transient and no server may have executed it`(
        status: Int,
        mayHaveBeenExecuted: Bool,
        isSafe: Bool
    ) {
        var error = APIError(.status(status))
        error.context.mayHaveBeenExecuted = mayHaveBeenExecuted

        #expect(error.isSafeToRetry == isSafe)
    }
}
