import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// The body of a response as bytes and as text.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ResponseBodyTests {
    private static func response(_ bytes: [UInt8], _ type: String?) -> HTTPResponse {
        var headers = HTTPHeaders()
        headers["Content-Type"] = type
        return HTTPResponse(status: 200, headers: headers, body: .whole(Data(bytes)))
    }

    private static let streamed = HTTPResponse(status: 200, body: .stream(HTTPBodyStream { nil }))

    private static let texts: [([UInt8], String?, String?)] = [
        ([0xC3, 0xBC], nil, "ü"),
        ([0xC3, 0xBC], "text/plain", "ü"),
        ([0xFC], "text/plain; charset=iso-8859-1", "ü"),
        ([0xFC], "text/html; charset=\"ISO-8859-1\"", "ü"),
        ([0xC4, 0xE3], "application/json; charset=gbk", "你"),
        ([0xEF, 0xBB, 0xBF, 0x61], "text/plain; charset=iso-8859-1", "a"),
        ([0xFF, 0xFE, 0x61, 0], nil, "a"),
        ([], "text/plain", ""),
        ([0xFC], "text/plain", nil),
        ([0x61], "text/plain; charset=x-nobody-knows", nil),
    ]

    @Test(arguments: texts)
    func `text is decoded by byte order mark, charset or UTF-8`(
        bytes: [UInt8],
        type: String?,
        expected: String?
    ) {
        #expect(Self.response(bytes, type).text == expected)
    }

    @Test func `a streamed body is neither data nor text`() {
        #expect(Self.streamed.data == nil)
        #expect(Self.streamed.text == nil)
    }

    @Test func `a ServiceResponse has the data and text of its response`() {
        let response = Self.response([0xFC], "text/plain; charset=latin1")
        let context = RequestContext(service: "topics", environment: .test, method: .get)
        let answer = ServiceResponse(id: RequestID(), response: response, context: context)

        #expect(answer.data == Data([0xFC]) && answer.text == "ü")
        #expect(ServiceResponse(id: RequestID(), response: Self.streamed, context: context).data == nil)
    }

    @Test func `a response over a socket is decoded by its charset`() async throws {
        let server = LoopbackServer()
        let headers: HTTPHeaders = ["Content-Type": "text/plain; charset=windows-1251"]
        server.route(.get, "/greeting", answering: .status(418, headers: headers, body: Data([0xCF, 0xF0])))
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: Service(name: "topics", baseURL: server.baseURL))
        defer { client.shutdown() }

        let answer = try await client.send(APIConfiguration(path: "greeting"))

        #expect(answer.status == 418)
        #expect(answer.text == "Пр")
    }

    @Test func `the text of a failed download is decoded by the server's charset`() async throws {
        let server = LoopbackServer()
        let headers: HTTPHeaders = ["Content-Type": "text/plain; charset=iso-8859-1"]
        server.route(.get, "/film", answering: .status(403, headers: headers, body: Data([0xFC])))
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: Service(name: "topics", baseURL: server.baseURL))
        defer { client.shutdown() }

        let failure = await #expect(throws: DownloadFailure.self) {
            try await client.download(DownloadConfiguration(path: "film"))
        }

        #expect(failure?.status == 403)
        #expect(failure?.text == "ü")
    }
}
