import Foundation
import Testing

@testable import yard

@Suite struct TerminalTests {
    @Test func `text goes to a file in one piece`() throws {
        let pipe = Pipe()

        #expect(Terminal.write("one\ntwo\n", to: pipe.fileHandleForWriting.fileDescriptor))

        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("one\ntwo\n".utf8))
    }

    @Test func `what cannot be written is said and does not end the process`() throws {
        #expect(!Terminal.write("text", to: -1))
        if let full = FileHandle(forWritingAtPath: "/dev/full") {
            #expect(!Terminal.write("text", to: full.fileDescriptor))
        }
    }
}
