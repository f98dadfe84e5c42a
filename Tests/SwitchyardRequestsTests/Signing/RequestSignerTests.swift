import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import Testing

@Suite struct RequestSignerTests {
    private func request(_ configuration: APIConfiguration, _ signer: RequestSigner) throws -> HTTPRequest {
        try BuiltRequest.request(configuration) { $0.modifiers = [signer.sign] }
    }

    @Test func `the canonical text of a signature contains method, path, query, headers and body`() throws {
        let signer = RequestSigner(
            .hmacSHA256(key: Data("k".utf8)),
            of: .canonical(headers: ["X-B", "X-A"]),
            in: .header("X-S")
        )
        let configuration = APIConfiguration(
            path: "x?z=1",
            method: .post,
            query: ["a": 2],
            body: .json(["b": 1]),
            headers: ["X-A": "1", "X-B": "2"]
        )

        let signed = try request(configuration, signer)

        let body = MessageDigest.sha256(Data(#"{"b":1}"#.utf8)).hexText
        let text = "POST\n/v1/x\na=2&z=1\nx-a:1;x-b:2\n\(body)"
        #expect(try String(decoding: signer.signedBytes(of: signed), as: UTF8.self) == text)
        #expect(signed.headers["X-S"] == MessageDigest.hmacSHA256(Data(text.utf8), key: Data("k".utf8)).hexText)
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `the signature of a query or a form is the digest of the sorted parameters and a secret`(method: HTTPMethod)
        throws
    {
        var configuration = APIConfiguration(path: "x", method: method)
        configuration.parameters = ["b": "ü &", "a": 1]
        let signer = RequestSigner(.md5(secret: "S"), of: .parameters, in: .query("sign"))

        let signed = try request(configuration, signer)

        let expected = MessageDigest.md5(Data("a=1&b=ü &S".utf8)).hexText
        #expect(signed.url.query?.hasSuffix("sign=\(expected)") == true)
    }

    @Test func `a signature may use a plain digest or a custom digest`() throws {
        let plain = RequestSigner(.sha256(secret: "S"), of: .pathAndParameters, in: .header("X-S"))
        let own = RequestSigner(.custom { "\($0.count)" }, of: .custom { Data($0.url.text.utf8) }, in: .header("X-S"))
        let configuration = APIConfiguration(path: "x", query: ["a": 1])

        let expected = MessageDigest.sha256(Data("/v1/xa=1S".utf8)).hexText
        #expect(try request(configuration, plain).headers["X-S"] == expected)
        #expect(try request(configuration, own).headers["X-S"] == "32")
    }

    @Test func `signing a streamed body throws`() {
        let stream = HTTPBody.Stream(length: nil) { AsyncStream<Data> { $0.finish() } }
        let configuration = APIConfiguration(method: .post, body: .stream(stream))
        let signer = RequestSigner(.hmacSHA256(key: Data()), in: .header("X-S"))

        #expect(
            BuiltRequest.failure(configuration) { $0.modifiers = [signer.sign] }
                == .body(kind: "streamed", reason: .notInMemory)
        )
    }

    @Test func `equal parameters in any order give the same digest in a signature`() throws {
        let first = try BuiltRequest.request(APIConfiguration(method: .post, body: .json(["a": 1, "b": 2])))
        let second = try BuiltRequest.request(APIConfiguration(method: .post, body: .json(["b": 2, "a": 1])))

        #expect(try first.body.sha256() == second.body.sha256())
    }

    @Test func `descriptions of a request signer do not contain its key`() {
        let methods: [RequestSigner.Method] = [
            .hmacSHA256(key: Data("S3CR3T".utf8)), .sha256(secret: "S3CR3T"), .md5(secret: "S3CR3T"),
        ]

        for method in methods {
            let signer = RequestSigner(method, in: .header("X-S"))
            #expect(!"\(signer) \(String(reflecting: signer)) \(method)".contains("S3CR3T"))
        }
    }
}
