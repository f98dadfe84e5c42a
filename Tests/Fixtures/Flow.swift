import Foundation
package import SwitchyardClient
package import SwitchyardHTTP
package import SwitchyardServices
package import SwitchyardTesting

extension NetworkClient {
    /// A client with a stub, the test's options and a manual clock.
    package static func stubbed(
        servers: Int = 1,
        time: ManualClock = ManualClock(),
        options configure: (inout Options) -> Void,
        answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        let transport = StubTransport(answer)
        var options = Options(seed: 1)
        configure(&options)
        let service = try Service.topics(servers: servers)
        return (try NetworkClient(service: service, transport: transport, options: options, time: time), transport)
    }

    /// The result of a request.
    package func result(of configuration: APIConfiguration) async -> Result<ServiceResponse, RequestFailure> {
        do throws(RequestFailure) { return .success(try await send(configuration)) } catch { return .failure(error) }
    }
}

/// Responses that are returned in order.
///
/// The last one repeats.
package final class AnswerList: Sendable {
    private let answers: [StubResponse]
    private let next = Locked(0)

    package init(_ answers: [StubResponse]) {
        self.answers = answers
    }

    package init(_ statuses: Int...) {
        answers = statuses.map { .status($0) }
    }

    package func answer(_: HTTPRequest) -> StubResponse {
        next.withLock { next in
            defer { next += 1 }
            return answers[min(next, answers.count - 1)]
        }
    }
}

/// Records the events of observers, and lets a test wait for them.
package final class EventLog: Sendable {
    private let events = Locked<[String]>([])
    private let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// An observer that records the events here.
    package var interceptor: RequestInterceptor {
        .observing("log") { [self] event in note(event.kind.name) }
    }

    package func note(_ name: String) {
        events.withLock { $0.append(name) }
        continuation.yield(name)
    }

    /// Waits for the first event with that name, and returns the events up to it.
    package func events(until name: String) async -> [String] {
        var seen: [String] = []
        for await event in stream {
            seen.append(event)
            if event == name { break }
        }
        return seen
    }

    package var all: [String] { events.withLock { $0 } }
}

extension DispatchEvent.Kind {
    package var name: String {
        switch self {
        case .dispatched: "dispatched"
        case .roundBegan: "roundBegan"
        case .attemptSent: "attemptSent"
        case .redirected: "redirected"
        case .attemptEnded: "attemptEnded"
        case .roundEnded: "roundEnded"
        case .waiting: "waiting"
        case .ended: "ended"
        case .cachedResponseUsed: "cachedResponseUsed"
        }
    }
}

package struct SampleError: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "sample" }
}

/// Returns a stored credential and counts the loads.
package final class KeptCredential: CredentialProvider {
    package let credential: Credential?
    package let loads = Locked(0)

    package init(_ credential: Credential?) {
        self.credential = credential
    }

    package func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? {
        loads.withLock { $0 += 1 }
        return credential
    }
}

/// Records values.
package final class Recorder<Value: Sendable>: Sendable {
    private let state = Locked<[Value]>([])

    package init() {}

    package var values: [Value] { state.withLock { $0 } }

    package func record(_ value: Value) {
        state.withLock { $0.append(value) }
    }
}
