import Foundation
import Switchyard
import Testing

@testable import yard

/// Compiles and runs the samples of the article on generating that use the demo's backend.
@Suite(.timeLimit(.minutes(20))) struct ForumSamples {
    private func readTitles(_ serviceFile: URL) async throws -> [String] {
        var lines: [String] = []
        let show: (String) -> Void = { lines.append($0) }
        // sample
        let service = try ServiceCatalog.service(contentsOf: serviceFile)
        let forum = ForumClient(client: try NetworkClient(service: service))
        let topic = try await forum.topics.get(id: 3).data
        show(topic.title)
        // end
        // sample
        let list = forum.topics.listPages(pageSize: 20)
        for try await topic in list.all { show(topic.title) }
        // end
        return lines
    }

    @Test func `the code samples in the article about generated clients run with the demo's backend`() async throws {
        let machines = try yard.Forum()
        defer { machines.stop() }
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("forum.json")
            try Data(machines.serviceFile.utf8).write(to: file)

            let titles = try await readTitles(file)

            #expect(titles == ["Topic 3"] + (1...57).map { "Topic \($0)" })
        }
    }
}
