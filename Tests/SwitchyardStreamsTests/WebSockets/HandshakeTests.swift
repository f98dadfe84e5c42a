import Foundation
import SwitchyardHTTP
import Testing

@testable import SwitchyardStreams

@Suite struct HandshakeTests {
    @Test func `Sec-WebSocket-Accept matches the example of RFC 6455 section 1.3`() throws {
        let handshake = Handshake(subprotocols: [], offersCompression: false, key: Array("the sample nonce".utf8))

        #expect(handshake.key == "dGhlIHNhbXBsZSBub25jZQ==")
        #expect(handshake.accept == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test(arguments: [
        (0, "da39a3ee5e6b4b0d3255bfef95601890afd80709"), (200, "e61cfffe0d9195a525fc6cf06ca2d77119c24a40"),
    ])
    func `SHA-1 matches the test vectors of FIPS 180-4`(count: Int, expected: String) {
        let digest = SHA1.digest([UInt8](repeating: UInt8(ascii: "a"), count: count))

        #expect(Data(digest).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == expected)
    }

    @Test(arguments: [
        ("Upgrade", "h2c"), ("Upgrade", ""), ("Connection", "close"), ("Sec-WebSocket-Accept", "abc"),
        ("Sec-WebSocket-Accept", ""), ("Sec-WebSocket-Protocol", "other"), ("Sec-WebSocket-Extensions", "x-own"),
        ("Sec-WebSocket-Extensions", "permessage-deflate"),
    ])
    func `an invalid response to a WebSocket handshake is rejected`(name: String, value: String) {
        let handshake = Handshake(subprotocols: ["chat"], offersCompression: false)
        var headers = HTTPHeaders.acceptance(of: handshake)
        if value.isEmpty { headers.remove(name) } else { headers.set(name, value) }

        #expect(throws: Handshake.Refusal.self) { try handshake.agreement(in: headers) }
    }

    @Test func `field names and tokens of a WebSocket handshake are compared case-insensitively`() throws {
        let handshake = Handshake(subprotocols: ["chat", "talk"], offersCompression: false)
        var headers = HTTPHeaders()
        headers.add("upgrade", "WebSocket")
        headers.add("CONNECTION", "keep-alive, upgrade")
        headers.add("sec-websocket-accept", handshake.accept)
        headers.add("sec-websocket-protocol", "talk")

        let agreement = try handshake.agreement(in: headers)

        #expect(agreement == Handshake.Agreement(subprotocol: "talk", compression: nil))
    }

    @Test(arguments: [
        "permessage-deflate; client_max_window_bits=10", "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; unknown",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate, permessage-deflate",
    ])
    func `compression parameters that the client did not offer are rejected`(extensions: String) {
        let handshake = Handshake(subprotocols: [], offersCompression: true)

        #expect(throws: Handshake.Refusal.self) {
            try handshake.agreement(in: .acceptance(of: handshake, extensions: extensions))
        }
    }

    @Test(arguments: [
        ("permessage-deflate", true), ("permessage-deflate; server_no_context_takeover", false),
        ("permessage-deflate; server_max_window_bits=\"9\"; client_no_context_takeover", true),
    ])
    func `compression parameters that a server may set are accepted`(extensions: String, keepsContext: Bool) throws {
        let handshake = Handshake(subprotocols: [], offersCompression: true)

        let agreement = try handshake.agreement(in: .acceptance(of: handshake, extensions: extensions))

        #expect(agreement.compression == Handshake.Compression(serverKeepsContext: keepsContext))
    }
}
