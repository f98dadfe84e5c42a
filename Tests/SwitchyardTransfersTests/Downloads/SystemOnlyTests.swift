import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardTransfers
import Testing

/// Features that only Apple systems have fail with a clear error on other systems.
@Suite
struct SystemOnlyTests {
    #if !canImport(Darwin)
        @Test func `background downloads are rejected on systems without background sessions`() {
            let error = #expect(throws: DownloadFailure.self) { try BackgroundDownloads(identifier: "a") { _, _ in } }

            #expect(error?.reason == .unsupported("downloads in the background need an Apple system"))
        }
    #endif
}
