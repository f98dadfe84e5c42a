import Foundation
package import SwitchyardClient
package import SwitchyardHTTP

/// Builds requests with a generator without common header fields.
package enum BuiltRequest {
    package static func request(
        _ configuration: APIConfiguration,
        on base: String = "https://api.example.com/v1",
        _ change: (inout RequestGenerator) -> Void = { _ in }
    ) throws -> HTTPRequest {
        var generator = RequestGenerator(headers: [])
        change(&generator)
        return try generator.request(for: configuration, on: BaseURL(base))
    }

    package static func url(
        _ configuration: APIConfiguration,
        on base: String = "https://api.example.com/v1",
        _ change: (inout RequestGenerator) -> Void = { _ in }
    ) throws -> String {
        try request(configuration, on: base, change).url.text
    }

    package static func failure(
        _ configuration: APIConfiguration,
        on base: String = "https://api.example.com/v1",
        _ change: (inout RequestGenerator) -> Void = { _ in }
    ) -> RequestError? {
        do { _ = try request(configuration, on: base, change) } catch { return error as? RequestError }
        return nil
    }

    package static func text(_ body: HTTPBody) -> String {
        if case .data(let data) = body { return String(decoding: data, as: UTF8.self) }
        return ""
    }
}
