import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import Testing

/// An event source belongs to the user that started it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct EventSourceOwnerTests {
    /// The state of the event source when the user changes.
    enum Moment: CaseIterable { case streaming, waitingToReconnect }

    enum Change: CaseIterable { case logOut, login, logOutAndLogin }

    /// A client whose server sends one event on each connection.
    private struct Lab {
        let moment: Moment
        let clock = ManualClock()
        let credentials = Credentials { _ in nil }
        let client: NetworkClient
        let transport: StubTransport
        private let name = Locked<String?>("ann")

        init(_ moment: Moment, isNamed: Bool) throws {
            self.moment = moment
            for environment in [ServiceEnvironment.release, .test] {
                credentials.set(.bearer("ann"), in: environment)
            }
            transport = StubTransport { [clock] _ in
                let event = Data("id: 7\ndata: one\n\n".utf8)
                let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
                guard moment == .streaming else { return .chunks([event], headers: headers) }
                return .chunks([event, Data(": late\n\n".utf8)], headers: headers, every: .seconds(5), on: clock)
            }
            var options = NetworkClient.Options(seed: 1)
            options.credentials = credentials
            if isNamed { options.user = { [name] _ in name.withLock { $0 } } }
            let service = try Service.topics(servers: 1)
            client = try NetworkClient(service: service, transport: transport, options: options, time: clock)
        }

        func perform(_ change: Change) {
            if change != .login { credentials.logOut(in: client.environment) }
            switch change {
            case .logOut: name.withLock { $0 = nil }
            case .login, .logOutAndLogin:
                name.withLock { $0 = "bob" }
                credentials.set(.bearer("bob"), in: client.environment)
            }
        }

        /// Reads events until the event source ends, and changes the user during the state under test.
        func read(changing change: () -> Void) async throws -> Result<Void, any Error> {
            let (events, received) = AsyncStream.makeStream(of: ServerSentEvent.self)
            let reading = Task { [client] in
                for try await event in client.eventSource(APIConfiguration(path: "news")) { received.yield(event) }
            }
            if moment == .streaming {
                await clock.waitForTimers(1, in: .seconds(5))
                clock.advance(by: .seconds(5))
            }
            for await _ in events { break }
            if moment == .waitingToReconnect {
                await until { [clock] in clock.nextDeadline == clock.now.advanced(by: .seconds(3)) }
            }
            change()
            if moment == .waitingToReconnect { clock.advance(by: .seconds(3)) }
            return await reading.result
        }

        /// The credential and the last event ID of each request.
        var sent: [[String?]] { transport.requests.map { [$0.headers["Authorization"], $0.headers["Last-Event-ID"]] } }
    }

    @Test(arguments: Moment.allCases, Change.allCases)
    func `an event source sends no further request after the logged-in user has changed`(moment: Moment, change: Change)
        async throws
    {
        for isNamed in [false, true] {
            let lab = try Lab(moment, isNamed: isNamed)

            let result = try await lab.read { lab.perform(change) }

            #expect(throws: (any Error).self) { try result.get() }
            #expect(lab.sent == [["Bearer ann", nil]], "\(moment) \(change) \(isNamed)")
        }
    }

    @Test(arguments: [false, true])
    func `an event source reconnects with the refreshed credential of the logged-in user`(isNamed: Bool) async throws {
        let lab = try Lab(.waitingToReconnect, isNamed: isNamed)
        let reading = Task {
            try await lab.read { lab.credentials.update(.bearer("ann, refreshed"), in: lab.client.environment) }
        }

        await lab.transport.waitForRequests(2)
        lab.client.shutdown()

        _ = try await reading.value
        #expect(lab.sent.prefix(2) == [["Bearer ann", nil], ["Bearer ann, refreshed", "7"]])
    }
}
