#if canImport(Observation)
    import Observation
    import SwitchyardAPI
    import SwitchyardFixtures
    import SwitchyardResources
    import SwitchyardTesting
    import Testing

    @Suite(.timeLimit(.minutes(5)), .prompt) struct ObservedModelTests {
        @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
        @MainActor @Test func `the observers of an ObservedModel are notified when its list changes`() async throws {
            let recorder = PageRecorder<Int>(pageSize: 2)
            let model = ObservedModel(recorder)
            let follower = Task { await model.follow() }
            #expect(model.state.items.isEmpty)

            try await recorder.refresh { _ in Page([1, 2]) }
            while model.state.items.isEmpty {
                // Nothing happens on the main actor between this check and the tracked access.
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    withObservationTracking {
                        _ = model.state
                    } onChange: {
                        continuation.resume()
                    }
                }
                await Task.yield()
            }

            #expect(model.state.items == [1, 2])
            follower.cancel()
            await follower.value
        }

        @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
        @MainActor @Test func `an ObservedModel follows a resource until its task is cancelled`() async throws {
            let transport = StubTransport { _ in .json(#"{"id":1,"title":"a"}"#) }
            let topics = TopicAPI(client: try .stubbed(transport))
            let topic = topics.resource(Topic.self, for: TopicAPI.topic(1))
            let model = ObservedModel(topic)
            let follower = Task { await model.follow() }
            try await topic.load()
            await until { model.state.value != nil }

            #expect(model.state.value?.title == "a")
            follower.cancel()
            await follower.value
        }
    }
#endif
