public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices

/// A request as a handler of a ``LoopbackServer`` gets it.
public struct LoopbackRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The target as it came, percent-encoded: path and query, from some clients a whole URL.
    public let target: String
    /// The header fields, in the order in which they came.
    public let headers: HTTPHeaders
    /// The body, which arrives while it is read.
    public let body: LoopbackRequestBody
    /// The number of the request, counted from 1 since the server was made.
    public let number: Int
    /// The number of the connection, counted from 1 in the order of acceptance since the server was made.
    public let connection: Int
    /// The number of the request on its connection, counted from 1.
    public let numberOnConnection: Int
    /// When the head was complete, on the system's monotonic clock.
    public let time: MonotonicTime
    /// The segments of the path that the route names.
    let pathValues: [String: String]

    /// The path, percent-encoded, without the query.
    public var path: String { target.pathOfTarget }

    /// The segment of the path that the route names so, as `/users/{id}` does, with percent-encoding removed.
    public func pathValue(_ name: String) -> String? { pathValues[name] }

    /// The query, percent-encoded, without the question mark; `nil` when there is none.
    public var query: String? {
        target.behind(UInt8(ascii: "?")).map(String.init)
    }

    /// The items of the query with percent-encoding removed, in order; `+` stands for a space.
    public var queryItems: [URLQueryItem] { Self.items(ofForm: query ?? "") }

    /// The first value of that name in the query.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// Reads form-encoded text: pairs parted by `&`, `+` for a space.
    static func items(ofForm text: String) -> [URLQueryItem] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { part in
                let plain = Substring(part).replacingOccurrences(of: "+", with: " ")
                return plain.removingPercentEncoding ?? plain
            }
            return URLQueryItem(name: decoded[0], value: decoded.count > 1 ? decoded[1] : nil)
        }
    }
}
