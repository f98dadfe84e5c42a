import Foundation
import Switchyard
import SwitchyardOutbox
import SwitchyardRequests

// The samples of the article on dispatch, word for word.

enum DispatchSamples {
    static func cancel(_ client: NetworkClient, _ id: RequestID) async {
        // sample
        client.cancel(id)  // one
        client.cancel(tag: "images")  // the requests with this tag
        client.cancel { $0.configuration.path.hasPrefix("topics") }
        await client.waitUntilIdle()  // returns when all calls, downloads and streams have ended
        await client.shutdown(finishingWithin: .seconds(5))
        // end
    }

    static func limit(_ options: inout NetworkClient.Options, _ search: inout APIConfiguration) {
        // sample
        options.limits = [
            ConcurrencyLimit(total: 32, perServer: 8),  // by priority, fair between scopes
            RateLimit(.bucket(perSecond: 20, burst: 40)),  // waits; or .interval, .window
        ]

        let typing = Debounce(.milliseconds(300))  // shared by the calls that replace each other
        let latest = LatestWins()
        search.limits = [typing, latest]
        // end
    }

    static func share(_ configuration: inout APIConfiguration) {
        // sample
        configuration.sharing = .identical
        // end
    }

    static func keep(_ client: NetworkClient, in file: URL, title: String) throws -> (Outbox, OutboxRun) {
        // sample
        let outbox = try Outbox(file: file, client: client)
        let run = outbox.run(following: SystemReachability())
        try outbox.store(APIConfiguration(path: "topics", method: .post, body: .json(["title": title])))
        // end
        return (outbox, run)
    }

    struct Account {
        let number: String?
    }

    static func name(_ account: Account, _ options: inout NetworkClient.Options) {
        // sample
        options.user = { _ in account.number }  // nil while no user is logged in
        // end
    }

    static func drop(_ user: String, _ outbox: Outbox) throws {
        // sample
        for entry in outbox.entries where entry.user == user { try outbox.remove(entry.id) }
        // end
    }

    static func accept(_ options: inout Outbox.Options) {
        // sample
        options.accepts = OutboxAcceptance(contentTypes: [.json])
        options.accepts = OutboxAcceptance { entry, response in
            OutboxAcceptance.standard.accepts(response, to: entry) && response.headers["X-Receipt"] != nil
        }
        // end
    }

    static func replace(_ text: String, _ outbox: Outbox) throws {
        // sample
        let write = APIConfiguration(path: "notes/7", method: .put, body: .json(["text": text]))
        try outbox.store(write, replacementKey: "note 7")
        // end
    }

    static func takeOut(_ outbox: Outbox) async throws {
        // sample
        try await outbox.remove(replacementKey: "note 7")
        // end
    }

    static func watch(_ outbox: Outbox, show: (String) -> Void) async {
        // sample
        for await event in outbox.events() {
            guard case .rejected(let entry, let answer) = event else { continue }
            show("\(entry.path) was refused with \(answer.status)")
        }
        // end
    }

    static func letGo(of outbox: Outbox, _ run: OutboxRun) async {
        // sample
        run.stop()  // cancels a write in progress; the write stays stored
        await outbox.close()
        // end
    }
}
