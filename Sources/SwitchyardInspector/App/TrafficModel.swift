#if canImport(Observation)
    import Observation
    import SwitchyardClient
    import SwitchyardServices

    /// The calls, servers and events of an inspector, for a view in the app itself.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    @MainActor final class TrafficModel: Observable {
        /// The minimum time between two updates, so that many calls do not keep the main actor busy.
        static let pause = Duration.milliseconds(250)

        private let inspector: TrafficInspector
        private let registrar = ObservationRegistrar()
        private lazy var latest = inspector.desk.latest()

        /// Creates a model, which reads the calls when they are first used.
        init(_ inspector: TrafficInspector) {
            self.inspector = inspector
        }

        /// Everything that the inspector keeps.
        var feed: InspectorFeed {
            registrar.access(self, keyPath: \.feed)
            return latest
        }

        /// The calls that contain a text in their method, path, servers or outcome, the newest call first.
        func calls(matching text: String) -> [InspectedCall] {
            let words = text.lowercased().split(separator: " ")
            return feed.calls.reversed().filter { call in
                let searched = "\(call.method) \(call.path) \(call.route) \(call.result)".lowercased()
                return words.allSatisfy { searched.contains($0) }
            }
        }

        /// Returns the requests and responses of a call, or `nil` if the call is no longer kept.
        func detail(of call: InspectedCall) -> CallDetail? { inspector.desk.book.detail(of: call.number) }

        /// Updates the feed after each change, until the task is cancelled or the inspector has stopped.
        ///
        /// Meanwhile the inspector observes the client, as while a page is open.
        func follow() async {
            let desk = inspector.desk
            var isFirst = true
            while !Task.isCancelled, await desk.feed(after: isFirst ? 0 : latest.cursor) != nil {
                isFirst = false
                let feed = desk.latest()
                registrar.withMutation(of: self, keyPath: \.feed) { latest = feed }
                do { try await desk.client.time.sleep(for: Self.pause) } catch { return }
            }
        }
    }
#endif
