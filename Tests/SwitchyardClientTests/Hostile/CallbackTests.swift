import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Actions that foreign code performs on a request inside its callbacks.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct CallbackTests {
    @Test(arguments: Callback.allCases)
    func `every callback of a request is called, and the request gets its response`(place: Callback) async throws {
        let tour = CallbackTour(acting: place) { _ in }

        #expect(try await tour.ends() == [nil])
        #expect(tour.client?.activeRequests == [])
        tour.letGo()
    }

    @Test(arguments: Callback.beforeTheEnd)
    func `a cancel inside a callback ends the request immediately and only once`(place: Callback) async throws {
        let tour = CallbackTour(acting: place) { $0.client?.cancel { _ in true } }

        #expect(try await tour.ends() == [.cancelled])
        #expect(tour.client?.activeRequests == [])
        tour.letGo()
    }

    @Test(arguments: Callback.beforeTheEnd)
    func `an async send throws cancelled if a callback cancels its request by identifier`(place: Callback)
        async throws
    {
        let id = RequestID()
        let tour = CallbackTour(acting: place) { $0.client?.cancel(id) }

        #expect(try await tour.end(of: id) == .cancelled)
        #expect(tour.client?.activeRequests == [])
        tour.letGo()
    }

    @Test(arguments: Callback.beforeTheEnd)
    func `releasing the client inside a callback cancels the request`(place: Callback) async throws {
        let tour = CallbackTour(acting: place) { $0.letGo() }

        #expect(try await tour.ends() == [.cancelled])
    }

    @Test(arguments: Callback.beforeTheEnd)
    func `a shutdown inside a callback closes the request once`(place: Callback) async throws {
        let tour = CallbackTour(acting: place) { $0.client?.shutdown() }

        #expect(try await tour.ends() == [.closed])
        tour.letGo()
    }

    @Test(arguments: [Callback.observing, .completing])
    func `a cancelAll, release or shutdown inside a callback ends the request only once`(place: Callback) async throws {
        let actions: [@Sendable (CallbackTour) -> Void] = [
            { $0.client?.cancelAll() }, { $0.letGo() }, { $0.client?.shutdown() },
        ]
        for action in actions {
            let tour = CallbackTour(acting: place, action)

            #expect(try await tour.ends().count == 1)
            tour.letGo()
        }
    }

    @Test(arguments: Callback.allCases)
    func `another request can be sent and awaited inside a callback`(place: Callback) async throws {
        let other = Latch()
        let tour = CallbackTour(acting: place) { tour in
            tour.client?.send(APIConfiguration(path: "other"), on: .global()) { _ in other.open() }
        }

        #expect(try await tour.ends().count == 1)
        await other.wait()
        tour.letGo()
    }
}
