import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// A download whose entity tag is invalid in a header field starts again and does not fail.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UnsendableValidatorTests {
    private let bytes = DownloadLab.bytes(700_000)

    @Test(arguments: ["\u{1}", "\u{8}", "\u{7f}"])
    func `a download whose entity tag cannot be sent starts again`(control: String) async throws {
        let lab = try await DownloadLab.cut(LoopbackContent(bytes, entityTag: "\"v\(control)\""))

        let file = try await lab.client.download(lab.download())

        #expect(file.resumedBytes == 0)
        #expect(try lab.content == bytes)
        #expect(lab.ranges == [nil, nil])
    }

    @Test func `Last-Modified is the validator if the entity tag cannot be sent`() async throws {
        let date = "Wed, 21 Oct 2015 07:28:00 GMT"
        let lab = try await DownloadLab.cut(LoopbackContent(bytes, entityTag: "\"v\u{1}\"", lastModified: date))

        _ = try await lab.client.download(lab.download())

        #expect(try lab.content == bytes)
        #expect(lab.ranges == [nil, "bytes=300000-"])
        #expect(lab.server.requests.last?.headers["If-Range"] == date)
    }

    @Test func `a download record with an entity tag that cannot be sent is ignored`() async throws {
        let lab = try await DownloadLab.cut(LoopbackContent(bytes, entityTag: "\"v1\""))
        let name = try #require(try lab.files.first { $0.hasSuffix(".json") })
        let record = lab.folder.appendingPathComponent(name)
        let text = try String(contentsOf: record, encoding: .utf8)
        let changed = text.replacingOccurrences(of: "v1", with: #"v\u0001"#)
        try #require(changed != text)
        try Data(changed.utf8).write(to: record)

        _ = try await lab.client.download(lab.download())

        #expect(try lab.content == bytes)
        #expect(lab.ranges == [nil, nil])
    }

    @Test func `a file whose entity tag cannot be sent is downloaded over one connection`() async throws {
        let lab = try DownloadLab()
        let long = DownloadLab.bytes(5 << 20)
        lab.serve(LoopbackContent(long, entityTag: "\"v\u{1}\""))

        _ = try await lab.client.download(lab.download { $0.connections = 4 })

        #expect(try lab.content == long)
        #expect(lab.ranges == [nil])
    }
}
