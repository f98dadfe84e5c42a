import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardRequests
import SwitchyardTesting
import Testing

/// The samples of the article on requests, word for word.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RequestSamples {
    private let service: Service
    private let keys = [ServiceEnvironment.test: Data("secret".utf8)]

    init() throws {
        let server = try Server(name: "primary", baseURLs: [.test: ServerURL("http://primary.test/v1")])
        service = try Service(name: "topics", servers: [server], defaultEnvironment: .test)
    }

    @Test func `the samples in the Requests article build the expected requests`() throws {
        let userID = 7
        // sample
        var search = APIConfiguration(path: "users/{id}/topics", query: ["q": "swift & linux", "tags": ["a", "b"]])
        search.pathValues = ["id": userID]
        search.headers = [.accept("application/json")]
        search.timeout = .seconds(5)
        // end
        // sample
        var options = ParameterEncodingOptions()
        options.arrays = .repeated
        options.booleans = .literal
        options.dates = .secondsSince1970
        search.parameterOptions = options
        // end
        try look(at: search)
    }

    private func look(at search: APIConfiguration) throws {
        // sample
        let client = try NetworkClient(service: service) { options in
            options.generator.headers.set("X-App", "demo")
            options.generator.cookies = CookieJar()
            options.generator.modifiers = [RequestCompressor(.gzip).compress]
            options.rules.add("/images/**") { $0.cache.lifetime = .seconds(3600) }
            options.perEnvironment = { generator, environment in
                guard let key = keys[environment] else { return }
                generator.modifiers.append(RequestSigner(.hmacSHA256(key: key), in: .header("X-Signature")).sign)
            }
        }
        // end
        // sample
        let command = try client.request(for: search).curlDescription()
        // end

        let query = "http://primary.test/v1/users/7/topics?q=swift%20%26%20linux&tags=a&tags=b"
        #expect(command.contains(query))
        #expect(command.contains("X-Signature: ***"))
    }

    @Test func `the form in the Requests article can be sent`() throws {
        let movie = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mov")
        try Data("film".utf8).write(to: movie)
        defer { try? FileManager.default.removeItem(at: movie) }
        // sample
        var form = MultipartForm()
        form.append(.field("title", "Holiday"))
        form.append(.file(movie, name: "movie"))

        var upload = APIConfiguration(path: "movies", method: .post, body: .multipart(form))
        upload.idempotencyKey = .automatic
        upload.throttle = .slow
        // end

        let client = try NetworkClient(service: service, transport: StubTransport { _ in .status(201) })
        let request = try client.request(for: upload)
        #expect(request.headers["Idempotency-Key"] != nil)
        #expect(request.headers["Content-Type"] == form.contentType)
    }
}
