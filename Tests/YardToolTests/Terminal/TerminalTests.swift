import Dispatch
import Foundation
import Switchyard
import Testing

@testable import yard

@Suite struct TerminalTests {
    @Test func `a terminal writes a text to a file completely`() throws {
        let pipe = Pipe()

        #expect(Terminal.write("one\ntwo\n", to: pipe.fileHandleForWriting.fileDescriptor))

        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("one\ntwo\n".utf8))
    }

    @Test func `a failed write of a terminal returns false and does not end the process`() throws {
        #expect(!Terminal.write("text", to: -1))
        if let full = FileHandle(forWritingAtPath: "/dev/full") {
            #expect(!Terminal.write("text", to: full.fileDescriptor))
        }
    }

    @Test func `a terminal writes its complete text even if the file takes only some of the bytes in one write`() throws
    {
        let pipe = Pipe()
        let file = pipe.fileHandleForWriting.fileDescriptor
        #expect(fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK) == 0)
        let text = String(repeating: "0123456789\n", count: 100_000)

        let wasWritten = Locked(false)
        DispatchQueue.global().async {
            let isWhole = Terminal.write(text, to: file)
            wasWritten.withLock { $0 = isWhole }
            try? pipe.fileHandleForWriting.close()
        }
        let bytes = try pipe.fileHandleForReading.readToEnd()

        #expect(wasWritten.withLock { $0 })
        #expect(bytes == Data(text.utf8))
    }
}
