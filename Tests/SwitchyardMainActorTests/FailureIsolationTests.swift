import Dispatch
import Switchyard
import SwitchyardTesting
import Testing

/// The executor on which code on the main actor catches the errors of calls.
///
/// Swift 6.3 does not return to the caller's executor if a `nonisolated(nonsending)` function passes on the error of a
/// function that runs elsewhere. Without optimization, this happens only in generic functions.
@Suite(.timeLimit(.minutes(20))) struct FailureIsolationTests {
    /// A call with the name of the method that makes it.
    nonisolated struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Makes the call and returns whether its error was caught on the main queue.
        let call: @MainActor @Sendable (TopicAPI) async -> Bool?
    }

    nonisolated private static let list = APIConfiguration(path: "topics")

    nonisolated private static let rows = [
        Row(testDescription: "value") { api in
            do { _ = try await api.value(Topic.self, for: list) } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "value, stored") { api in
            var cached = list
            cached.cache.lifetime = .seconds(60)
            do { _ = try await api.value(Topic.self, for: cached) } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "response") { api in
            do { _ = try await api.response(Topic.self, for: list) } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "response with a serializer") { api in
            do { _ = try await api.response(for: list, with: .decodable(Topic.self)) } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "send") { api in
            do { try await api.send(list) } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "client") { api in
            var other = list
            other.server = .named("none")
            do { _ = try await api.client.send(other) } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "refresh of a list") { _ in
            do { try await PageRecorder<Topic>(pageSize: 2).refresh(page) } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "next page of a list") { _ in
            do { try await PageRecorder<Topic>(pageSize: 2).loadMore(page) } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "sequence of pages") { _ in
            let recorder = PageRecorder<Topic>(pageSize: 2)
            do { for try await _ in recorder.allPages(page) {} } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "sequence of items") { _ in
            let recorder = PageRecorder<Topic>(pageSize: 2)
            do { for try await _ in recorder.allItems(page) {} } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "iterator of pages") { _ in
            var pages = PageRecorder<Topic>(pageSize: 2).allPages(page).makeAsyncIterator()
            do { _ = try await pages.next() } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "iterator of items") { _ in
            var items = PageRecorder<Topic>(pageSize: 2).allItems(page).makeAsyncIterator()
            do { _ = try await items.next() } catch { return isOnMainQueue }
            return nil
        },
        Row(testDescription: "stream") { api in
            var other = list
            other.server = .named("none")
            do { _ = try await api.client.stream(other) } catch { return isOnMainQueue }
            return nil
        },
    ]

    private static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: Topic.mainQueue) == true }

    @concurrent nonisolated private static func page(_ request: PageRequest) async throws -> [Topic] {
        await Task.yield()
        throw APIError(.status(500))
    }

    @Test(arguments: rows)
    func `code on the main actor catches the error of a call on the main actor`(_ row: Row) async throws {
        DispatchQueue.main.setSpecific(key: Topic.mainQueue, value: true)
        let service = try Service(
            name: "topics",
            servers: [Server(name: "primary", baseURLs: ["test": ServerURL("http://test.example/v1")])],
            defaultEnvironment: "test"
        )
        let transport = StubTransport { _ in .status(500) }
        let api = TopicAPI(client: try NetworkClient(service: service, transport: transport))

        #expect(await row.call(api) == true)
    }
}
