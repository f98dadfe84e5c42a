#if canImport(Observation)
    public import SwitchyardAPI

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    extension ObservedModel {
        /// Creates a model whose state is the latest snapshot of a resource.
        public convenience init<Value: Sendable>(_ resource: APIResource<Value>)
        where State == ResourceSnapshot<Value> {
            self.init(resource.snapshot) { [updates = resource.updates] take in
                for await state in updates { await take(state) }
            }
        }
    }
#endif
