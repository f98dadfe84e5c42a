import Foundation
import SwitchyardClient
import SwitchyardHTTP
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
    #endif
}
