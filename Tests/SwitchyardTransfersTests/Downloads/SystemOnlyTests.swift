import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardStreams
import SwitchyardTransfers
import Testing

/// What only Apple systems have, and elsewhere says so in place of pretending.
@Suite
struct SystemOnlyTests {
    #if !canImport(Darwin)
        // E27
        @Test func `downloads in the background are refused where the system has none`() {
            let error = #expect(throws: DownloadFailure.self) { try BackgroundDownloads(identifier: "a") { _, _ in } }

            #expect(error?.reason == .unsupported("downloads in the background need an Apple system"))
        }

        // E34
        @Test func `a WebSocket is refused where the system has none`() throws {
            let url = try #require(RequestURL("http://127.0.0.1/socket"))

            let error = #expect(throws: TransportError.self) { try WebSocket(HTTPRequest(url: url)) }

            #expect(error?.kind == .unsupported)
            #expect(error?.mayHaveBeenSent == false)
        }
    #endif
}
