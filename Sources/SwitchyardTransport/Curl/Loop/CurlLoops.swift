#if os(Linux)
    import SwitchyardHTTP
    import SwitchyardServices

    /// The loop of a transport, and those before it that still end what they have begun.
    ///
    /// Connections belong to a loop, so a transport that wants none of its old ones goes on with a new loop.
    final class CurlLoops: Sendable {
        /// Keeps a loop open to new exchanges; when nobody has it any more, the loop closes behind its last exchange.
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
        private let state: Locked<State>

        init(settings: CurlSettings) throws(TransportError) {
            self.settings = settings
            state = Locked(State(current: Lease(try CurlLoop(settings: settings))))
        }

        /// The loop for a new exchange, open until the lease is given back.
        var current: Lease { state.withLock { $0.current } }

        /// Has the next exchanges go to a new loop; one that has begun nothing has no connections and stays.
        func renew() {
            guard current.loop.hasThread else { return }
            // Where the system has no descriptors left for another loop, the old connections are better than none.
            guard let new = try? CurlLoop(settings: settings) else { return }
            let lease = Lease(new)
            // What gives way is released behind the lock.
            _ = state.withLock { state -> Lease? in
                guard !state.isClosed else { return nil }
                defer { state.current = lease }
                state.retired.removeAll { $0.loop == nil }
                state.retired.append(Retired(loop: state.current.loop))
                return state.current
            }
        }

        /// Ends all of them at once.
        func close() {
            let loops = state.withLock { state in
                state.isClosed = true
                return state.retired.compactMap(\.loop) + [state.current.loop]
            }
            for loop in loops { loop.close(.now) }
        }
    }
#endif
