package import Foundation
package import SwitchyardServices

/// A server list whose signature is valid.
///
/// The document is a JSON object with the signed bytes and their signatures:
///
///     { "payload": BASE64, "signatures": [{ "key": "k1", "signature": BASE64 }] }
///
/// The payload is a JSON object too, as in the example below. A server may also have the other members that a server
/// has in a service file: `serves`, `weight`, `priority`, `zone`, `rewrites` and `cdnURLs`. A list with any other
/// member is refused. If an app ignored a member that it does not know, it could, for instance, send a server requests
/// that the server must not receive.
///
///     { "service": "topics", "version": 7, "issued": "2026-11-28T12:00:00Z", "expires": "2026-12-28T12:00:00Z",
///       "servers": [{ "name": "primary", "baseURLs": { "release": "https://api.example.com" } }] }
package struct ServerListDocument: Sendable, Hashable {
    /// The name of the service.
    package let service: String
    /// The version, at least 1.
    package let version: Int
    /// The time at which the list was signed.
    package let issued: Date
    /// The time at which the list expires.
    package let expires: Date
    /// The servers in order of preference.
    package let servers: [Server]
    /// The signed bytes.
    package let payload: Data
    /// The names of the keys in the signatures, whether the app knows them or not.
    package let signers: [String]
    /// The whole document.
    package let envelope: Data

    /// Reads a document and verifies its signature.
    ///
    /// - Parameters:
    ///   - envelope: The document: a JSON object with the list and its signatures.
    ///   - keys: The keys of which one must have signed the document.
    /// - Throws: ``ServerListRefusal``.
    package init(_ envelope: Data, signedBy keys: [ServerListKey]) throws(ServerListRefusal) {
        let parts = try ServerListEnvelope(envelope)
        try parts.verify(keys)
        try self.init(parts, of: envelope)
    }

    /// Reads a document without verifying its signature, for tools that show it.
    package init(unverified envelope: Data) throws(ServerListRefusal) {
        try self.init(try ServerListEnvelope(envelope), of: envelope)
    }

    private init(_ parts: ServerListEnvelope, of envelope: Data) throws(ServerListRefusal) {
        let members = try ServerListJSON(parts.payload, of: "the payload")
        try members.refuseOthers(than: ["service", "version", "issued", "expires", "servers"])
        service = try members.string("service")
        version = try members.positiveInteger("version")
        issued = try members.date("issued")
        expires = try members.date("expires")
        guard issued < expires else {
            throw .malformed("expires is \(expires.iso8601): must be after issued, which is \(issued.iso8601)")
        }
        let values = try members.array("servers")
        guard values.count <= Service.maximumServers else {
            throw .tooManyServers(values.count, maximum: Service.maximumServers)
        }
        do throws(CatalogError) {
            servers = try ServiceCatalog.servers(from: values, file: "server list")
        } catch {
            throw .invalidServers(error)
        }
        payload = parts.payload
        signers = parts.signatures.map(\.key)
        self.envelope = envelope
    }
}

/// The signed bytes and the signatures of a document.
package struct ServerListEnvelope: Sendable {
    /// The signed bytes.
    package let payload: Data
    /// The signatures, each with the name of its key.
    package let signatures: [(key: String, signature: Data)]

    /// Reads a document without verifying it.
    package init(_ document: Data) throws(ServerListRefusal) {
        guard document.count <= ServerList.maximumSize else { throw .tooLarge }
        let members = try ServerListJSON(document, of: "the document")
        payload = try members.base64("payload")
        var signatures: [(key: String, signature: Data)] = []
        for element in try members.array("signatures") {
            let signature = try ServerListJSON(element, of: "a signature")
            signatures.append((try signature.string("key"), try signature.base64("signature")))
        }
        self.signatures = signatures
    }

    /// Creates a document with one signature for each key.
    ///
    /// - Returns: The document, or `nil` if a private key is invalid.
    /// - Throws: An error if the system has no implementation of Ed25519.
    package static func signing(
        _ payload: Data,
        with keys: [(name: String, privateKey: Data)]
    ) throws(Ed25519.Unavailable) -> Data? {
        var signatures: [JSONValue] = []
        for key in keys {
            guard let signature = try Ed25519.signature(of: payload, by: key.privateKey) else { return nil }
            signatures.append(["key": .string(key.name), "signature": .string(signature.base64EncodedString())])
        }
        let document: JSONValue = [
            "payload": .string(payload.base64EncodedString()), "signatures": .array(signatures),
        ]
        return document.data
    }

    /// Throws an error unless at least one of the keys has signed the payload.
    ///
    /// Each key is checked at most once, so the number of signatures in a hostile document does not matter. The first
    /// signature of a key counts, so wrong signatures that someone appends to a document do no harm.
    package func verify(_ keys: [ServerListKey]) throws(ServerListRefusal) {
        var bad: String?
        for key in keys {
            guard let signature = signatures.first(where: { $0.key == key.name })?.signature else { continue }
            do throws(Ed25519.Unavailable) {
                if try Ed25519.isValid(signature, of: payload, by: key.bytes) { return }
            } catch {
                throw .signaturesUnavailable(error.description)
            }
            bad = bad ?? key.name
        }
        if let bad { throw .badSignature(key: bad) }
        throw .unknownKey(signatures.prefix(8).map(\.key))
    }
}
