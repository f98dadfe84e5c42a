#if canImport(Observation)
    public import Observation

    /// The latest state of a list, or of a resource (`SwitchyardResources`), for SwiftUI, on the main actor.
    ///
    ///     struct TopicList: View {
    ///         @State private var model = ObservedModel(topics.pages)
    ///
    ///         var body: some View {
    ///             List(model.state.items) { Text($0.title) }
    ///                 .task { await model.follow() }
    ///         }
    ///     }
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    @MainActor public final class ObservedModel<State: Sendable>: Observable {
        private let registrar = ObservationRegistrar()
        private var latest: State
        private let updates: @Sendable (@MainActor (State) -> Void) async -> Void

        /// The latest state.
        ///
        /// A SwiftUI view that reads the state is updated when the state changes.
        public var state: State {
            registrar.access(self, keyPath: \.state)
            return latest
        }

        package init(
            _ state: State,
            updates: @escaping @Sendable (@MainActor (State) -> Void) async -> Void
        ) {
            latest = state
            self.updates = updates
        }

        /// Creates a model of a paged list.
        public convenience init<Item: Sendable>(_ recorder: PageRecorder<Item>) where State == PageSnapshot<Item> {
            self.init(recorder.snapshot) { [updates = recorder.updates] take in
                for await state in updates { await take(state) }
            }
        }

        /// Follows the states until the task is cancelled, or the list or resource is released.
        public func follow() async {
            await updates { [weak self] state in self?.take(state) }
        }

        private func take(_ state: State) {
            registrar.withMutation(of: self, keyPath: \.state) { latest = state }
        }
    }
#endif
