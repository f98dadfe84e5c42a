import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

/// What foreign code does to a request from inside the calls that it gets: D7, D8, D11, TAF-D1, and rules 1, 6 and 7 of
/// a request's life.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct CallbackTests {
    @Test(arguments: Callback.allCases)
    func `the tour comes past every callback, and gets its response`(place: Callback) async throws {
        let tour = CallbackTour(acting: place) { _ in }

        #expect(try await tour.ends() == [nil])
        #expect(tour.client?.activeRequests == [])
        tour.letGo()
    }

    @Test(arguments: Callback.beforeTheEnd)
    func `a cancel from inside a callback ends the request there and then, once`(place: Callback) async throws {
        let tour = CallbackTour(acting: place) { $0.client?.cancel { _ in true } }

        #expect(try await tour.ends() == [.cancelled])
        #expect(tour.client?.activeRequests == [])
        tour.letGo()
    }

    @Test(arguments: Callback.beforeTheEnd)
    func `a cancel by name from inside a callback ends the async form too`(place: Callback) async throws {
        let id = RequestID()
        let tour = CallbackTour(acting: place) { $0.client?.cancel(id) }

        #expect(try await tour.end(of: id) == .cancelled)
        #expect(tour.client?.activeRequests == [])
        tour.letGo()
    }

    @Test(arguments: Callback.beforeTheEnd)
    func `a client that is let go from inside a callback takes the request with it`(place: Callback) async throws {
        let tour = CallbackTour(acting: place) { $0.letGo() }

        #expect(try await tour.ends() == [.cancelled])
    }

    @Test(arguments: Callback.beforeTheEnd)
    func `a shutdown from inside a callback closes the request, once`(place: Callback) async throws {
        let tour = CallbackTour(acting: place) { $0.client?.shutdown() }

        #expect(try await tour.ends() == [.closed])
        tour.letGo()
    }

    @Test(arguments: [Callback.observing, .completing])
    func `what is done to a request that may have ended ends it no second time`(place: Callback) async throws {
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
    func `another request may be sent and awaited from inside a callback`(place: Callback) async throws {
        let other = Latch()
        let tour = CallbackTour(acting: place) { tour in
            tour.client?.send(APIConfiguration(path: "other"), on: .global()) { _ in other.open() }
        }

        #expect(try await tour.ends().count == 1)
        await other.wait()
        tour.letGo()
    }
}
