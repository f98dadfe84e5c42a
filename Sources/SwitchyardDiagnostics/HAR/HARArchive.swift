public import Foundation
import SwitchyardClient

/// Recorded traffic in the HTTP Archive format, version 1.2 (http://www.softwareishard.com/blog/har-12-spec/).
///
/// Browsers' developer tools and most HTTP debuggers read it. A body that is no text is kept in base64.
public struct HARArchive: Codable, Sendable, Hashable {
    /// The one member of the file.
    public var log: Log

    /// Creates an archive of entries.
    public init(entries: [Entry] = []) {
        log = Log(entries: entries)
    }

    /// Reads an archive.
    ///
    /// - Parameter data: JSON of the format.
    /// - Throws: `DecodingError` when it is not of the format.
    public init(data: Data) throws {
        self = try JSONDecoder().decode(HARArchive.self, from: data)
    }

    /// The archive as JSON, with sorted names.
    ///
    /// - Returns: The JSON.
    /// - Throws: `EncodingError`, which the values of this type give no cause for.
    public func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The recorded exchanges, in order.
    public var entries: [Entry] {
        get { log.entries }
        set { log.entries = newValue }
    }

    /// The root of the recorded data.
    public struct Log: Codable, Sendable, Hashable {
        /// The version of the format.
        public var version = "1.2"
        /// Who recorded.
        public var creator = Creator()
        /// The exchanges, in order.
        public var entries: [Entry]
    }

    /// A program.
    public struct Creator: Codable, Sendable, Hashable {
        /// Its name.
        public var name = "Switchyard"
        /// Its version.
        public var version = "1.0"
    }

    /// One exchange.
    public struct Entry: Codable, Sendable, Hashable {
        /// When it began, in ISO 8601 with milliseconds.
        public var startedDateTime: String
        /// How long it took in milliseconds.
        public var time: Double
        /// The request.
        public var request: HARRequest
        /// The response; with status 0 when none came.
        public var response: HARResponse
        /// What the cache had to do with it: nothing.
        public var cache = HARCache()
        /// Where the time went.
        public var timings: HARTimings
        /// The server's name and the number of the attempt.
        public var comment: String?
    }
}

/// What the cache had to do with an exchange: nothing that is recorded here.
public struct HARCache: Codable, Sendable, Hashable {
    /// Creates an empty record.
    public init() {}
}

/// Where the time of an exchange went, in milliseconds; -1 for what is not known.
public struct HARTimings: Codable, Sendable, Hashable {
    /// Waiting for a connection.
    public var blocked = -1.0
    /// Looking the name up.
    public var dns = -1.0
    /// Connecting, TLS included.
    public var connect = -1.0
    /// The TLS handshake.
    public var ssl = -1.0
    /// Sending the request.
    public var send = 0.0
    /// Waiting for the response.
    public var wait = 0.0
    /// Receiving the response.
    public var receive = 0.0
}

/// A name and a value.
public struct HARField: Codable, Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String
}

// The format lets some members be missing, where this library writes all of them.

extension HARTimings {
    /// Reads what is there; times that the format lets be missing are not known then.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        blocked = try container.decodeIfPresent(Double.self, forKey: .blocked) ?? -1
        dns = try container.decodeIfPresent(Double.self, forKey: .dns) ?? -1
        connect = try container.decodeIfPresent(Double.self, forKey: .connect) ?? -1
        ssl = try container.decodeIfPresent(Double.self, forKey: .ssl) ?? -1
        send = try container.decode(Double.self, forKey: .send)
        wait = try container.decode(Double.self, forKey: .wait)
        receive = try container.decode(Double.self, forKey: .receive)
    }
}

extension HARField {
    /// Reads name and value; a file's field of a form has no value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        value = try container.decodeIfPresent(String.self, forKey: .value) ?? ""
    }
}
