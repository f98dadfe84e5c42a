import Foundation
import SwitchyardClient
import Testing

@testable import SwitchyardDiagnostics

@Suite struct LogSinkTests {
    private static let entry = LogEntry(level: .info, category: .request, message: "ended with 200")

    @Test func `the log levels match swift-log`() {
        #expect(
            LogLevel.allCases.map { "\($0)" } == ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        )
    }

    @Test func `the standard error sink writes an entry as one line`() throws {
        let pipe = Pipe()

        StandardErrorSink(writingTo: pipe.fileHandleForWriting).write(Self.entry)

        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("[info] request: ended with 200\n".utf8))
    }

    @Test func `a custom format replaces the log line`() throws {
        let pipe = Pipe()

        let sink = StandardErrorSink(writingTo: pipe.fileHandleForWriting) { "\($0.category) \($0.message)!" }
        sink.write(Self.entry)

        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("request ended with 200!\n".utf8))
    }

    @Test func `a log file that cannot be written does not end the process`() throws {
        if let full = FileHandle(forWritingAtPath: "/dev/full") {
            StandardErrorSink(writingTo: full).write(Self.entry)
        }
        let closed = Pipe().fileHandleForReading
        try closed.close()
        StandardErrorSink(writingTo: closed).write(Self.entry)
    }
}
