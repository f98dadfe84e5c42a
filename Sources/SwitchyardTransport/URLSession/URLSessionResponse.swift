import Foundation
import SwitchyardHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPResponse {
    /// Creates a response with the status and the header fields.
    ///
    /// The fields are sorted by name, because `URLSession` does not keep their order.
    init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.flatMap { name, value -> [HTTPHeaders.Field] in
            guard let name = name as? String, let value = value as? String else { return [] }
            let values = name.equalsIgnoringASCIICase("Set-Cookie") ? JoinedCookies.values(of: value) : [value]
            return values.map { HTTPHeaders.Field(name: name, value: $0) }
        }
        let sorted = fields.sorted { $0.name < $1.name }
        self.init(status: response.statusCode, headers: HTTPHeaders(sorted))
    }
}

/// A parser for several `Set-Cookie` values that were joined by commas.
///
/// A single value may contain commas too.
enum JoinedCookies {
    /// Returns the individual cookies of joined `Set-Cookie` values.
    ///
    /// A comma starts a new cookie only if a name and an equals sign follow. Other commas belong to a cookie, for example
    /// to its `Expires` date.
    static func values(of text: String) -> [String] {
        var values: [String] = []
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = piece.prefix { $0 != "=" }
            let isWhole = name.endIndex < piece.endIndex && HTTPToken.isValid(String(name.drop { $0 == " " }))
            if isWhole || values.isEmpty {
                values.append(String(piece.drop { $0 == " " }))
            } else {
                values[values.count - 1] += ",\(piece)"
            }
        }
        return values
    }
}
