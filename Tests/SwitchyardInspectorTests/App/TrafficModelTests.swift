#if canImport(Observation)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardInspector

    /// The data of the view in the app.
    @Suite(.timeLimit(.minutes(5)), .prompt) @MainActor struct TrafficModelTests {
        private func lab() throws -> InspectorLab {
            try InspectorLab { request, _ in
                request.url.text.contains("missing") ? .status(404) : .json("[1]")
            }
        }

        /// Starts following, and waits until the inspector observes the client.
        @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
        private func followed(_ model: TrafficModel, _ lab: InspectorLab) async -> Task<Void, Never> {
            let task = Task { await model.follow() }
            await until { lab.inspector.desk.isWatched }
            return task
        }

        @Test func `a view of the inspector records calls while it is visible and shows the newest call first`()
            async throws
        {
            guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) else { return }
            let lab = try lab()
            let model = TrafficModel(lab.inspector)
            let task = await followed(model, lab)
            defer { task.cancel() }

            _ = try await lab.client.send(.path("first"))
            _ = await lab.client.failure(of: .path("missing"))
            await until { lab.inspector.desk.book.news(after: 0).calls.count { $0.end != nil } == 2 }
            while model.feed.calls.count(where: { $0.end != nil }) < 2 {
                lab.clock.advance(by: TrafficModel.pause)
                await Task.yield()
            }

            #expect(model.calls(matching: "").map(\.path) == ["missing", "first"])
            #expect(model.calls(matching: "get MISS").map(\.result) == ["404"])
            #expect(model.calls(matching: "").map(\.hasFailed) == [true, false])
            #expect(model.feed.verdict.headline == "1 of 2 calls failed with a request error: 404 Not Found.")
            let call = try #require(model.calls(matching: "first").first)
            #expect(call.route == "primary")
            #expect(model.detail(of: call)?.attempts.first?.response?.body.text == "[1]")
        }

        @Test func `a view stops following the inspector when the view's task ends`() async throws {
            guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) else { return }
            let lab = try lab()
            let model = TrafficModel(lab.inspector)
            let task = await followed(model, lab)

            task.cancel()
            await task.value

            #expect(model.feed.calls.isEmpty)
        }

        @Test func `a view of a stopped inspector ends immediately and still shows the servers`() async throws {
            guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) else { return }
            let lab = try lab()
            lab.inspector.stop()
            let model = TrafficModel(lab.inspector)

            await model.follow()

            #expect(model.feed.client.servers.count == 2)
        }
    }

    /// The files that the view shares.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct TrafficExportTests {
        private func recorded() async throws -> InspectorLab {
            let lab = try InspectorLab(inspector: .quiet { $0.recordsFromStart = true }) { _, _ in .json("[1]") }
            _ = try await lab.client.send(
                APIConfiguration(path: "topics", headers: ["Authorization": "Bearer hunter2"])
            )
            _ = try await lab.feed(ended: 1)
            return lab
        }

        @Test func `a page that the inspector shares contains the calls with their bodies, and no credentials`()
            async throws
        {
            let html = String(decoding: try TrafficExport.page.data(of: try await recorded().inspector), as: UTF8.self)

            let begin = try #require(html.range(of: #"id="record">"#)).upperBound
            let end = try #require(html.range(of: "</script>", range: begin..<html.endIndex)).lowerBound
            let record = try JSONDecoder().decode(InspectorRecord.self, from: Data(html[begin..<end].utf8))
            #expect(record.name == "topics, test")
            #expect(record.feed.calls.map(\.path) == ["topics"])
            #expect(record.details["1"]?.attempts.first?.response?.body.text == "[1]")
            #expect(!html.contains("hunter2"))
        }

        @Test func `an archive that the inspector shares contains every attempt and no credentials`() async throws {
            let text = String(
                decoding: try TrafficExport.archive.data(of: try await recorded().inspector),
                as: UTF8.self
            )

            #expect(text.contains("/topics"))
            #expect(!text.contains("hunter2"))
        }

        @Test(arguments: [(TrafficExport.archive, "calls.har"), (.page, "calls.html")])
        func `a file that the inspector shares has a name with the right ending`(export: TrafficExport, name: String) {
            #expect(export.fileName == name)
        }
    }
#endif
