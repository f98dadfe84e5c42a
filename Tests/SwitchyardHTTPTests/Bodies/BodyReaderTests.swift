import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardClient

@Suite struct BodyReaderTests {
    /// Reads everything in chunks of at most `size` bytes.
    static func pieces(_ reader: any HTTPBodyReader, of size: Int) async throws -> [Data] {
        var pieces: [Data] = []
        while let piece = try await reader.read(maximumLength: size) { pieces.append(piece) }
        return pieces
    }

    @Test(arguments: [1, 3, 7, 4096])
    func `a body reader reads the segments of a body in order, whatever the size of its chunks`(size: Int) async throws
    {
        let folder = try MultipartFormTests.Folder()
        let file = try folder.file("f", Data("file".utf8))
        let segments: [BodySegment] = [
            .bytes(Data("ab".utf8)), .bytes(Data()), .file(file, length: 4),
            .stream(HTTPBody.Stream.of([Data("str".utf8), Data(), Data("eam".utf8)], length: 6), part: nil),
            .bytes(Data("z".utf8)),
        ]

        let pieces = try await Self.pieces(SegmentedBodyReader(segments), of: size)

        #expect(pieces.allSatisfy { !$0.isEmpty && $0.count <= size })
        #expect(String(decoding: pieces.reduce(Data(), +), as: UTF8.self) == "abfilestreamz")
    }

    @Test func `a file that grows, shrinks or disappears while it is sent is an error`() async throws {
        let folder = try MultipartFormTests.Folder()
        let file = try folder.file("f", Data("12345".utf8))

        for announced in [Int64(4), 6] {
            await #expect(throws: RequestError.file(path: file.path, reason: .changedWhileSending)) {
                _ = try await Self.pieces(SegmentedBodyReader([.file(file, length: announced)]), of: 100)
            }
        }

        let body = try MultipartForm(parts: [.file(file, name: "f")]).body()
        try FileManager.default.removeItem(at: file)
        await #expect(throws: RequestError.self) { _ = try await body.collected(upTo: 1000) }
    }

    @Test(arguments: [Int64(4), 6])
    func `a body stream that yields more or fewer bytes than announced is an error`(announced: Int64) async throws {
        let body = HTTPBody.stream(HTTPBody.Stream.of([Data("12345".utf8)], length: announced))

        await #expect(throws: RequestError.self) { _ = try await body.collected(upTo: 1000) }
    }

    @Test(arguments: [Int64(4), 6])
    func `a form part that yields more or fewer bytes than announced is an error that names the part`(announced: Int64)
        async throws
    {
        let source = HTTPBody.Stream(length: announced) { SegmentedBodyReader([.bytes(Data("12345".utf8))]) }
        let body = try MultipartForm(parts: [.stream(source, name: "s")]).body()

        let reason = RequestError.MultipartReason.lengthMismatch(announced: announced, actual: 5)
        await #expect(throws: RequestError.multipart(part: "s", reason: reason)) {
            _ = try await body.collected(upTo: 1000)
        }
    }

    @Test func `a stream that throws ends the body with its error`() async throws {
        struct Broken: Error {}
        let body = HTTPBody.stream(
            HTTPBody.Stream {
                AsyncThrowingStream<Data, any Error> { continuation in
                    continuation.yield(Data("a".utf8))
                    continuation.finish(throwing: Broken())
                }
            }
        )

        await #expect(throws: Broken.self) { _ = try await body.collected(upTo: 1000) }
    }

    @Test func `an input stream is created again for every attempt`() async throws {
        let body = HTTPBody.stream(HTTPBody.Stream(length: 3) { InputStream(data: Data("abc".utf8)) })

        #expect(try await body.collected(upTo: 10) == Data("abc".utf8))
        #expect(try await body.collected(upTo: 10) == Data("abc".utf8))
    }

    @Test func `blocking input streams do not block the threads of tasks`() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        let meeting = Meeting(of: count)
        let body = HTTPBody.stream(HTTPBody.Stream { PatientStream(meeting) })

        let bytes = await withTaskGroup(of: Data?.self) { group in
            for _ in 0..<count { group.addTask { try? await body.collected(upTo: 10) } }
            return await group.reduce(into: []) { $0.append($1) }
        }

        #expect(bytes == Array(repeating: Data([7]), count: count))
    }

    @Test func `an input stream can be read with the largest possible maximum length`() async throws {
        let stream = HTTPBody.Stream { InputStream(data: Data("abc".utf8)) }

        #expect(try await stream.makeReader().read(maximumLength: .max) == Data("abc".utf8))
    }

    @Test(arguments: [1, Int.max])
    func `a body reader returns at most the maximum length`(most: Int) async throws {
        let reader = try #require(try HTTPBody.data(Data("abcdef".utf8)).makeReader())
        _ = try await reader.read(maximumLength: 2)

        #expect(try await reader.read(maximumLength: most) == Data("cdef".utf8.prefix(most)))
    }

    @Test func `a body above the limit is not read into memory`() async throws {
        await #expect(throws: RequestError.body(kind: "streamed", reason: .tooLarge(limit: 2))) {
            _ = try await HTTPBody.data(Data(count: 3)).collected(upTo: 2)
        }
    }

    @Test func `a throttled stream yields packets with a pause before each packet except the first`() async throws {
        actor Pauses {
            var durations: [Duration] = []
            func add(_ duration: Duration) { durations.append(duration) }
        }
        let pauses = Pauses()
        let stream = HTTPBody.Stream.of([Data(count: 40)], length: 40)
            .throttled(BodyThrottle(packetSize: 16, delay: .milliseconds(200)) { await pauses.add($0) })

        let pieces = try await Self.pieces(try stream.makeReader(), of: 1000)

        #expect(pieces.map(\.count) == [16, 16, 8])
        #expect(await pauses.durations == [.milliseconds(200), .milliseconds(200), .milliseconds(200)])
    }

    @Test func `the longest possible pause between two packets is shortened to a year`() async throws {
        let pauses = Locked<[Duration]>([])
        let throttle = BodyThrottle(packetSize: 1, delay: .seconds(Int64.max)) { pause in
            pauses.withLock { $0.append(pause) }
        }
        let stream = HTTPBody.Stream.of([Data(count: 2)], length: 2).throttled(throttle)

        let pieces = try await Self.pieces(try stream.makeReader(), of: 9)

        #expect(pieces.count == 2)
        #expect(pauses.withLock { $0 }.allSatisfy { $0 == .seconds(31_536_000) })
    }

    // AFNetworking suggests 16 KiB and 0.2 seconds.
    @Test func `the slow throttle has the values that AFNetworking suggests`() {
        #expect(BodyThrottle.slow.packetSize == 16_384)
        #expect(BodyThrottle.slow.delay == .milliseconds(200))
    }

    /// A change of a file of 100 bytes.
    ///
    /// The raw value is the new length.
    enum Change: Int, CaseIterable { case rewritten = 100, longer = 150, shorter = 60 }

    /// The number of bytes that a body yields if one of its files changes after the first chunk.
    private func bytes(of body: HTTPBody, by size: Int, changing file: URL, _ change: Change) async throws -> Int {
        let reader = try #require(try body.makeReader())
        var count = try await reader.read(maximumLength: size)?.count ?? 0
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data(repeating: 9, count: change.rawValue))
        try handle.truncate(atOffset: UInt64(change.rawValue))
        try handle.close()
        await #expect(throws: RequestError.file(path: file.path, reason: .changedWhileSending)) {
            while let piece = try await reader.read(maximumLength: size) { count += piece.count }
        }
        return count
    }

    @Test func `the packet size of a throttled body is at least one byte`() {
        var throttle = BodyThrottle(packetSize: 0, delay: .zero)
        #expect(throttle.packetSize == 1)

        throttle.packetSize = -1

        #expect(throttle.packetSize == 1)
    }

    @Test(arguments: Change.allCases)
    func `a file that changes while it is sent never appears complete, even at the end of a packet`(
        change: Change
    ) async throws {
        let folder = try MultipartFormTests.Folder()
        let file = try folder.file("a", Data(repeating: 1, count: 100))
        let throttle = BodyThrottle(packetSize: 50, delay: .zero) { _ in }

        #expect(try await bytes(of: .file(file), by: 50, changing: file, change) < 100)
        try Data(repeating: 1, count: 100).write(to: file)
        #expect(try await bytes(of: .file(file).throttled(throttle), by: 1_000, changing: file, change) < 100)
    }

    @Test(arguments: Change.allCases)
    func `a file that changes while its form is sent is an error`(change: Change) async throws {
        let folder = try MultipartFormTests.Folder()
        let (first, second) = (try folder.file("a", Data(count: 100)), try folder.file("b", Data(count: 100)))
        let form = MultipartForm(parts: [.file(first, name: "a"), .file(second, name: "b")])
        let body = try form.body()

        #expect(try await bytes(of: body, by: 200, changing: first, change) < 300)
    }

    @Test func `a file above 4 GiB has the right length and is not read in advance`() async throws {
        let folder = try MultipartFormTests.Folder()
        let file = try folder.file("large", Data())
        // A sparse file of 8 GiB that uses no disk space.
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 8 << 30)
        try handle.close()

        let form = MultipartForm(parts: [.file(file, name: "f")])
        let body = try form.body()
        let reader = try #require(try body.makeReader())
        let first = try await reader.read(maximumLength: 1 << 16)

        #expect(try #require(body.length) > 8 << 30)
        #expect(first?.count == 1 << 16)
    }
}

/// Releases its waiters when all have arrived.
private final class Meeting: @unchecked Sendable {
    // `@unchecked` is correct, because the mutable state is guarded by the condition's lock.
    private let condition = NSCondition()
    private var missing: Int

    init(of count: Int) { missing = count }

    /// Waits for the others.
    ///
    /// Returns `false` if they do not arrive.
    func wait() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        missing -= 1
        condition.broadcast()
        let end = Date(timeIntervalSinceNow: 10)
        while missing > 0 { guard condition.wait(until: end) else { return false } }
        return true
    }
}

/// A stream of one byte, which it returns when all streams are being read.
private final class PatientStream: InputStream {
    private let meeting: Meeting
    private var isAtEnd = false

    init(_ meeting: Meeting) {
        self.meeting = meeting
        super.init(data: Data())
    }

    override func open() {}

    override func close() {}

    override var streamError: (any Error)? { nil }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        guard !isAtEnd else { return 0 }
        isAtEnd = true
        buffer.pointee = 7
        return meeting.wait() ? 1 : -1
    }
}
