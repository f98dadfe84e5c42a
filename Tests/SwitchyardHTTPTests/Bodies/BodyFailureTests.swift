import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

/// Bodies that fail while they are sent.
///
/// Each call ends with one typed error.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BodyFailureTests {
    private struct Torn: Error {}

    /// The failure of a call with that body, and the number of complete requests that the server received.
    private func outcome(
        of body: RequestBody,
        headers: HTTPHeaders = [],
        before change: () throws -> Void = {}
    ) async throws -> (reason: RequestFailure.Reason?, whole: Int) {
        let server = LoopbackServer()
        server.setDefaultRoute { request in
            _ = try await request.body.collect()
            return .text("ok")
        }
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: .loopback([server]))
        defer { client.shutdown() }
        try change()
        let reason = await client.failure(of: APIConfiguration(path: "up", method: .post, body: body, headers: headers))
        #expect(client.activeRequests.isEmpty)
        return (reason, server.requests.count { $0.isComplete })
    }

    private func kind(_ reason: RequestFailure.Reason?) -> TransportError.Kind? {
        if case .transport(let error) = reason { return error.kind }
        return nil
    }

    @Test(arguments: [Int64(3), 9])
    func `a body stream that yields more or fewer bytes than announced fails the request`(announced: Int64) async throws
    {
        let stream = HTTPBody.Stream.of([Data("12345".utf8)], length: announced)

        let (reason, whole) = try await outcome(of: .stream(stream))

        #expect(kind(reason) == .requestBodyFailed)
        #expect(whole == 0)
    }

    @Test func `a body stream that throws fails the request`() async throws {
        let stream = HTTPBody.Stream {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("a".utf8))
                continuation.finish(throwing: Torn())
            }
        }

        let (reason, whole) = try await outcome(of: .stream(stream))

        #expect(kind(reason) == .requestBodyFailed)
        #expect(whole == 0)
    }

    @Test(arguments: ["99", "0", "-1", "many"])
    func `a Content-Length that differs from the body fails the request`(value: String) async throws {
        let (reason, whole) = try await outcome(of: .text("12345"), headers: ["Content-Length": value])

        #expect(kind(reason) == .invalidRequest)
        #expect(whole == 0)
    }

    @Test func `a file that was deleted before the call fails the request`() async throws {
        let folder = try MultipartFormTests.Folder()
        let file = try folder.file("f", Data("12345".utf8))
        let body = RequestBody.multipart(MultipartForm(parts: [.file(file, name: "f")]))

        let (reason, whole) = try await outcome(of: body) { try FileManager.default.removeItem(at: file) }

        #expect(reason == .invalidRequest(.file(path: file.path, reason: .unreadable("there is no such file"))))
        #expect(whole == 0)
    }

    @Test(arguments: [-1, 1])
    func `a form's file that grows or shrinks while it is sent fails the request`(change: Int) async throws {
        let folder = try MultipartFormTests.Folder()
        let file = try folder.file("f", Data(count: 300_000))
        let size = UInt64(300_000 + change)
        // The form's first part is read before the file, so the length has already been announced.
        let first = HTTPBody.Stream(length: 1) { ResizingReader(file: file, size: size) }
        let form = MultipartForm(parts: [.stream(first, name: "first"), .file(file, name: "f")])

        let (reason, whole) = try await outcome(of: .multipart(form))

        #expect(kind(reason) == .requestBodyFailed)
        #expect(whole == 0)
    }

    @Test func `a file without read permission fails the request`() async throws {
        let folder = try MultipartFormTests.Folder()
        let file = try folder.file("f", Data("x".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path)
        // The superuser can read the file anyway.
        guard !FileManager.default.isReadableFile(atPath: file.path) else { return }

        let (reason, _) = try await outcome(of: .file(file))

        let expected = RequestError.FileReason.unreadable("no permission to read it")
        #expect(reason == .invalidRequest(.file(path: file.path, reason: expected)))
    }

    @Test func `a form with a hundred thousand fields arrives`() async throws {
        var fields = Parameters()
        for number in 0..<100_000 { fields.append("key[\(number)]", number) }

        let (reason, whole) = try await outcome(of: .form(fields))
        let tooLong = BuiltRequest.failure(APIConfiguration(query: fields))

        #expect(reason == nil)
        #expect(whole == 1)
        guard case .url(_, .tooLong) = tooLong else { return #expect(Bool(false)) }
    }

    #if os(Linux)
        @Test(.startsProcess) func `a form of 256 MB is never held in memory`() async {
            // In its own process, where no other test allocates memory.
            await #expect(processExitsWith: .success) {
                let folder = try MultipartFormTests.Folder()
                let file = try folder.file("large", Data())
                let handle = try FileHandle(forWritingTo: file)
                try handle.truncate(atOffset: 1 << 28)
                try handle.close()
                let body = try MultipartForm(parts: [.file(file, name: "f")]).body()
                let reader = try #require(try body.makeReader())
                let start = try ResidentMemory.bytes()

                var (count, peak) = (Int64(0), start)
                while let piece = try await reader.read(maximumLength: 1 << 20) {
                    count += Int64(piece.count)
                    if count & 0x1FF_FFFF < 1 << 20 { peak = max(peak, try ResidentMemory.bytes()) }
                }

                #expect(count == body.length)
                #expect(peak - start < 64 << 20)
            }
        }
    #endif
}

#if os(Linux)
    /// The resident memory of the process in bytes.
    private enum ResidentMemory {
        static func bytes() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let pages = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
            return pages * Int(getpagesize())
        }
    }
#endif

/// Returns one byte and changes a file's size meanwhile.
private actor ResizingReader: HTTPBodyReader {
    private let file: URL
    private let size: UInt64
    private var hasGiven = false

    init(file: URL, size: UInt64) {
        self.file = file
        self.size = size
    }

    func read(maximumLength: Int) async throws -> Data? {
        guard !hasGiven else { return nil }
        hasGiven = true
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: size)
        try handle.close()
        return Data("x".utf8)
    }
}
