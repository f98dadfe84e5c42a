import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport

/// The places where the library calls foreign code while a request is active.
enum Callback: String, CaseIterable, Sendable {
    case limiting, adapting, sending, redirecting, progressing, leaving, refreshing, deciding, observing, completing

    /// The callbacks that run before the result of the request is decided.
    static let beforeTheEnd = allCases.filter { $0 != .observing && $0 != .completing }
}

/// A request that passes every ``Callback``: it is redirected, rejected, sent again with a new credential, and sent
/// once more because an interceptor asks for it.
///
/// The action of the test runs at one of the callbacks.
final class CallbackTour: Sendable {
    private struct State {
        var client: NetworkClient?
        var visited: Set<Callback> = []
        var ends: [RequestFailure.Reason?] = []
    }

    private let state = Locked(State())
    private let place: Callback
    private let action: @Sendable (CallbackTour) -> Void
    private let arrival = Latch()
    /// Opens when `send` has returned, because `send` holds the client until then.
    private let departure = Latch()
    private let queue = DispatchQueue(label: "test.completions")

    init(acting place: Callback, _ action: @escaping @Sendable (CallbackTour) -> Void) {
        self.place = place
        self.action = action
    }

    /// The client, or `nil` if it was released.
    var client: NetworkClient? { state.withLock { $0.client } }

    /// Releases the client.
    func letGo() {
        let client = state.withLock { state in
            defer { state.client = nil }
            return state.client
        }
        withExtendedLifetime(client) {}
    }

    /// The results of the request: one reason for each end, `nil` for a response.
    func ends() async throws -> [RequestFailure.Reason?] {
        let transport = try prepare()
        await withCheckedContinuation { continuation in
            let first = Locked<CheckedContinuation<Void, Never>?>(continuation)
            client?.send(
                APIConfiguration(path: "a"),
                on: queue,
                progress: { [self] _ in visit(.progressing) },
                completion: { [self] result in
                    state.withLock { $0.ends.append(result.reason) }
                    visit(.completing)
                    first.withLock { first in
                        defer { first = nil }
                        return first
                    }?.resume()
                }
            )
            departure.open()
        }
        await arrival.wait()
        await transport.waitUntilIdle()
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        return state.withLock { $0.ends }
    }

    /// The result of the request in the async form, whose task holds the client.
    func end(of id: RequestID) async throws -> RequestFailure.Reason? {
        let transport = try prepare()
        let reason: RequestFailure.Reason?
        departure.open()
        do throws(RequestFailure) {
            let progress: TransferProgressHandler = { [self] _ in visit(.progressing) }
            _ = try await client?.send(APIConfiguration(path: "a"), id: id, progress: progress)
            reason = nil
        } catch {
            reason = error.reason
        }
        await transport.waitUntilIdle()
        return reason
    }

    private func visit(_ callback: Callback) {
        guard state.withLock({ $0.visited.insert(callback).inserted }), callback == place else { return }
        action(self)
        arrival.open()
    }

    private func prepare() throws -> StubTransport {
        let answers = AnswerList([
            .status(302, headers: ["Location": "/b"]), .status(401), .json("{}", status: 500), .json("{}"),
        ])
        let transport = StubTransport { [self] request in
            visit(.sending)
            return answers.answer(request)
        }
        let client = try NetworkClient(
            service: .topics(switching: .off, servers: 1),
            transport: transport,
            options: options(),
            time: ManualClock()
        )
        state.withLock { $0.client = client }
        return transport
    }

    private func options() -> NetworkClient.Options {
        let credentials = Credentials { [self] _ in
            visit(.refreshing)
            return .bearer("a1")
        }
        credentials.set(.bearer("a0"), in: .test)
        var options = NetworkClient.Options(seed: 1)
        options.credentials = credentials
        options.limits = [VisitedLimit(departure: departure) { [self] in visit($0) }]
        options.redirects = .deciding { [self] _ in
            visit(.redirecting)
            return .follow
        }
        options.interceptors = [
            .adapting { [self] _, _ in visit(.adapting) },
            .observing { [self] _ in visit(.observing) },
            .retrying { [self] round in
                visit(.deciding)
                return round.status == 500 ? .retryNow : .undecided
            },
        ]
        return options
    }
}

private struct VisitedLimit: RequestLimit {
    let departure: Latch
    let visit: @Sendable (Callback) -> Void

    func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        await departure.wait()
        visit(.limiting)
        return LimitPass { visit(.leaving) }
    }
}

extension Result where Success == ServiceResponse, Failure == RequestFailure {
    fileprivate var reason: RequestFailure.Reason? {
        if case .failure(let failure) = self { failure.reason } else { nil }
    }
}
