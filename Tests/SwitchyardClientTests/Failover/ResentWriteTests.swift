import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// When a write is sent to another server or sent again by a retry policy.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ResentWriteTests {
    /// How often a write is sent whose first attempt ends with `first` and whose second one succeeds: with two servers,
    /// and with one server and a retry.
    private func counts(_ write: APIConfiguration, _ first: StubResponse) async throws -> [Int] {
        let lists = [AnswerList([first, .status(200)]), AnswerList([first, .status(200)])]
        let (switching, requests) = try NetworkClient.stubbed(servers: 2) { lists[0].answer($0) }
        _ = await switching.result(of: write)
        let (retrying, retries) = try NetworkClient.stubbed {
            $0.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero))
            $0.retry?.statuses = Set(400...599)
            $0.retry?.failures = Set(TransportError.Kind.allCases)
        } answer: {
            lists[1].answer($0)
        }
        _ = await retrying.result(of: write)
        // Counts only the write, because suspicion probes are reads.
        return [requests, retries].map { $0.requests.count { $0.method == write.method } }
    }

    @Test(arguments: [500, 501, 505, 507, 508, 511, 521, 523, 525, 526, 530, 425, 421])
    func `a PUT or DELETE is sent again after a final response`(status: Int) async throws {
        for method in [HTTPMethod.put, .delete] {
            let counts = try await counts(APIConfiguration(path: "x", method: method), .status(status))

            #expect(counts == [2, 2], "\(method)")
        }
    }

    @Test(arguments: [408, 502, 503, 504, 520, 522, 524, 598, 599])
    func `a PUT or DELETE is not sent again after a response that leaves open whether the request was executed`(
        status: Int
    ) async throws {
        for method in [HTTPMethod.put, .delete] {
            let write = APIConfiguration(path: "x", method: method)
            var keyed = write
            keyed.idempotencyKey = .automatic
            var wanted = write
            wanted.mayBeRepeated = true

            #expect(try await counts(write, .status(status)) == [1, 1], "\(method)")
            #expect(try await counts(keyed, .status(status)) == [2, 2], "\(method)")
            #expect(try await counts(wanted, .status(status)) == [2, 2], "\(method)")
        }
    }

    @Test(arguments: TransportError.Kind.allCases)
    func `a write that may have been sent is not sent again`(kind: TransportError.Kind) async throws {
        let error = TransportError(kind, message: "stubbed", mayHaveBeenSent: true)
        for method in [HTTPMethod.put, .delete, .post, .patch] {
            let counts = try await counts(APIConfiguration(path: "x", method: method), .failure(error))

            #expect(counts == [1, 1], "\(method)")
        }
    }

    @Test(arguments: [HTTPMethod.put, .delete, .post, .patch])
    func `a write that was certainly not sent is sent again`(method: HTTPMethod) async throws {
        let write = APIConfiguration(path: "x", method: method)

        #expect(try await counts(write, .failure(.connectionRefused)) == [2, 2])
        #expect(try await counts(write, .status(421)) == [2, 2])
    }

    @Test(arguments: [HTTPMethod.post, .patch])
    func `a POST or PATCH is not sent again after an error status other than 421`(method: HTTPMethod) async throws {
        for status in [408, 425, 429, 500, 501, 502, 503, 504, 520, 530] {
            let counts = try await counts(APIConfiguration(path: "x", method: method), .status(status))

            #expect(counts == [1, 1], "\(status)")
        }
    }

    @Test func `a request is not retried if one of its attempts may have been executed`() async throws {
        // The first server rejects the write and the second one resets the connection, so the round ends with the first
        // response.
        let list = AnswerList([.status(500), .failure(.connectionReset), .status(200)])
        let transport = StubTransport { list.answer($0) }
        var options = NetworkClient.Options(seed: 1)
        options.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero))
        let service = try Service.topics(servers: 2)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: ManualClock())

        let answer = try await client.send(APIConfiguration(path: "x", method: .put))

        #expect(answer.status == 500)
        #expect(answer.context.mayHaveBeenExecuted)
        #expect(transport.requests.count { $0.method == .put } == 2)
    }

    @Test(arguments: [HTTPMethod.put, .delete])
    func `a write is not hedged`(method: HTTPMethod) async throws {
        let time = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(servers: 2, time: time) { _ in .never }
        let call = Task { await client.result(of: APIConfiguration(path: "x", method: method, timeout: .seconds(60))) }
        #expect(await transport.waitForRequests(1))
        for _ in 0..<60 {
            #expect(await time.waitForTimers(1))
            time.advance(by: .seconds(1))
        }
        _ = await call.value

        #expect(transport.requests.count { $0.method == method } == 1)
    }

    @Test func `an interceptor's retryNow does not repeat a write that may have been executed`() async throws {
        let wish = RequestInterceptor.retrying("again") { $0.context.round == 1 ? .retryNow : .undecided }
        for (first, count) in [
            (StubResponse.status(504), 1), (.failure(.timeout), 1), (.status(503), 1), (.status(500), 2),
            (.status(404), 2),
        ] {
            let list = AnswerList([first, .status(200)])
            let (client, transport) = try NetworkClient.stubbed {
                $0.interceptors = [wish]
            } answer: {
                list.answer($0)
            }

            _ = await client.result(of: APIConfiguration(path: "x", method: .put))

            #expect(transport.requestCount == count)
        }
    }

    @Test func `mayBeRepeated determines the resend rule of a prebuiltRequest`() throws {
        var prebuilt = HTTPRequest(method: .post, url: try RequestURL(validating: "http://a.test/"))
        var configuration = APIConfiguration()
        configuration.prebuiltRequest = prebuilt
        let own = configuration.resendRule
        prebuilt.mayBeRepeated = true
        configuration.prebuiltRequest = prebuilt

        #expect(own == .onlyIfUnsent)
        #expect(configuration.resendRule == .anytime)
    }
}
