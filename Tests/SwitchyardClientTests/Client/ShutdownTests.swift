import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import SwitchyardTransfers
import Testing

@testable import SwitchyardClient

/// The time limit of a shutdown, and the requests that a shutdown still allows.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ShutdownTests {
    @Test(arguments: [false, true])
    func `a download stays active until its last byte`(shutsDown: Bool) async throws {
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in
            .chunks([Data("a".utf8), Data("b".utf8)], every: .seconds(1), on: clock)
        }
        let steps = Recorder<String>()
        let download = Task {
            let file = try? await client.download(DownloadConfiguration(path: "film"))
            steps.record("downloaded \(file?.length ?? 0)")
            if let file { try FileManager.default.removeItem(at: file.url) }
        }
        await clock.waitForTimers(1, in: .seconds(1))
        let idle = Task {
            if shutsDown { await client.shutdown(finishingWithin: nil) } else { await client.waitUntilIdle() }
            steps.record("idle \(client.activeRequests.count)")
        }
        await until { client.core.transfers.waiterCount == 1 }

        clock.advance(by: .seconds(1))
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))
        _ = try await (download.value, idle.value)

        #expect(steps.values.contains("downloaded 2"))
        #expect(steps.values.contains("idle 0"))
    }

    @Test(arguments: [false, true])
    func `a shutdown waits for an unread stream no longer than the shutdown's time limit`(isWhole: Bool) async throws {
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in
            .chunks([Data("a".utf8)], every: .seconds(60), on: clock)
        }
        var configuration = APIConfiguration(path: "live")
        configuration.stubResponse = isWhole ? HTTPResponse(status: 200) : nil
        let answer = try await client.stream(configuration)
        let shutdown = Task { await client.shutdown(finishingWithin: .seconds(5)) }
        await clock.waitForTimers(1, in: .seconds(5))

        clock.advance(by: .seconds(5))
        await shutdown.value

        await #expect(throws: RequestFailure.self) { for try await _ in answer.bytes {} }
    }

    @Test func `a shutdown can let the active requests finish first`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in
            .delayed(by: .seconds(1), on: clock, .status(200))
        }
        let running = Task { await client.failure(of: APIConfiguration(path: "a")) }
        await clock.waitForTimers(1, in: .seconds(1))
        #expect(transport.requestCount == 1)

        let shutdown = Task { await client.shutdown(finishingWithin: nil) }
        var refused: RequestFailure.Reason?
        while refused == nil {
            let late = Task { await client.failure(of: APIConfiguration(path: "late", timeout: .zero)) }
            refused = await late.value.flatMap { $0 == .closed ? $0 : nil }
        }
        clock.advance(by: .seconds(1))
        await shutdown.value

        #expect(await running.value == nil)
        #expect(refused == .closed)
    }

    @Test func `a download may send a resumption request during a shutdown that waits for it`() async throws {
        let clock = ManualClock()
        let cut = TransportError(.truncated, message: "cut")
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock) { request in
            guard request.server == "primary" else { return .chunks([Data("ab".utf8)]) }
            return .chunks([Data("a".utf8)], every: .seconds(1), on: clock, failing: cut)
        }
        let download = Task { try await client.download(DownloadConfiguration(path: "film")) }
        await clock.waitForTimers(1, in: .seconds(1))
        let shutdown = Task { await client.shutdown(finishingWithin: .seconds(60)) }
        await clock.waitForTimers(1, in: .seconds(60))

        let late = await #expect(throws: DownloadFailure.self) {
            try await client.download(DownloadConfiguration(path: "late"))
        }
        clock.advance(by: .seconds(1))
        let file = try await download.value
        await shutdown.value

        #expect(try Data(contentsOf: file.url) == Data("ab".utf8))
        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
        if case .request(.closed)? = late?.reason {
        } else {
            Issue.record("expected a new download to fail: \(late as Any)")
        }
        try FileManager.default.removeItem(at: file.url)
    }

    @Test func `a credential may be refreshed during a shutdown that waits for a call`() async throws {
        let clock = ManualClock()
        let (asked, goOn) = (Latch(), Latch())
        let credentials = Credentials { refresh in
            asked.open()
            await goOn.wait()
            _ = try await refresh.client.send(APIConfiguration(path: "login"))
            return .bearer("new")
        }
        credentials.set(.bearer("old"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(time: clock, options: { $0.credentials = credentials }) {
            let isKnown = $0.url.path == "/v1/login" || $0.headers["Authorization"] == "Bearer new"
            return .status(isKnown ? 200 : 401)
        }
        let call = Task { await client.failure(of: APIConfiguration(path: "a")) }
        await asked.wait()
        let shutdown = Task { await client.shutdown(finishingWithin: .seconds(7)) }
        await clock.waitForTimers(1, in: .seconds(7))

        goOn.open()

        #expect(await call.value == nil)
        await shutdown.value
        #expect(transport.requests.map(\.url.path) == ["/v1/a", "/v1/login", "/v1/a"])
    }

    @Test func `an event source does not reconnect during a shutdown`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock) { request in
            guard request.url.path == "/v1/news" else { return .never }
            return .chunks([Data("data: a\n\n".utf8)], headers: ["Content-Type": "text/event-stream"])
        }
        let running = Task { await client.failure(of: .path("a")) }
        let events = Task {
            var heard: [String] = []
            do {
                for try await event in client.eventSource(.path("news")) { heard.append(event.data) }
            } catch {
                heard.append("\(error)")
            }
            return heard
        }
        await clock.waitForTimers(1, in: .seconds(3))
        let shutdown = Task { await client.shutdown(finishingWithin: .seconds(7)) }
        await clock.waitForTimers(1, in: .seconds(7))

        clock.advance(by: .seconds(3))
        let heard = await events.value
        clock.advance(by: .seconds(4))
        await shutdown.value

        #expect(heard.first == "a" && heard.count == 2)
        #expect(transport.requests.filter { $0.url.path == "/v1/news" }.count == 1)
        #expect(await running.value == .closed)
    }

    @Test func `a shutdown ends the remaining requests at its time limit`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in .never }
        let running = Task { await client.failure(of: .path("a")) }
        #expect(await transport.waitForRequests(1))
        let shutdown = Task { await client.shutdown(finishingWithin: .seconds(5)) }
        await clock.waitForTimers(1, in: .seconds(5))

        clock.advance(by: .seconds(5))
        await shutdown.value

        #expect(await running.value == .closed)
    }
}
