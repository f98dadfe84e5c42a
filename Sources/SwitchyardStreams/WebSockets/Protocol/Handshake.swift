import Foundation
import SwitchyardHTTP

/// The opening handshake of one connection attempt (RFC 6455 section 4.1).
struct Handshake: Sendable {
    /// An error for a response that violates the handshake, so that no connection is opened.
    struct Refusal: Error, Hashable {
        /// The description of the violation.
        var message: String
    }

    /// The subprotocol and the compression that the server has accepted.
    struct Agreement: Hashable {
        var subprotocol: String?
        /// The parameters of the negotiated compression, or `nil` if compression was not negotiated.
        var compression: Compression?
    }

    /// The parameters of the compression (RFC 7692 section 7.1).
    struct Compression: Hashable {
        /// Whether a message from the server may refer to the content of earlier messages.
        var serverKeepsContext = true
    }

    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    let key: String
    let subprotocols: [String]
    let offersCompression: Bool

    init(
        subprotocols: [String],
        offersCompression: Bool,
        key: [UInt8] = (0..<16).map { _ in .random(in: 0...255) }
    ) {
        self.key = Data(key).base64EncodedString()
        self.subprotocols = subprotocols
        self.offersCompression = offersCompression
    }

    /// The header fields of the opening request.
    ///
    /// On Apple systems, the system itself sends all of these fields except the subprotocols.
    var fields: [(name: String, value: String)] {
        var fields = [
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", key),
        ]
        if !subprotocols.isEmpty { fields.append(("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", "))) }
        if offersCompression { fields.append(("Sec-WebSocket-Extensions", "permessage-deflate")) }
        return fields.map { (name: $0.0, value: $0.1) }
    }

    /// The value of `Sec-WebSocket-Accept` with which the server must respond to the key.
    var accept: String {
        Data(SHA1.digest(Array((key + Self.suffix).utf8))).base64EncodedString()
    }

    /// Checks a response with the status 101, and returns what was negotiated.
    ///
    /// - Throws: ``Refusal`` if the response violates the handshake.
    func agreement(in headers: HTTPHeaders) throws(Refusal) -> Agreement {
        guard Self.tokens(headers, "Upgrade").contains("websocket") else {
            throw Refusal(message: "the response has no header field “Upgrade: websocket”")
        }
        guard Self.tokens(headers, "Connection").contains("upgrade") else {
            throw Refusal(message: "the response has no header field “Connection: Upgrade”")
        }
        guard headers.values(of: "Sec-WebSocket-Accept") == [accept] else {
            throw Refusal(message: "the response's Sec-WebSocket-Accept does not belong to the request's key")
        }
        return Agreement(subprotocol: try subprotocol(in: headers), compression: try compression(in: headers))
    }

    /// Returns the subprotocol that the server has chosen, or `nil` if it chose no subprotocol.
    ///
    /// Throws an error if the server has chosen a subprotocol that was not offered.
    func subprotocol(in headers: HTTPHeaders) throws(Refusal) -> String? {
        let chosen = headers.values(of: "Sec-WebSocket-Protocol")
        guard let first = chosen.first else { return nil }
        guard chosen.count == 1, subprotocols.contains(first) else {
            let names = chosen.joined(separator: ", ")
            throw Refusal(message: "the server chose the subprotocol \(names): must be one that the client offered")
        }
        return first
    }

    private func compression(in headers: HTTPHeaders) throws(Refusal) -> Compression? {
        let extensions = Self.elements(headers, "Sec-WebSocket-Extensions")
        guard let first = extensions.first else { return nil }
        let parts = first.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        guard offersCompression, extensions.count == 1, parts.first == "permessage-deflate" else {
            let names = extensions.joined(separator: ", ")
            throw Refusal(message: "the server uses the extension \(names): must be one that the client offered")
        }
        var compression = Compression()
        var names: Set<String> = []
        for parameter in parts.dropFirst() {
            let (name, value) = Self.parameter(parameter)
            guard names.insert(name).inserted, Self.isAllowed(name, value) else {
                throw Refusal(message: "the extension parameter \(parameter) is repeated or was not offered")
            }
            if name == "server_no_context_takeover" { compression.serverKeepsContext = false }
        }
        return compression
    }

    private static func parameter(_ text: String) -> (name: String, value: String?) {
        let parts = text.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        return (parts.first ?? "", parts.count > 1 ? parts[1].trimmingCharacters(in: ["\""]) : nil)
    }

    /// Returns whether an extension parameter of the response is allowed.
    ///
    /// The server may choose a smaller window for its own messages. The server may not limit the window of the client,
    /// because the client did not offer this parameter.
    private static func isAllowed(_ name: String, _ value: String?) -> Bool {
        switch name {
        case "server_no_context_takeover", "client_no_context_takeover": value == nil
        case "server_max_window_bits": value.flatMap { Int($0) }.map { (8...15).contains($0) } ?? false
        default: false
        }
    }

    private static func elements(_ headers: HTTPHeaders, _ name: String) -> [String] {
        headers.values(of: name).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func tokens(_ headers: HTTPHeaders, _ name: String) -> [String] {
        elements(headers, name).map { $0.lowercased() }
    }
}
