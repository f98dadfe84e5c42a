import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct RequestCompressorTests {
    /// Decompresses gzip with the system's tool.
    private func unzipped(_ data: Data) throws -> Data {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).gz")
        defer { try? FileManager.default.removeItem(at: file) }
        try data.write(to: file)
        return try ChildCommand.run(["gzip", "-dc", file.path])
    }

    static let samples: [Data] = [
        Data(), Data("a".utf8), Data("abcabcabcabc".utf8), Data(repeating: 7, count: 70_000),
        Data(String(repeating: #"{"id":1,"title":"a topic","tags":["x","y"]},"#, count: 500).utf8),
        {
            var generator = SplitMix(state: 1)
            return Data((0..<10_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        }(),
    ]

    @Test(arguments: samples.indices)
    func `compressed request data decompresses to the original`(index: Int) throws {
        let data = Self.samples[index]

        #expect(try unzipped(RequestCompressor.compressed(data, .gzip)) == data)
    }

    @Test func `data that repeats a block from outside the compression window decompresses to the original`() throws {
        var generator = SplitMix(state: 2)
        let block = (0..<33_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        let data = Data(block + block + block[..<100] + block)

        #expect(try unzipped(RequestCompressor.compressed(data, .gzip)) == data)
    }

    @Test func `a large compressible body is compressed and gets Content-Encoding`() throws {
        let body = RequestBody.data(Self.samples[4], contentType: "application/json")
        let request = try BuiltRequest.request(APIConfiguration(method: .post, body: body)) {
            $0.modifiers = [RequestCompressor().compress]
        }

        #expect(request.headers["Content-Encoding"] == "deflate")
        #expect(try #require(request.body.length) < Self.samples[4].count / 10)
    }

    // HTTP's deflate coding is the zlib format (RFC 9110 section 8.4.1.2).
    @Test func `a request body that is compressed with deflate has the header and checksum of zlib`() {
        let data = Data("Wikipedia".utf8)
        let (zlib, gzip) = (RequestCompressor.compressed(data, .deflate), RequestCompressor.compressed(data, .gzip))

        #expect(zlib.prefix(2) == Data([0x78, 0x9C]))
        #expect(zlib.suffix(4) == Data([0x11, 0xE6, 0x03, 0x98]))
        #expect(zlib.dropFirst(2).dropLast(4) == gzip.dropFirst(10).dropLast(8))
    }

    @Test(arguments: [(1023, false), (1024, true)])
    func `request bodies from 1,024 bytes on, or those that the app selects, are compressed`(
        count: Int,
        byDefault: Bool
    ) throws {
        func isCompressed(_ compressor: RequestCompressor) throws -> Bool {
            let configuration = APIConfiguration(method: .post, body: .data(Data(count: count)))
            let request = try BuiltRequest.request(configuration) { $0.modifiers = [compressor.compress] }
            return request.headers["Content-Encoding"] != nil
        }

        #expect(try isCompressed(RequestCompressor()) == byDefault)
        #expect(try isCompressed(RequestCompressor { $0.count == count }))
        #expect(try !isCompressed(RequestCompressor { $0.count != count }))
    }

    @Test func `a small, random or missing request body is not compressed`() throws {
        for body in [RequestBody.none, .text("short"), .data(Self.samples[5])] {
            let request = try BuiltRequest.request(APIConfiguration(method: .post, body: body)) {
                $0.modifiers = [RequestCompressor().compress]
            }
            #expect(request.headers["Content-Encoding"] == nil)
        }
    }

    @Test func `a request body that is already encoded is kept, encoded again or rejected`() throws {
        let configuration = APIConfiguration(
            method: .post,
            body: .data(Self.samples[4]),
            headers: [.contentEncoding("br")]
        )
        func encoding(_ encoded: RequestCompressor.Encoded) throws -> String? {
            try BuiltRequest.request(configuration) {
                $0.modifiers = [RequestCompressor(.gzip, encoded: encoded).compress]
            }
            .headers["Content-Encoding"]
        }

        #expect(try encoding(.skipped) == "br")
        #expect(try encoding(.replaced) == "gzip")
        #expect(throws: RequestError.self) { try encoding(.refused) }
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
