#if os(Linux)
    import SwitchyardHTTP
    import SwitchyardServices

    /// The current loop of a transport, and earlier loops whose exchanges have not ended yet.
    ///
    /// Connections belong to a loop. If a transport must not reuse its connections, it therefore continues with a new
    /// loop.
    final class CurlLoops: Sendable {
        /// A reference that keeps a loop open for new exchanges.
        ///
        /// When all leases are released, the loop closes after its last exchange.
        final class Lease: Sendable {
            let loop: CurlLoop

            init(_ loop: CurlLoop) {
                self.loop = loop
            }

            deinit {
                loop.close(.whenIdle)
            }
        }

        private struct Retired: Sendable {
            weak var loop: CurlLoop?
        }

        private struct State {
            var current: Lease
            var retired: [Retired] = []
            var isClosed = false
        }

        private let settings: CurlSettings
        private let servers: CurlServers
        private let state: Locked<State>

        init(settings: CurlSettings) throws(TransportError) {
            self.settings = settings
            servers = try CurlServers()
            state = Locked(State(current: Lease(try CurlLoop(settings: settings, servers: servers))))
        }

        /// The loop for a new exchange, open until the lease is released.
        var current: Lease { state.withLock { $0.current } }

        /// Makes later exchanges use a new loop.
        ///
        /// A loop that has not started yet has no connections and is kept.
        func refresh() {
            guard current.loop.hasThread else { return }
            // If the system has no descriptors left for another loop, the old loop with its connections is kept.
            guard let new = try? CurlLoop(settings: settings, servers: servers) else { return }
            let lease = Lease(new)
            // The replaced lease is released after the lock.
            _ = state.withLock { state -> Lease? in
                guard !state.isClosed else { return nil }
                defer { state.current = lease }
                state.retired.removeAll { $0.loop == nil }
                state.retired.append(Retired(loop: state.current.loop))
                return state.current
            }
        }

        /// Closes all loops immediately.
        func close() {
            let loops = state.withLock { state in
                state.isClosed = true
                return state.retired.compactMap(\.loop) + [state.current.loop]
            }
            for loop in loops { loop.close(.now) }
        }
    }
#endif
