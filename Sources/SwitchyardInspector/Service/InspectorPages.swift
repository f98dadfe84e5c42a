import Foundation
import SwitchyardDiagnostics
import SwitchyardHTTP
import SwitchyardTesting

/// The HTTP handler that responds to the requests of a browser.
struct InspectorPages: Sendable {
    /// The content security policy of the page.
    ///
    /// The page may use only its own content, and may send requests only to its own server.
    static let policy =
        """
        default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; \
        frame-ancestors 'none'; base-uri 'none'; form-action 'none'
        """
    /// The maximum size of a command in bytes.
    static let commandLimit = 16_384

    let desk: InspectorController
    let access: PageGuard
    /// The HTML of the page.
    let html: String

    /// Returns the response to a request.
    ///
    /// If the request is not admitted (``PageGuard``), the response has no body.
    func answer(_ request: LoopbackRequest) async -> LoopbackResponse {
        let (place, status) = access.place(of: request)
        guard let place else { return .closed(status) }
        switch (request.method, place) {
        case (.post, "command"): return await command(request)
        case (.get, ""): return page
        case (.get, "feed"): return await feed(request)
        case (.get, "archive.har"): return .shut((try? desk.book.archive().data()).map { .json($0) })
        case (.get, let place) where place.hasPrefix("calls/"): return call(String(place.dropFirst(6)))
        default: return .closed(404)
        }
    }

    private var page: LoopbackResponse {
        var response = LoopbackResponse.text(html)
        response.headers.set("Content-Type", "text/html; charset=utf-8")
        response.headers.set("Content-Security-Policy", Self.policy)
        return .shut(response)
    }

    private func feed(_ request: LoopbackRequest) async -> LoopbackResponse {
        let cursor = request.queryValue("after").flatMap { Int($0) } ?? 0
        guard let feed = await desk.feed(after: cursor) else { return .closed(404) }
        return .shut(.encoding(feed))
    }

    /// Returns the details of a call.
    ///
    /// If the name ends in `.har`, returns the call's archive.
    private func call(_ name: String) -> LoopbackResponse {
        let isArchive = name.hasSuffix(".har")
        guard let number = Int(isArchive ? String(name.dropLast(4)) : name), desk.book.record(number) != nil else {
            return .closed(404)
        }
        if isArchive { return .shut((try? desk.book.archive(of: number).data()).map { .json($0) }) }
        return .shut(desk.book.detail(of: number).map { .encoding($0) })
    }

    private func command(_ request: LoopbackRequest) async -> LoopbackResponse {
        guard access.isOwn(request) else { return .refusal("the command was not sent by the page", 403) }
        guard desk.mayControl else { return .refusal("the inspector is not allowed to control the client", 403) }
        guard let body = try? await request.body.collect(upTo: Self.commandLimit) else {
            return .refusal("the body cannot be read, or is too large for a command", 400)
        }
        do throws(InspectorCommand.Refusal) {
            try InspectorCommand.read(body).run(on: desk.client, desk.faults)
        } catch {
            return .refusal(error.description, 400)
        }
        desk.book.touch()
        return .shut(LoopbackResponse(status: 204))
    }
}

extension LoopbackResponse {
    /// Adds header fields that forbid caching, content sniffing and a `Referer`.
    ///
    /// If there is no response, returns an error with status 500.
    fileprivate static func shut(_ response: LoopbackResponse?) -> LoopbackResponse {
        var response = response ?? LoopbackResponse(status: 500)
        response.headers.set("Cache-Control", "no-store")
        response.headers.set("X-Content-Type-Options", "nosniff")
        response.headers.set("Referrer-Policy", "no-referrer")
        return response
    }

    /// Returns an error response without a body.
    fileprivate static func closed(_ status: Int) -> LoopbackResponse { shut(LoopbackResponse(status: status)) }

    /// Returns an error response with a message that the page shows.
    fileprivate static func refusal(_ words: String, _ status: Int) -> LoopbackResponse {
        var response = encoding(["error": words])
        response.status = status
        return shut(response)
    }

    fileprivate static func encoding(_ value: some Encodable) -> LoopbackResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { .json($0) } ?? LoopbackResponse(status: 500)
    }
}
