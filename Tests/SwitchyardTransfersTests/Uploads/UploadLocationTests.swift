import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// The upload URL of a resumable upload whose server sends a plain http `Location`.
@Suite(.timeLimit(.minutes(5)), .prompt) struct UploadLocationTests {
    private func client(_ location: String) throws -> (NetworkClient, StubTransport) {
        let transport = StubTransport { request in
            switch request.method {
            case .post: .status(201, headers: ["Location": location])
            default: .status(204, headers: ["Upload-Offset": "3"])
            }
        }
        let server = try Server(name: "primary", baseURLs: [.test: ServerURL("https://files.test/v1")])
        let service = try Service(name: "files", servers: [server], defaultEnvironment: .test, switching: .off)
        let client = try NetworkClient(service: service, transport: transport) { $0.insecureHTTP = .allowed }
        return (client, transport)
    }

    private static let resumptions: [UploadResumption] = [.tus(), .contentRange()]

    private func upload(_ resumption: UploadResumption) -> UploadConfiguration {
        var upload = UploadConfiguration(path: "files", from: .data(Data("abc".utf8)))
        upload.resumption = resumption
        return upload
    }

    @Test(arguments: ["http://files.test/v1/files/1", "http://files.test:443/v1/files/1", "/v1/files/1"])
    func `an http Location on the host of an https server becomes https`(location: String) async throws {
        for resumption in Self.resumptions {
            let (client, transport) = try client(location)

            _ = try await client.upload(upload(resumption))

            #expect(transport.requests.last?.url.text == "https://files.test/v1/files/1")
        }
    }

    @Test(arguments: ["http://files.test:1080/files/1", "http://backend.local/files/1"])
    func `a Location that leads from https to http is an error`(location: String) async throws {
        for resumption in Self.resumptions {
            let (client, transport) = try client(location)

            let failure = await #expect(throws: RequestFailure.self) { _ = try await client.upload(upload(resumption)) }

            let expected = RequestError.url(text: location, reason: .downgrade(from: "https://files.test"))
            #expect(failure?.reason == .invalidRequest(expected))
            #expect(transport.requests.map(\.method) == [.post])
        }
    }
}
