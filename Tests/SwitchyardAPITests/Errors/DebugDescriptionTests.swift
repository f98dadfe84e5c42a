import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

/// The beginning of the body in the debug description of an error.
@Suite struct DebugDescriptionTests {
    private func error(_ body: Data, type: String?) -> APIError {
        var error = APIError(.status(400))
        error.context.keep(status: 400, headers: type.map { ["Content-Type": $0] } ?? [:], body: body)
        return error
    }

    @Test func `the debug description of an error shows a text body, and the description does not`() {
        let error = error(Data("Bad\nRequest".utf8), type: "text/plain")

        #expect(error.debugDescription.hasPrefix(error.description))
        #expect(error.debugDescription.contains("body \"Bad"))
        #expect(!error.debugDescription.contains("\n"))
        #expect(!error.description.contains("Bad"))
    }

    @Test func `the debug description of an error hides secrets and limits the body's length`() {
        let json = #"{"access_token": "s3cr3t", "text": "\#(String(repeating: "x", count: 5_000))"}"#
        let error = error(Data(json.utf8), type: "application/json")

        #expect(!error.debugDescription.contains("s3cr3t"))
        #expect(error.debugDescription.contains("access_token"))
        #expect(error.debugDescription.count < error.description.count + 230)
    }

    @Test func `the debug description of an error does not show a binary body`() {
        let error = error(Data([0xFF, 0xD8, 0x00, 0xFF]), type: "image/jpeg")

        #expect(error.debugDescription == error.description)
    }
}
