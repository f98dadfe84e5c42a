import Foundation
import Switchyard
import SwitchyardTesting

/// The objects that the steps of the demo share: the demo servers, the client with its managers, a folder, and the
/// facts that have been recorded.
final class DemoStage: Sendable {
    let forum: Forum
    let client: NetworkClient
    let topics: TopicAPI
    let users: UserAPI
    let screen: DemoScreen
    let pace: DemoPace
    let traffic: SteadyTraffic
    /// The recorder of the data for the report.
    let notes: TrafficRecorder
    let events: ServerEvents
    /// The folder in which the demo writes all its files.
    let folder: URL
    private let facts = Locked(DemoReport())

    /// Starts the demo servers and creates the client.
    init(screen: DemoScreen, pace: DemoPace, notes: TrafficRecorder = TrafficRecorder()) throws {
        self.screen = screen
        self.pace = pace
        self.notes = notes
        traffic = SteadyTraffic(notes: notes)
        events = ServerEvents(screen: screen, notes: notes)
        forum = try Forum(
            uploadRate: pace.uploadRate,
            film: ForumFilm(length: pace.downloadBytes).content(bytesPerSecond: pace.downloadRate)
        )
        client = try NetworkClient(service: try forum.service())
        topics = TopicAPI(client: client)
        users = UserAPI(client: client)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("yard-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The facts that have been recorded so far.
    var report: DemoReport { facts.withLock { $0 } }

    /// Records a fact in ``report``.
    func record(_ change: (inout DemoReport) -> Void) {
        facts.withLock { change(&$0) }
    }

    /// Checks a statement and prints it if it is true.
    ///
    /// - Throws: ``BrokenClaim`` if the statement is false.
    func claim(_ isTrue: Bool, _ text: String) throws(BrokenClaim) {
        guard isTrue else { throw BrokenClaim(text) }
        screen.came(true: text)
    }

    /// Shuts down the client, stops the demo servers, and removes the demo's folder.
    func close() throws {
        client.shutdown()
        forum.stop()
        try FileManager.default.removeItem(at: folder)
    }
}

// MARK: - Waiting

extension DemoStage {
    /// Waits until a demo server has received `pace.calls` more requests.
    ///
    /// Returns `false` if this takes too long.
    func waitForTraffic(at machine: ForumServer) async -> Bool {
        let goal = machine.requestCount + pace.calls
        return await withTimeoutBudget { await machine.server.wait { $0.requestsReceived >= goal } } ?? false
    }

    /// Waits for an event of the servers.
    ///
    /// Returns `false` if the event does not occur in time.
    func wait(
        for events: AsyncStream<SwitchEvent.Kind>,
        until isWanted: @escaping @Sendable (SwitchEvent.Kind) -> Bool
    ) async -> Bool {
        await withTimeoutBudget { await events.first(where: isWanted) } != nil
    }

    /// Waits, so that a person can look at the present state of the demo.
    func watch() async throws {
        if pace.watch > .zero { try await Task.sleep(for: pace.watch) }
    }

    private func withTimeoutBudget<Value: Sendable>(
        _ wait: @escaping @Sendable () async -> Value?
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await wait() }
            group.addTask { [limit = pace.eventTimeout] in
                // The sleep ends early only if the event has occurred or the demo was interrupted.
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
