import Foundation
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// A validator that is invalid in a header field is not stored with the response.
@Suite(.timeLimit(.minutes(5)), .prompt) struct UnsendableValidatorTests {
    private let folder = TemporaryFolder()

    /// A server whose validators cannot be sent back and whose responses are numbered.
    private func yard(_ headers: HTTPHeaders) throws -> LoopbackYard {
        let yard = try LoopbackYard()
        yard.server.route(nil, "/v1/*") { request in
            var answer = LoopbackResponse.json(#"{"id":1,"title":"\#(request.number)"}"#)
            for field in headers { answer.headers.add(field.name, field.value) }
            return answer
        }
        return yard
    }

    private static let validators: [HTTPHeaders] = [
        ["ETag": "\"v\u{1}\""], ["ETag": "\"v\u{8}\""], ["ETag": "\"v\u{7f}\""],
        ["Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT\u{1}"],
    ]

    @Test(arguments: validators, [CachePolicy.Freshness.lifetime, .http])
    func `an invalid validator of a stored response is not sent by a later call`(
        headers: HTTPHeaders,
        freshness: CachePolicy.Freshness
    )
        async throws
    {
        var fields = headers
        fields.add("Cache-Control", "max-age=60")
        let yard = try yard(fields)
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        call.cache.freshness = freshness
        var refresh = call
        refresh.cache.reading = .never

        var titles = [try await topics.value(Topic.self, for: call).title]
        titles.append(try await topics.value(Topic.self, for: call).title)
        titles.append(try await topics.value(Topic.self, for: refresh).title)
        yard.clock.advance(by: .seconds(100))
        titles.append(try await topics.value(Topic.self, for: call).title)

        #expect(titles == ["1", "1", "2", "3"])
        #expect(yard.server.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
        #expect(yard.server.requests.allSatisfy { $0.headers["If-Modified-Since"] == nil })
    }

    @Test(arguments: validators)
    func `an invalid validator of a stored response is not sent after a restart`(headers: HTTPHeaders)
        async throws
    {
        let yard = try yard(headers)
        defer { yard.stop() }
        var refresh = TopicAPI.topic(1, lifetime: .seconds(60))
        refresh.cache.reading = .never
        var titles: [String] = []
        for _ in 0..<2 {
            let client = try yard.client(of: "topics")
            let disk = try DiskCache(at: folder.url)
            client.responseCache = ResponseCache(disk: disk, time: yard.clock)
            titles.append(try await TopicAPI(client: client).value(Topic.self, for: refresh).title)
            await disk.flush()
        }

        #expect(titles == ["1", "2"])
        #expect(yard.server.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
    }

    // The server decodes header fields as UTF-8. Its U+FFFD shows that the invalid byte arrived unchanged.
    @Test(arguments: [false, true])
    func `an entity tag that is not UTF-8 is sent back byte for byte, even after a restart`(
        isNextRun: Bool
    ) async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.route(nil, "/v1/*") { request in
            guard request.headers["If-None-Match"] != "\"caf\u{FFFD}\"" else { return .status(304) }
            let body = #"{"id":1,"title":"\#(request.number)"}"#
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
            return .raw(Data("\(head)ETag: \"caf".utf8) + [0xE9] + Data("\"\r\n\r\n\(body)".utf8))
        }
        var refresh = TopicAPI.topic(1, lifetime: .seconds(60))
        refresh.cache.reading = .never
        var (client, disk) = (yard.client, try DiskCache(at: folder.url))
        client.responseCache = ResponseCache(disk: disk, time: yard.clock)
        var titles = [try await TopicAPI(client: client).value(Topic.self, for: refresh).title]
        await disk.flush()
        if isNextRun {
            (client, disk) = (try yard.client(of: "topics"), try DiskCache(at: folder.url))
            client.responseCache = ResponseCache(disk: disk, time: yard.clock)
        }
        titles.append(try await TopicAPI(client: client).value(Topic.self, for: refresh).title)

        #expect(titles == ["1", "1"])
        #expect(yard.server.requests.last?.status == 304)
    }

    @Test func `a stored response keeps its valid validator if the validator of a 304 response is invalid`() {
        let stored: HTTPHeaders = ["ETag": "\"v1\"", "Age": "5"]

        let confirmed = HTTPCacheRules.confirmed(stored, by: ["ETag": "\"v\u{1}\"", "X-New": "1"])

        #expect(HTTPCacheRules.concerns(stored, confirmation: ["ETag": "\"v\u{1}\""]))
        #expect(confirmed["ETag"] == "\"v1\"")
        #expect(confirmed["X-New"] == "1")
    }
}
