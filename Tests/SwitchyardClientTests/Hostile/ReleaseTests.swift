import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Objects that are released inside their own callbacks: rules 6 and 8 of a request's life.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ReleaseTests {
    /// Holds a value until `letGo`.
    private final class Holder<Value: Sendable>: Sendable {
        private let value: Locked<Value?>

        init(_ value: Value) {
            self.value = Locked(value)
        }

        func use(_ body: (Value) -> Void) {
            if let value = value.withLock({ $0 }) { body(value) }
        }

        func letGo() {
            let value = value.withLock { value in
                defer { value = nil }
                return value
            }
            withExtendedLifetime(value) {}
        }
    }

    /// Runs a closure when it is deallocated.
    private final class Farewell: Sendable {
        private let words: @Sendable () -> Void

        init(_ words: @escaping @Sendable () -> Void) {
            self.words = words
        }

        deinit {
            words()
        }
    }

    @Test func `the last reference to a client can be released on a thread of its transport`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/v", answering: .text("hello"))
        try server.start()
        defer { server.stop() }
        let holder = Holder(try NetworkClient(service: .loopback([server]), environment: .test))
        let ended = Latch()

        holder.use { client in
            client.send(APIConfiguration(path: "v"), on: .global(), progress: { _ in holder.letGo() }) { _ in
                ended.open()
            }
        }
        await ended.wait()

        #expect(await server.wait { $0.connectionsOpen == 0 })
    }

    @Test(arguments: [true, false])
    func `an object that only a cancelled timer keeps alive may set and cancel timers in its deinit`(isManual: Bool)
        async
    {
        let time: any TimeSource = isManual ? ManualClock() : SystemTime()
        let other = time.schedule(at: time.now.advanced(by: .seconds(3_600))) {}
        let isGone = Locked(false)
        let farewell = Farewell {
            other.cancel()
            time.schedule(at: time.now.advanced(by: .seconds(3_600))) {}.cancel()
            isGone.withLock { $0 = true }
        }
        let timer = time.schedule(at: time.now.advanced(by: .seconds(60))) { [farewell] in
            withExtendedLifetime(farewell) {}
        }
        _ = consume farewell

        timer.cancel()

        #expect(isGone.withLock { $0 })
    }

    @Test func `an object that only a completion handler keeps alive may send and cancel requests in its deinit`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }
        let second = Latch()
        let farewell = Farewell {
            let id = client.send(APIConfiguration(path: "second"), on: .global()) { _ in second.open() }
            client.cancel(id)
            client.cancelAll()
        }

        client.send(APIConfiguration(path: "first"), on: .global()) { [farewell] _ in
            withExtendedLifetime(farewell) {}
        }
        _ = consume farewell
        await second.wait()

        #expect(await client.waitUntilIdle())
        #expect(await transport.waitUntilIdle())
    }

    @Test func `a request whose interceptor sends further requests without end fails at its deadline`() async throws {
        let clock = ManualClock()
        let depth = Locked(0)
        let deep = Latch()
        let slot = Locked<NetworkClient?>(nil)
        let (client, transport) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.interceptors = [
                    .adapting { configuration, _ in
                        let reached = depth.withLock { depth in
                            depth += 1
                            return depth
                        }
                        if reached == 200 { deep.open() }
                        guard reached < 200 else { return try await clock.sleep(for: .seconds(3_600)) }
                        _ = try await slot.withLock { $0 }?.send(configuration)
                    }
                ]
            }
        ) { _ in .status(200) }
        slot.withLock { $0 = client }

        let call = Task { await client.failure(of: APIConfiguration(path: "x", timeout: .seconds(5))) }
        await deep.wait()
        clock.advance(by: .seconds(5))

        #expect(await call.value == .deadlineExceeded)
        #expect(await client.waitUntilIdle())
        #expect(transport.requestCount == 0)
        slot.withLock { $0 = nil }
    }
}
