import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// The initializers that calls, downloads and uploads share.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SiblingInitializerTests {
    private static func asked(_ body: (NetworkClient) async throws -> Void) async throws -> RecordedRequest {
        let server = LoopbackServer()
        server.route(nil, "/films", answering: .text("film"))
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: Service(name: "films", baseURL: server.baseURL))
        defer { client.shutdown() }
        try await body(client)
        return try #require(server.requests.first)
    }

    @Test func `a download takes method, query, body and header fields like a call`() async throws {
        let request = try await Self.asked { client in
            let download = DownloadConfiguration(
                path: "films",
                method: .post,
                query: ["id": 7],
                body: .text("wide"),
                headers: ["X-Form": "long"]
            )
            let file = try await client.download(download)
            try FileManager.default.removeItem(at: file.url)
        }

        #expect(request.method == .post && request.target == "/films?id=7")
        #expect(request.text == "wide" && request.headers["X-Form"] == "long")
    }

    @Test func `an upload takes method, query and header fields like a call`() async throws {
        let request = try await Self.asked { client in
            let upload = UploadConfiguration(
                path: "films",
                method: .put,
                query: ["id": 7],
                headers: ["X-Form": "long"],
                from: .data(Data("film".utf8))
            )
            _ = try await client.upload(upload)
        }

        #expect(request.method == .put && request.target == "/films?id=7")
        #expect(request.text == "film" && request.headers["X-Form"] == "long")
    }

    @Test func `a form may have text parts besides data and files`() async throws {
        let parts: [MultipartPart] = [
            .text("Holiday", name: "title"), .text("{}", name: "facts", contentType: "application/json"),
            .text("a,b", name: "table", fileName: "table.csv"),
        ]
        let request = try await Self.asked { client in
            let form = UploadSource.form(MultipartForm(parts: parts))
            _ = try await client.upload(UploadConfiguration(path: "films", from: form))
        }

        #expect(request.text.contains("name=\"title\"\r\n\r\nHoliday\r\n"))
        #expect(request.text.contains("name=\"facts\"\r\nContent-Type: application/json\r\n\r\n{}\r\n"))
        #expect(request.text.contains("filename=\"table.csv\"\r\nContent-Type: text/csv\r\n\r\na,b\r\n"))
    }
}
