import Foundation
import SwitchyardServices
import Testing

@Suite struct ServiceCatalogTests {
    @Test func `the shipped service files are read in the order of their names`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Services")

        let catalog = try ServiceCatalog(contentsOf: folder)

        #expect(catalog.services.map(\.name) == ["topics", "users"])
        let topics = try catalog.service(named: "topics")
        #expect(topics.servers.map(\.id) == ["primary", "secondary", "tertiary"])
        #expect(topics.defaultEnvironment == .test)
        #expect(topics.environments == [.develop, .release, .test])
        #expect(topics.servers.first?.baseURLs[.release]?.text == "https://topics.example.com/v1")
        #expect(topics.switching == .recommended)
    }
}
