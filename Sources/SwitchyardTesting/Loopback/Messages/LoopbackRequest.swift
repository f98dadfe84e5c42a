public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices

/// A request as the handler of a ``LoopbackServer`` receives it.
public struct LoopbackRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The request target as received, percent-encoded: a path with a query, or a complete URL from some clients.
    public let target: String
    /// The header fields in the order in which they were received.
    public let headers: HTTPHeaders
    /// The body, whose bytes are received while the handler reads them.
    public let body: LoopbackRequestBody
    /// The number of the request, counted from 1 since the server was created.
    public let number: Int
    /// The number of the connection, counted from 1 in the order of acceptance since the server was created.
    public let connection: Int
    /// The number of the request on its connection, counted from 1.
    public let numberOnConnection: Int
    /// The time at which the head of the request had arrived completely, on the system's monotonic clock.
    public let time: MonotonicTime
    /// The path segments that match a `{name}` segment of the route, by name.
    let pathValues: [String: String]

    /// The percent-encoded path without the query.
    public var path: String { target.pathOfTarget }

    /// Returns the path segment with this name in the route's pattern (such as `id` in `/users/{id}`), with
    /// percent-encoding removed.
    public func pathValue(_ name: String) -> String? { pathValues[name] }

    /// The percent-encoded query without the question mark, or `nil` if the target has no query.
    public var query: String? {
        target.behind(UInt8(ascii: "?")).map(String.init)
    }

    /// The name-value pairs of the query in order, with percent-encoding removed and `+` decoded as a space.
    public var queryItems: [URLQueryItem] { Self.items(ofForm: query ?? "") }

    /// Returns the first query value with this name.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// Parses form-encoded text: pairs separated by `&`, with `+` as a space.
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
