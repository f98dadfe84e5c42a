import Foundation
import SwitchyardHTTP
import Testing

/// A pin is 32 bytes, however its base64 is spelled.
@Suite struct PinTextTests {
    /// The same bytes with unused trailing bits set (RFC 4648 section 3.5).
    @Test func `a pin in non-canonical base64 equals the canonical pin`() throws {
        let strict = Data(repeating: 0, count: 32).base64EncodedString()
        let loose = String(strict.dropLast(2)) + "B="
        let pin = try #require(TLSPin("sha256/" + loose))

        #expect(pin == TLSPin(strict))
        #expect(pin.base64 == strict)
        // Otherwise one key in two spellings would count as a key and its backup.
        #expect(throws: PinRule.Problem.noBackup("example.com")) {
            try PinRule(hosts: "example.com", pins: [pin, try #require(TLSPin(strict))])
        }
    }
}
