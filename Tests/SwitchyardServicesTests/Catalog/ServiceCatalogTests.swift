import Foundation
import SwitchyardServices
import Testing

@Suite struct ServiceCatalogTests {
    private static let shipped = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../Services"
    )

    @Test func `the shipped service files are read in the order of their names`() throws {
        let catalog = try ServiceCatalog(contentsOf: ServiceCatalogTests.shipped)

        #expect(catalog.services.map(\.name) == ["topics", "users"])
        let topics = try catalog.service(named: "topics")
        #expect(topics.servers.map(\.id) == ["primary", "secondary", "tertiary"])
        #expect(topics.defaultEnvironment == .test)
        #expect(topics.environments == [.develop, .release, .test])
        #expect(topics.servers.first?.baseURLs[.release]?.text == "https://topics.example.com/v1")
        #expect(topics.switching == .recommended)
    }

    @Test func `a single service file becomes a catalog with one service`() throws {
        let file = ServiceCatalogTests.shipped.appending(path: "users.json")

        #expect(try ServiceCatalog(contentsOf: file).services.map(\.name) == ["users"])
    }

    @Test func `asking a catalog for an unknown service is an error that lists the known services`() throws {
        let catalog = try ServiceCatalog(contentsOf: ServiceCatalogTests.shipped)

        let error = #expect(throws: CatalogError.self) { try catalog.service(named: "news") }

        #expect(error?.kind == .unknownService)
        #expect(error?.expected == "one of topics, users")
    }

    @Test func `reading a service catalog from a folder without service files is an error`() throws {
        try withTemporaryFolder { folder in
            try Data("{}".utf8).write(to: folder.appending(path: ".hidden.json"))

            let error = #expect(throws: CatalogError.self) { try ServiceCatalog(contentsOf: folder) }

            #expect(error?.kind == .emptyCatalog)
        }
    }

    @Test func `reading a service catalog from a missing folder is an error`() throws {
        try withTemporaryFolder { folder in
            let error = #expect(throws: CatalogError.self) {
                try ServiceCatalog(contentsOf: folder.appending(path: "missing.json"))
            }

            #expect(error?.kind == .unreadable)
        }
    }

    @Test func `the error for a missing service file names its folder`() throws {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "missing.json")

            let error = #expect(throws: CatalogError.self) { try ServiceCatalog.service(contentsOf: file) }

            #expect(error?.kind == .unreadable)
            #expect(error?.description == "\(file.path): expected a service file, found nothing")
        }
    }

    @Test func `reading a folder that has the name of a service file is an error`() throws {
        try withTemporaryFolder { folder in
            let odd = folder.appending(path: "topics.json")
            try FileManager.default.createDirectory(at: odd, withIntermediateDirectories: false)

            let error = #expect(throws: CatalogError.self) { try ServiceCatalog(contentsOf: folder) }

            #expect(error?.kind == .unreadable)
            #expect(error?.file == "topics.json")
            #expect(error?.description.hasSuffix("expected a readable file, found a folder") == true)
        }
    }

    @Test func `reading a device that has the name of a service file is an error`() throws {
        try withTemporaryFolder { folder in
            let odd = folder.appending(path: "topics.json")
            try FileManager.default.createSymbolicLink(atPath: odd.path, withDestinationPath: "/dev/null")

            let error = #expect(throws: CatalogError.self) { try ServiceCatalog.service(contentsOf: odd) }

            #expect(error?.description == "topics.json: expected a readable file, found a device or a pipe")
        }
    }

    private func withTemporaryFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "services-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }
}
